-- Archives of logs that this database never recorded: attached, to be asked.
-- Such a log has no entries here, no streams, and nobody writes it.

create table attached_day (
  log_id int4 not null references log,
  name text not null,
  lower timestamptz not null,
  upper timestamptz not null check (upper > lower),
  observed_min timestamptz not null,
  observed_max timestamptz not null,
  first_batch int8 not null,
  last_batch int8 not null check (last_batch >= first_batch),
  first_position int8 not null,
  last_position int8 not null check (last_position >= first_position),
  range bytea not null,
  manifest_sha256 bytea not null,
  uri text not null,
  attached_at timestamptz not null default clock_timestamp(),
  primary key (log_id, name)
);
comment on table attached_day is 'days of a log that another database recorded, and where they are; kept for ever';

create trigger append_only before update or delete or truncate on attached_day
  for each statement execute function deny();
alter table attached_day enable always trigger append_only;

-- Attaches the days of a log, or those that came since, and answers its
-- number. The log is one that gets no more, as one of a tape.
create function attach_log(said jsonb, days jsonb) returns int4
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  number int4;
  last attached_day;
  one attached_day;
begin
  perform pg_advisory_xact_lock(hashtext('recorder.attach'));
  select log_id into number from log where uid = (said ->> 'uid')::uuid;
  if number is null then
    insert into log (kind, cluster_name, cluster_uid, kubernetes, tape_uid,
        redaction_key_id, created_at, uid)
      values ('tape', said ->> 'cluster_name', said ->> 'cluster_uid',
        said ->> 'kubernetes', 'archive of ' || (said ->> 'uid'),
        said ->> 'redaction_key_id', (said ->> 'created_at')::timestamptz,
        (said ->> 'uid')::uuid)
      returning log_id into number;
    insert into log_head (log_id, peaks) values (number, null);
    insert into derivation (log_id, rules, state)
      values (number, (said ->> 'rules')::int4, 'current');
  elsif not exists (select from attached_day where log_id = number) then
    raise exception 'refused: log % was recorded by this database', number;
  end if;
  for one in
    select * from jsonb_populate_recordset(null::attached_day, days)
    order by first_batch
  loop
    select * into last from attached_day
      where log_id = number order by first_batch desc limit 1;
    if exists (select from attached_day d
      where d.log_id = number and d.name = one.name
        and d.manifest_sha256 = one.manifest_sha256) then
      continue;
    end if;
    if last.last_batch is not null and one.first_batch <> last.last_batch + 1 then
      raise exception 'refused: batch % of the log follows batch %',
        one.first_batch, last.last_batch;
    end if;
    one.log_id := number;
    one.attached_at := clock_timestamp();
    insert into attached_day select one.*;
    update log_head set size = one.last_position, batches = one.last_batch,
      pruned_batches = one.last_batch, pruned_positions = one.last_position,
      recorded_at = (days -> -1 ->> 'recorded_at')::timestamptz
      where log_id = number;
  end loop;
  return number;
end
$$;
revoke all on function attach_log(jsonb, jsonb) from public;
grant execute on function attach_log(jsonb, jsonb) to recorder_retention;
grant select on attached_day to recorder_writer, recorder_reader, recorder_retention;
