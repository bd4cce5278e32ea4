-- Retention: days are sealed, archived and dropped, each step checked here and
-- not by who asks for it. What is carried forward of a day that is dropped
-- lies in one partition before the first day that is whole.

alter table partition
  add column state text not null default 'open'
    check (state in ('open', 'sealed', 'archived', 'dropped')),
  add column sealed_at timestamptz,
  add column archived_at timestamptz,
  add column dropped_at timestamptz;
comment on column partition.state is 'open until no writer can come back to it; archived once its copy was read again and verified';

alter table log_head
  add column sealed_until timestamptz not null default '-infinity',
  add column pruned_batches int8 not null default 0,
  add column pruned_positions int8 not null default 0,
  add column forgotten int8 not null default 0;
comment on column log_head.sealed_until is 'nothing is recorded before this time, whatever the clock says: the days before are sealed';
comment on column log_head.pruned_batches is 'batches of days that were dropped; their hashes are in archived_day';
comment on column log_head.pruned_positions is 'up to here only what was carried forward is kept';
comment on column log_head.forgotten is 'grows whenever numbers of names were removed, which a writer may remember';

create table archived_day (
  partition text not null references partition,
  log_id int4 not null references log,
  first_batch int8 not null,
  last_batch int8 not null check (last_batch >= first_batch),
  first_position int8 not null,
  last_position int8 not null check (last_position >= first_position),
  range bytea not null,
  manifest_sha256 bytea,
  uri text,
  bytes int8 not null default 0,
  archived_at timestamptz not null default clock_timestamp(),
  primary key (partition, log_id),
  check ((uri is null) = (manifest_sha256 is null))
);
comment on table archived_day is 'what was verified of each day and log before it may be dropped; kept for ever';
comment on column archived_day.range is 'hashes of the largest complete subtrees over the batches of the day: they join the day to the tree of the log';
comment on column archived_day.uri is 'null where the policy says that nothing is archived';

create table hold (
  hold_id int4 generated always as identity primary key,
  log_id int4 references log,
  since timestamptz,
  until timestamptz,
  node text,
  incident text,
  who text not null,
  why text not null check (why <> ''),
  placed_at timestamptz not null default clock_timestamp(),
  check (since is null or until is null or since < until),
  check (node is null or log_id is not null)
);
comment on table hold is 'days with anything observed in the window are not dropped; ends by a row in hold_lifted';

create table hold_lifted (
  hold_id int4 primary key references hold,
  who text not null,
  why text not null check (why <> ''),
  lifted_at timestamptz not null default clock_timestamp()
);

create table notice (
  notice_id int8 generated always as identity primary key,
  log_id int4 not null references log,
  document text not null,
  at timestamptz not null default clock_timestamp()
);
create index notice_by_log on notice (log_id, notice_id);
comment on table notice is 'what retention did, for the writer of the log to take up as entries; in the order of its ids within a log';

do $$
declare
  frozen text;
begin
  foreach frozen in array
    array['archived_day', 'hold', 'hold_lifted', 'notice']
  loop
    execute format('create trigger append_only before update or delete or truncate on %I
                    for each statement execute function deny()', frozen);
    execute format('alter table %I enable always trigger append_only', frozen);
  end loop;
end
$$;

-- Rows of three tables may go: batches of days that are dropped, and names
-- that nothing refers to. `deny_kept` lets a row go if that is so, and
-- `deny_unless_pruning` lets nobody try by accident.
create function deny_unless_pruning() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE'
    and current_setting('recorder.pruning', true) = 'on' then
    return null;
  end if;
  raise exception 'the log is append-only: % on % is refused', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;

create function deny_kept() returns trigger language plpgsql as $$
declare
  free boolean;
begin
  case tg_table_name
    when 'batch' then
      free := exists (select from recorder.log_head
        where log_id = old.log_id and pruned_batches >= old.batch);
    when 'object' then
      free := not exists (select from recorder.object_head where object_id = old.object_id)
        and not exists (select from recorder.entry where object_id = old.object_id)
        and not exists (select from recorder.fact where object_id = old.object_id)
        and not exists (select from recorder.fact where owner_id = old.object_id);
    when 'node' then
      free := not exists (select from recorder.entry where node_id = old.node_id)
        and not exists (select from recorder.fact where node_id = old.node_id);
  end case;
  if free then
    return old;
  end if;
  raise exception 'the log is append-only: % on % is refused: something refers to it',
    tg_op, tg_table_name using errcode = 'insufficient_privilege';
end
$$;

do $$
declare
  shrinking text;
begin
  foreach shrinking in array array['batch', 'object', 'node'] loop
    execute format('drop trigger append_only on %I', shrinking);
    execute format('create trigger append_only before update or delete or truncate on %I
                    for each statement execute function deny_unless_pruning()', shrinking);
    execute format('create trigger append_only_kept before delete on %I
                    for each row execute function deny_kept()', shrinking);
    execute format('alter table %I enable always trigger append_only', shrinking);
    execute format('alter table %I enable always trigger append_only_kept', shrinking);
  end loop;
end
$$;

-- Seals a day that is over: no writer can come back to it, even if the clock
-- is set back. Waits for transactions that began before. Heads come first, as
-- in every transaction of a writer.
create function seal_partition(wanted text) returns void
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  p partition;
begin
  perform from log_head order by log_id for update;
  select * into strict p from partition where name = wanted for update;
  if p.state <> 'open' then
    return;
  end if;
  if p.upper > clock_timestamp() then
    raise exception 'refused: % is not over', wanted;
  end if;
  update log_head set sealed_until = greatest(sealed_until, p.upper);
  update partition set state = 'sealed', sealed_at = clock_timestamp() where name = wanted;
end
$$;

-- What was verified of a day; the numbers are those of its batches.
create function verified_day(
  wanted text, log int4, packed bytea, digest bytea, place text, size int8
) returns void
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  p partition;
  found record;
begin
  select * into strict p from partition where name = wanted for update;
  if p.state <> 'sealed' then
    raise exception 'refused: % is %, not sealed', wanted, p.state;
  end if;
  select min(batch) as first_batch, max(batch) as last_batch, count(*) as batches,
    min(first_position) as first_position,
    max(first_position + entries - 1) as last_position
    into found from batch
    where log_id = log and recorded_at >= p.lower and recorded_at < p.upper;
  if found.batches is distinct from found.last_batch - found.first_batch + 1 then
    raise exception 'refused: batches of log % are missing in %', log, wanted;
  end if;
  insert into archived_day (partition, log_id, first_batch, last_batch,
    first_position, last_position, range, manifest_sha256, uri, bytes)
  values (wanted, log, found.first_batch, found.last_batch,
    found.first_position, found.last_position, packed, digest, place, size);
end
$$;

-- Whether every log with anything in a day was verified, and archived.
create function is_verified(p partition, archived boolean) returns boolean
language sql stable set search_path = recorder, pg_catalog, pg_temp as $$
  select not exists (
    select from (
      select distinct b.log_id from batch b
      where b.recorded_at >= p.lower and b.recorded_at < p.upper) l
    where not exists (
      select from archived_day d
      where d.partition = p.name and d.log_id = l.log_id
        and (d.uri is not null or not archived)))
$$;

create function archive_partition(wanted text) returns void
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  p partition;
begin
  select * into strict p from partition where name = wanted for update;
  if p.state in ('archived', 'dropped') then
    return;
  end if;
  if p.state <> 'sealed' or not is_verified(p, true) then
    raise exception 'refused: % is % and not archived for every log', wanted, p.state;
  end if;
  update partition set state = 'archived', archived_at = clock_timestamp() where name = wanted;
end
$$;

-- The holds over a day.
create function holds_over(p partition) returns setof hold
language sql stable set search_path = recorder, pg_catalog, pg_temp as $$
  select h.* from hold h
  where not exists (select from hold_lifted l where l.hold_id = h.hold_id)
    and (h.since is null or p.observed_max >= h.since)
    and (h.until is null or p.observed_min < h.until)
    and (h.log_id is null or exists (
      select from entry e where e.log_id = h.log_id
        and e.recorded_at >= p.lower and e.recorded_at < p.upper))
    and (h.node is null or exists (
      select from node n join entry e on e.node_id = n.node_id
        and e.recorded_at >= p.lower and e.recorded_at < p.upper
      where n.log_id = h.log_id and n.name = h.node))
$$;

-- Refuses a day that may not be dropped. `unarchived` is what the policy says
-- of days that nobody archived.
create function check_drop(wanted text, unarchived text) returns partition
language plpgsql stable set search_path = recorder, pg_catalog, pg_temp as $$
declare
  p partition;
begin
  select * into strict p from partition where name = wanted;
  if p.upper > clock_timestamp() - interval '1 day' then
    raise exception 'refused: % is younger than a day', wanted;
  end if;
  if exists (select from partition where upper <= p.lower and state <> 'dropped') then
    raise exception 'refused: there are days before %', wanted;
  end if;
  if exists (select from holds_over(p)) then
    raise exception 'refused: there is a hold over %', wanted;
  end if;
  if p.state = 'archived' and is_verified(p, true)
    or p.state = 'sealed' and unarchived = 'drop' and is_verified(p, false) then
    return p;
  end if;
  raise exception 'refused: % is % and not archived for every log', wanted, p.state;
end
$$;

-- Takes the tables away that a drop left, or that were being built.
create function remove_dropped() returns int4
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  gone text;
  count int4 := 0;
begin
  for gone in
    select c.relname from pg_class c
    where c.relnamespace = 'recorder'::regnamespace and c.relkind = 'r'
      and c.relname ~ '^(entry|fact)_(dropped_.*|kept_next)$'
      and not exists (select from pg_inherits where inhrelid = c.oid)
  loop
    execute format('drop table %I', gone);
    count := count + 1;
  end loop;
  return count;
end
$$;
