-- Roles of the log: run once per database, as a superuser or a role that may
-- create roles, before `recorder migrate`. Idempotent. They
-- cannot log in; make your login roles members of the role they need.
--
--   recorder_owner   owns every object; `recorder migrate` sets this role
--   recorder_writer  appends: INSERT and SELECT, UPDATE on bookkeeping only
--   recorder_reader  reads
--   recorder_retention  reads, and calls the functions that seal, archive and
--                    drop days; places holds
--   recorder_notifier  keeps the outbox of notifications; a notifier
--                    is a member of recorder_reader too
--
-- The privileges on each table are granted in migrations/sql.

do $$
declare
  wanted text;
begin
  foreach wanted in array
    array['recorder_owner', 'recorder_writer', 'recorder_reader',
      'recorder_retention', 'recorder_notifier']
  loop
    if not exists (select from pg_roles where rolname = wanted) then
      execute format('create role %I nologin', wanted);
    end if;
  end loop;
  execute format('grant create, connect on database %I to recorder_owner',
                 current_database());
  execute format('grant connect on database %I to recorder_writer, recorder_reader,
                    recorder_retention, recorder_notifier', current_database());
end
$$;
