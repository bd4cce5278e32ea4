-- Facts: what happened, derived from entries. A log has one derivation that
-- answers are made from; another may be built beside it and take its place.

create table derivation (
  derivation_id int4 generated always as identity primary key,
  log_id int4 not null,
  rules int4 not null,
  state text not null check (state in ('building', 'current', 'former')),
  built_to int8,
  created_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
create unique index derivation_current on derivation (log_id)
  where state = 'current';
create unique index derivation_building on derivation (log_id)
  where state = 'building';
comment on column derivation.rules is 'the number of the rules that the facts were derived by';
comment on column derivation.built_to is 'the position up to which there are facts; null where the writer adds those of every entry';

create table derivation_part (
  derivation_id int4 not null references derivation,
  part int4 not null,
  after int8 not null,
  until int8 not null check (until >= after),
  built_to int8 not null check (built_to between after and until),
  primary key (derivation_id, part)
) with (fillfactor = 50);
comment on table derivation_part is 'how far each part of a derivation is that is built beside the current one; committed with its facts';

create table fact (
  recorded_at timestamptz not null,
  at timestamptz not null,
  observed_at timestamptz not null,
  occurred_at timestamptz,
  position int8 not null,
  object_id int8,
  owner_id int8,
  log_id int4 not null,
  derivation_id int4 not null,
  node_id int4,
  actor_id int4,
  index int2 not null,
  kind int2 not null,
  sign boolean not null,
  evidence boolean not null,
  place jsonb,
  detail jsonb not null
) partition by range (recorded_at);
comment on column fact.recorded_at is 'of its entry, in whose partition it lies';
comment on column fact.at is 'occurred_at, or observed_at where nothing claims a time';
comment on column fact.owner_id is 'of an object that appeared: its controller';
comment on column fact.sign is 'whether it is about a node as such';
comment on column fact.evidence is 'whether it may tell what happened to its node: all but the daily life of Pods';
comment on column fact.place is 'of a Node that appeared: its labels that say where it stands';
create index fact_by_position on fact (log_id, position);
create index fact_by_node on fact (node_id, at) where node_id is not null;
create index fact_by_object on fact (object_id, at) where object_id is not null;
create index fact_by_owner on fact (owner_id) where owner_id is not null;
create index fact_by_sign on fact (log_id, at) where sign;
create index fact_by_evidence on fact (node_id, at)
  where evidence and node_id is not null;
-- Kinds as in recorder/store/codes.py: of a Pod the binding, or that it was
-- bound when it appeared, its deletion, and its end.
create index fact_by_placing on fact (node_id, at)
  include (kind, object_id, observed_at, position, derivation_id)
  where not evidence and kind in (1, 2, 3, 16, 18) and node_id is not null;
create index fact_by_disruption on fact (node_id, at)
  where kind = 4 and evidence and not sign and node_id is not null;
create index fact_by_place on fact (log_id) where place is not null;
create index fact_by_eviction on fact (log_id, at)
  where kind = 4 and node_id is null and detail ->> 'type' = 'Evicted';
create index fact_unplaced on fact (log_id, at) where kind = 6 and node_id is null;

create index object_by_uid on object (uid) where uid is not null;

create trigger append_only before update or delete on fact
  for each row execute function deny();
alter table fact enable always trigger append_only;

create or replace function add_partition(instant timestamptz) returns text
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  lo timestamptz := date_trunc('day', instant, 'UTC');
  hi timestamptz := lo + interval '24 hours';
  day text := to_char(lo at time zone 'UTC', 'YYYYMMDD');
  parent text;
  made text;
begin
  perform pg_advisory_xact_lock(hashtext('recorder.add_partition'));
  foreach parent in array array['entry', 'fact'] loop
    made := parent || '_' || day;
    if to_regclass('recorder.' || made) is not null then
      continue;
    end if;
    execute format(
      'create table %I (like %I including defaults including storage,
         constraint bounds check (recorded_at >= %L and recorded_at < %L))',
      made, parent, lo, hi);
    execute format(
      'alter table %I attach partition %I for values from (%L) to (%L)',
      parent, made, lo, hi);
    execute format('alter table %I drop constraint bounds', made);
    execute format(
      'create trigger append_only_truncate before truncate on %I
         for each statement execute function deny()', made);
    execute format('alter table %I enable always trigger append_only_truncate', made);
  end loop;
  made := 'entry_' || day;
  insert into partition (name, lower, upper) values (made, lo, hi)
    on conflict do nothing;
  return made;
end
$$;
revoke all on function add_partition(timestamptz) from public;

grant select on derivation, derivation_part, fact
  to recorder_writer, recorder_reader;
grant insert on derivation, derivation_part, fact to recorder_writer;
grant update (state, built_to) on derivation to recorder_writer;
grant update (until, built_to) on derivation_part to recorder_writer;
grant execute on function add_partition(timestamptz) to recorder_writer;

-- Partitions that are there already get their sibling.
do $$
declare
  known record;
begin
  for known in select lower from partition loop
    perform add_partition(known.lower);
  end loop;
end
$$;
