-- Facts that take as little as they can: what they tell is compressed, what
-- questions choose them by stands beside it, and what follows from another
-- column is left out. The facts that there were are derived again from the
-- entries, by `recorder rederive`; until then a log ends without them.

drop table fact;
update derivation set state = 'former', built_to = coalesce(built_to, 0)
  where state = 'building';
update derivation d set built_to = 0 from log_head h
  where h.log_id = d.log_id and h.size > 0 and d.state = 'current';

create table fact (
  recorded_at timestamptz not null,
  at timestamptz not null,
  observed_at timestamptz,
  position int8 not null,
  object_id int8,
  owner_id int8,
  derivation_id int4 not null,
  node_id int4,
  actor_id int4,
  topic_id int4,
  index int2 not null,
  kind int2 not null,
  bearing int2 not null,
  mark int2,
  value text,
  place text,
  labels text[],
  keys text[],
  owners text[],
  detail bytea not null
) partition by range (recorded_at);
alter table fact alter detail set storage external;
comment on column fact.recorded_at is 'of its entry, in whose partition it lies';
comment on column fact.at is 'when it happened; when it was observed, where nothing claims a time';
comment on column fact.observed_at is 'of its entry; null where at is it';
comment on column fact.owner_id is 'of an object that appeared: its controller';
comment on column fact.derivation_id is 'which is of one log';
comment on column fact.topic_id is 'the word that is its reason; of an annotation of what is on no node its key';
comment on column fact.bearing is 'what it may tell of its node: 0 nothing, 1 evidence, 2 it is about the node as such, 3 a Pod had to go';
comment on column fact.mark is 'what questions choose it by: 1 it was created, 2 contact was lost or regained, 3 how an object ends, 4 preempted by the scheduler, 5 evicted by a queue';
comment on column fact.value is 'what a label of a Node, or of what is about one, was changed to, not of a Pod; of a Node that appeared the status of Ready';
comment on column fact.place is 'of a Node that appeared: its labels that say where it stands, as JSON';
comment on column fact.labels is 'of a Node that appeared: key=value of each label, and =value of those that say where it stands';
comment on column fact.keys is 'of what a first list showed on no node: the keys of its annotations';
comment on column fact.owners is 'of what appeared or went: the UIDs of its owners';
comment on table dictionary is 'dictionaries that payloads and facts name; kept for ever';
comment on column fact.detail is 'JSON: as it is behind a byte 0, or deflated behind a byte that is one more than the number of its dictionary';

create index fact_by_position on fact (position);
create index fact_by_node on fact (node_id, bearing, at) where node_id is not null;
create index fact_by_object on fact (object_id) where object_id is not null;
create index fact_by_owner on fact (owner_id) where owner_id is not null;
create index fact_by_sign on fact (at) where bearing = 2;
-- Of a Pod the binding, or that it was bound when it appeared, its deletion,
-- and its end. Kinds, bearings and marks are those of recorder/store/codes.py.
create index fact_by_placing on fact (node_id, at)
  include (kind, object_id, observed_at, position, derivation_id)
  where bearing = 0 and kind in (1, 2, 3, 16, 18) and node_id is not null;
-- Pods that had to go count around what happened to their node: by when they
-- were seen.
create index fact_by_disruption on fact (node_id, coalesce(observed_at, at))
  where bearing = 3 and node_id is not null;
create index fact_by_preemption on fact (node_id, at)
  where mark = 4 and node_id is not null;
create index fact_by_eviction on fact (at) where mark = 5 and node_id is null;
create index fact_unplaced on fact (at) where kind = 6 and node_id is null;
-- Kubernetes allows 63 characters; of what has more the rest is compared in
-- the row.
create index fact_by_label on fact (left(value, 63))
  where kind = 5 and value is not null;
create index fact_by_place on fact (derivation_id) where place is not null;
create index fact_by_standing on fact using gin (labels)
  with (fastupdate = off) where labels is not null;
create index fact_by_listing on fact (at) where keys is not null;

create trigger append_only before update or delete on fact
  for each row execute function deny();
alter table fact enable always trigger append_only;

grant select on fact to recorder_writer, recorder_reader;
grant insert on fact to recorder_writer;

-- Partitions of entries that are there already get their sibling.
do $$
declare
  known record;
begin
  for known in select lower from partition loop
    perform add_partition(known.lower);
  end loop;
end
$$;
