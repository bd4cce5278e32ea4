-- Refuses every change of a line already written, for every role, the owner
-- included. `enable always` keeps it on under session_replication_role.

create function deny() returns trigger language plpgsql as $$
begin
  raise exception 'the log is append-only: % on % is refused', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;

create trigger append_only before update or delete on entry
  for each row execute function deny();
alter table entry enable always trigger append_only;

do $$
declare
  frozen text;
begin
  foreach frozen in array
    array['batch', 'dictionary', 'log', 'resource', 'kind', 'node', 'word', 'object']
  loop
    execute format('create trigger append_only before update or delete or truncate on %I
                    for each statement execute function deny()', frozen);
    execute format('alter table %I enable always trigger append_only', frozen);
  end loop;
end
$$;
