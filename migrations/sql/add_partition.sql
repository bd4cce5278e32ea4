-- Makes the daily partition that holds an instant, where it is missing, and
-- answers its name. A TRUNCATE trigger is not cloned from the parent, so each
-- partition gets its own.

create function add_partition(instant timestamptz) returns text
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  lo timestamptz := date_trunc('day', instant, 'UTC');
  hi timestamptz := lo + interval '24 hours';
  made text := 'entry_' || to_char(lo at time zone 'UTC', 'YYYYMMDD');
begin
  perform pg_advisory_xact_lock(hashtext('recorder.add_partition'));
  if exists (select from partition where name = made) then
    return made;
  end if;
  execute format(
    'create table %I (like entry including defaults including storage,
       constraint bounds check (recorded_at >= %L and recorded_at < %L))', made, lo, hi);
  execute format(
    'alter table entry attach partition %I for values from (%L) to (%L)', made, lo, hi);
  execute format('alter table %I drop constraint bounds', made);
  execute format(
    'create trigger append_only_truncate before truncate on %I
       for each statement execute function deny()', made);
  execute format('alter table %I enable always trigger append_only_truncate', made);
  insert into partition (name, lower, upper) values (made, lo, hi);
  return made;
end
$$;
revoke all on function add_partition(timestamptz) from public;
