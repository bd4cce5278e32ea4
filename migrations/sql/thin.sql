-- Entries that go before their day: audit records, Events and silences of
-- Leases, each a statement of its own that no other entry rests on. Their
-- hashes stay with their batch, so that its root can still be computed, and
-- the list of them is bound to an entry of the log by its digest.
--
-- `asked` is {"rules": [{"rule": "Event/Pulled", "name": "Event",
-- "reason": "Pulled", "days": 2}], "longer": ["Node"]}: what is about objects
-- of the kinds in `longer` stays.

create sequence thinning_run;

create table thinning (
  run int8 not null,
  log_id int4 not null references log,
  partition text not null references partition,
  rules jsonb not null,
  entries int8 not null,
  sha256 bytea not null,
  thinned_at timestamptz not null default clock_timestamp(),
  primary key (log_id, run)
);
create index thinning_by_partition on thinning (partition);
comment on table thinning is 'which entries of a log went before their day, by which rules; kept for ever';
comment on column thinning.sha256 is 'of the rows in thinned; stands in the entry of the log that tells of it';

create table thinned (
  log_id int4 not null,
  batch int8 not null,
  run int8 not null,
  offsets int4[] not null,
  hashes bytea not null,
  primary key (log_id, batch, run)
);
alter table thinned alter hashes set storage external;
comment on table thinned is 'the hashes of entries that went before their day, by batch; of a run that thinning does not have, nothing went yet';
comment on column thinned.offsets is 'of their positions behind the first of the batch, ascending';
comment on column thinned.hashes is 'of their leaves, 32 bytes each';

create unlogged table thin_next (
  log_id int4 not null,
  position int8 not null,
  rule text not null,
  primary key (log_id, position)
);
comment on table thin_next is 'what a run that is under way takes out of a day';

create trigger append_only before update or delete or truncate on thinning
  for each statement execute function deny();
alter table thinning enable always trigger append_only;
create trigger append_only before update or delete or truncate on thinned
  for each statement execute function deny_unless_pruning();
alter table thinned enable always trigger append_only;

-- Hashes go with the batch, or where a run did not come to its end.
create function deny_thinned() returns trigger language plpgsql as $$
begin
  if exists (select from recorder.log_head
      where log_id = old.log_id and pruned_batches >= old.batch)
    or not exists (select from recorder.thinning
      where log_id = old.log_id and run = old.run) then
    return old;
  end if;
  raise exception 'the log is append-only: % on % is refused: its batch needs it',
    tg_op, tg_table_name using errcode = 'insufficient_privilege';
end
$$;
create trigger append_only_kept before delete on thinned
  for each row execute function deny_thinned();
alter table thinned enable always trigger append_only_kept;

-- What rules take out of a day. Operations and kinds of facts are those of
-- recorder/store/codes.py.
create function rows_to_thin(wanted text, asked jsonb)
returns table (log_id int4, "position" int8, rule text)
language sql stable security definer set search_path = recorder, pg_catalog, pg_temp as $$
  with p as (select * from partition where name = wanted),
  rules as (
    select r.rule, r.name, w.word_id, r.reason
    from jsonb_to_recordset(asked -> 'rules') as r(rule text, name text, reason text)
    left join word w on w.text = r.reason),
  doomed as (
    select e.log_id, e.position, min(r.rule) as rule
    from p join entry e on e.recorded_at >= p.lower and e.recorded_at < p.upper
    join rules r on case r.name
        when 'audit' then e.operation = 10
        when 'Lease' then e.operation = 6
        when 'Event' then e.operation <= 5 and e.resource_id = any (array(
          select resource_id from resource
          where name in ('v1/events', 'events.k8s.io/v1/events'))) end
      and (r.reason is null or e.reason_id = r.word_id)
    left join object o on o.object_id = e.object_id
    left join kind k on k.kind_id = o.kind_id
    where k.name is null or not asked -> 'longer' ? k.name
    group by e.log_id, e.position),
  -- A document that stays may be a delta of one that would go.
  bases as (
    select e.log_id, e.position - e.base_distance as position
    from p join entry e on e.recorded_at >= p.lower and e.recorded_at < p.upper
    left join doomed d on d.log_id = e.log_id and d.position = e.position
    where e.base_distance is not null and d.position is null),
  -- Of a node that is not ready now, evidence stays.
  evidence as (
    select d.log_id, f.position
    from object_head h
    join object o on o.object_id = h.object_id
    join node n on n.log_id = o.log_id and n.name = o.name
    join p on true
    join fact f on f.node_id = n.node_id and f.bearing > 0
      and f.recorded_at >= p.lower and f.recorded_at < p.upper
    join derivation d on d.derivation_id = f.derivation_id and d.state = 'current'
    where h.ready = false)
  select d.log_id, d.position, d.rule from doomed d
  where not exists (select from bases b
      where b.log_id = d.log_id and b.position = d.position)
    and not exists (select from evidence v
      where v.log_id = d.log_id and v.position = d.position)
$$;

-- Refuses a day that may not be thinned out by some rules.
create function check_thinning(wanted text, unarchived text, asked jsonb) returns partition
language plpgsql stable set search_path = recorder, pg_catalog, pg_temp as $$
declare
  p partition;
begin
  select * into strict p from partition where name = wanted;
  if exists (select from jsonb_to_recordset(asked -> 'rules') as r(name text, days int4)
      where r.name not in ('audit', 'Event', 'Lease') or r.name is null
        or r.days is null or r.days < 1
        or p.upper > clock_timestamp() - make_interval(days => r.days)) then
    raise exception 'refused: % is younger than a rule says, or a rule is not one', wanted;
  end if;
  if exists (select from holds_over(p)) then
    raise exception 'refused: there is a hold over %', wanted;
  end if;
  if exists (select from derivation where state = 'building') then
    raise exception 'refused: facts are being rebuilt';
  end if;
  if p.state = 'archived' and is_verified(p, true)
    or p.state = 'sealed' and unarchived = 'drop' and is_verified(p, false) then
    return p;
  end if;
  raise exception 'refused: % is % and not archived for every log', wanted, p.state;
end
$$;

-- Begins a run, and clears away what another one left; answers its number.
create function begin_thinning(wanted text, unarchived text, asked jsonb) returns int8
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
begin
  perform check_thinning(wanted, unarchived, asked);
  perform remove_dropped();
  perform set_config('recorder.pruning', 'on', true);
  delete from thinned t where not exists (
    select from thinning g where g.log_id = t.log_id and g.run = t.run);
  perform set_config('recorder.pruning', 'off', true);
  truncate thin_next;
  insert into thin_next select * from rows_to_thin(wanted, asked);
  analyze thin_next;
  return nextval('thinning_run');
end
$$;

-- Notes the hashes of what goes out of a batch.
create function stage_thinned(
  this_run int8, log int4, number int8, places int4[], leaves bytea
) returns void
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
begin
  if exists (select from thinning where run = this_run) then
    raise exception 'refused: run % is over', this_run;
  end if;
  if length(leaves) <> 32 * cardinality(places) then
    raise exception 'refused: % entries and % bytes of hashes',
      cardinality(places), length(leaves);
  end if;
  insert into thinned values (log, number, this_run, places, leaves);
end
$$;

-- Builds a day without what goes, beside it; answers how much that is.
create function build_thinned(wanted text, this_run int8, unarchived text, asked jsonb)
returns table (log_id int4, rule text, entries int8, facts int8)
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  p partition := check_thinning(wanted, unarchived, asked);
  parent text;
begin
  perform remove_dropped();
  foreach parent in array array['entry', 'fact'] loop
    execute format(
      'create table %I (like %I including defaults including storage including indexes,
         constraint bounds check (recorded_at >= %L and recorded_at < %L))',
      parent || '_thin_next', parent, p.lower, p.upper);
    execute format(
      'create trigger append_only_truncate before truncate on %I
         for each statement execute function deny()', parent || '_thin_next');
    execute format('alter table %I enable always trigger append_only_truncate',
      parent || '_thin_next');
  end loop;
  create temp table going on commit drop as
    select t.log_id, b.first_position + o as position
    from thinned t join batch b on b.log_id = t.log_id and b.batch = t.batch,
      unnest(t.offsets) o
    where t.run = this_run;
  create unique index on going (log_id, position);
  analyze going;
  if exists (select log_id, position from going
    except select log_id, position from rows_to_thin(wanted, asked))
    or exists (select log_id, position from going
      except select log_id, position from thin_next) then
    raise exception 'refused: more would go out of % than the rules say by now', wanted;
  end if;
  insert into entry_thin_next
    select e.* from entry e
    left join going g on g.log_id = e.log_id and g.position = e.position
    where e.recorded_at >= p.lower and e.recorded_at < p.upper
      and g.position is null
    order by e.log_id, e.position;
  insert into fact_thin_next
    select f.* from fact f join derivation d on d.derivation_id = f.derivation_id
    left join going g on g.log_id = d.log_id and g.position = f.position
    where f.recorded_at >= p.lower and f.recorded_at < p.upper
      and g.position is null
    order by f.derivation_id, f.position, f."index";
  analyze entry_thin_next;
  analyze fact_thin_next;
  foreach parent in array array['entry', 'fact'] loop
    execute format('comment on table %I is %L', parent || '_thin_next',
      wanted || ' ' || this_run);
  end loop;
  return query
    select n.log_id, n.rule, count(*), coalesce(sum(f.facts), 0)::int8
    from going g join thin_next n on n.log_id = g.log_id and n.position = g.position
    left join lateral (
      select count(*) as facts from fact f
      join derivation d on d.derivation_id = f.derivation_id
        and d.log_id = g.log_id and d.state = 'current'
      where f.position = g.position
        and f.recorded_at >= p.lower and f.recorded_at < p.upper) f on true
    group by n.log_id, n.rule;
  drop table going;
end
$$;

-- Puts in place what `build_thinned` built, and notes what went of each log in
-- `made`: [{"log_id": 1, "rules": [...], "entries": 5, "sha256": "..."}]. The
-- tables themselves are removed by `remove_dropped`. Takes its locks in the
-- order of a writer; the caller sets lock_timeout and tries again.
create function thin_partition(
  wanted text, this_run int8, unarchived text, asked jsonb, made jsonb
) returns void
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  p partition;
  parent text;
  day text := substr(wanted, length('entry_') + 1);
begin
  perform from log_head order by log_id for update;
  perform from partition where name = wanted for update;
  p := check_thinning(wanted, unarchived, asked);
  if exists (
    select from jsonb_to_recordset(made) as m(log_id int4, entries int8)
    full join (select log_id, sum(cardinality(offsets)) as entries
      from thinned where run = this_run group by log_id) t on t.log_id = m.log_id
    where coalesce(m.entries, 0) <> coalesce(t.entries, 0)) then
    raise exception 'refused: other entries go out of % than were noted', wanted;
  end if;
  insert into thinning (run, log_id, partition, rules, entries, sha256)
    select this_run, m.log_id, wanted, m.rules, m.entries, decode(m.sha256, 'hex')
    from jsonb_to_recordset(made)
      as m(log_id int4, rules jsonb, entries int8, sha256 text);
  if not exists (select from thinning where run = this_run and entries > 0) then
    return;
  end if;
  if obj_description(to_regclass('recorder.entry_thin_next'), 'pg_class')
      is distinct from wanted || ' ' || this_run
    or obj_description(to_regclass('recorder.fact_thin_next'), 'pg_class')
      is distinct from wanted || ' ' || this_run then
    raise exception 'refused: what stays of % was not built', wanted;
  end if;
  lock table fact, entry in access exclusive mode;
  foreach parent in array array['fact', 'entry'] loop
    execute format('alter table %I detach partition %I', parent, parent || '_' || day);
    execute format('alter table %I rename to %I', parent || '_' || day,
      parent || '_dropped_' || day);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)',
      parent, parent || '_thin_next', p.lower, p.upper);
    execute format('alter table %I drop constraint bounds', parent || '_thin_next');
    execute format('alter table %I rename to %I', parent || '_thin_next',
      parent || '_' || day);
    execute format('comment on table %I is %L', parent || '_' || day,
      'without what went before its day, see thinned');
  end loop;
  -- A release before would miss what went, and would call it tampering.
  delete from schema_serves where revision < '0015';
end
$$;

create or replace function remove_dropped() returns int4
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  gone text;
  count int4 := 0;
begin
  for gone in
    select c.relname from pg_class c
    where c.relnamespace = 'recorder'::regnamespace and c.relkind = 'r'
      and c.relname ~ '^(entry|fact)_(dropped_.*|kept_next|thin_next)$'
      and not exists (select from pg_inherits where inhrelid = c.oid)
  loop
    execute format('drop table %I', gone);
    count := count + 1;
  end loop;
  return count;
end
$$;

-- Deletes batches of days that were dropped, with the hashes of what went
-- before its day; answers how many.
create or replace function prune_batches(log int4, most int4) returns int4
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  count int4;
begin
  perform set_config('recorder.pruning', 'on', true);
  delete from thinned t using log_head h
    where h.log_id = log and t.log_id = log and t.batch <= h.pruned_batches
      and t.batch < (select min(batch) from batch where log_id = log) + most;
  delete from batch b using log_head h
    where h.log_id = log and b.log_id = log and b.batch <= h.pruned_batches
      and b.batch < (select min(batch) from batch where log_id = log) + most;
  get diagnostics count = row_count;
  perform set_config('recorder.pruning', 'off', true);
  return count;
end
$$;

do $$
declare
  signature text;
begin
  foreach signature in array array[
    'rows_to_thin(text, jsonb)', 'begin_thinning(text, text, jsonb)',
    'stage_thinned(int8, int4, int8, int4[], bytea)',
    'build_thinned(text, int8, text, jsonb)',
    'thin_partition(text, int8, text, jsonb, jsonb)']
  loop
    execute format('revoke all on function %s from public', signature);
    execute format('grant execute on function %s to recorder_retention', signature);
  end loop;
end
$$;
grant select on thinning, thinned to recorder_writer, recorder_reader, recorder_retention;
grant select on thin_next to recorder_retention;
