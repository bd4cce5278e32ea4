-- The log. Every table below is append-only but the three of bookkeeping:
-- log_head, resume_point and object_head, and the observed bounds of
-- partition.

create table dictionary (
  dictionary_id int2 primary key,
  sha256 bytea not null unique,
  bytes bytea not null,
  created_at timestamptz not null default clock_timestamp()
);
comment on table dictionary is 'zstd dictionaries that payloads name; kept for ever';

create table log (
  log_id int4 generated always as identity primary key,
  kind text not null check (kind in ('live', 'tape')),
  cluster_name text not null,
  cluster_uid text not null,
  kubernetes text not null,
  tape_uid text,
  redaction_key_id text,
  created_at timestamptz not null default clock_timestamp(),
  check ((kind = 'tape') = (tape_uid is not null))
);
comment on table log is 'one log for each recorded cluster and for each played tape';
create unique index log_by_live_cluster on log (cluster_uid) where kind = 'live';
create unique index log_by_tape on log (tape_uid, cluster_name) where kind = 'tape';

create table log_head (
  log_id int4 primary key references log,
  term int8 not null default 0,
  holder text,
  expires_at timestamptz not null default '-infinity',
  size int8 not null default 0,
  batches int8 not null default 0,
  epoch int4 not null default 1,
  recorded_at timestamptz not null default '-infinity'
) with (fillfactor = 50);
comment on table log_head is 'the writer''s lease and the end of the log; every append is fenced by term and size';

create table resource (
  resource_id int2 generated always as identity primary key,
  name text not null unique
);
comment on table resource is 'group/version/plural as on a tape, or what a polled source calls itself';

create table kind (
  kind_id int4 generated always as identity primary key,
  api_group text not null,
  name text not null,
  unique (api_group, name)
);

create table node (
  node_id int4 generated always as identity primary key,
  log_id int4 not null references log,
  name text not null,
  unique (log_id, name)
);

create table word (
  word_id int4 generated always as identity primary key,
  text text not null unique
);
comment on table word is 'reasons and actors of Kubernetes Events';

create sequence object_id_block increment by 1000;
comment on sequence object_id_block is 'each value begins a thousand object ids that one writer hands out';

create table object (
  object_id int8 primary key,
  log_id int4 not null,
  kind_id int4 not null,
  namespace text not null,
  name text not null,
  uid text
);
create index object_by_name on object (log_id, kind_id, namespace, name);

create table batch (
  log_id int4 not null,
  batch int8 not null,
  first_position int8 not null,
  entries int4 not null,
  term int8 not null,
  recorded_at timestamptz not null,
  observed_min timestamptz not null,
  observed_max timestamptz not null,
  primary key (log_id, batch)
);
create unique index batch_by_position on batch (log_id, first_position);

create table entry (
  recorded_at timestamptz not null,
  observed_at timestamptz not null,
  occurred_at timestamptz,
  position int8 not null,
  object_id int8,
  version int8,
  log_id int4 not null,
  node_id int4,
  reason_id int4,
  actor_id int4,
  base_distance int4,
  epoch int2 not null,
  resource_id int2,
  operation int2 not null,
  source int2 not null,
  encoding int2 not null,
  resource_version text,
  payload bytea not null
) partition by range (recorded_at);
alter table entry alter payload set storage external;
comment on column entry.version is 'the resource version where it is a decimal number; else resource_version holds it';
comment on column entry.encoding is '0 raw, 1 zstd, 2 zstd delta and 3 deflate delta against the entry base_distance before, 16 and more zstd with dictionary encoding - 16';
create index entry_by_position on entry (log_id, position);
create index entry_by_node on entry (node_id, observed_at) where node_id is not null;
create index entry_by_object on entry (object_id, observed_at) where object_id is not null;
create index entry_by_gap on entry (log_id, position) where operation >= 100;

create table partition (
  name text primary key,
  lower timestamptz not null,
  upper timestamptz not null,
  observed_min timestamptz not null default 'infinity',
  observed_max timestamptz not null default '-infinity'
) with (fillfactor = 50);

create table resume_point (
  log_id int4 not null,
  source text not null,
  resource_id int2 not null,
  state text not null,
  completed text,
  pending text,
  seen text[] not null default '{}',
  began_at timestamptz,
  began_version text,
  vouched_until timestamptz,
  last_frame_at timestamptz,
  entries int8 not null default 0,
  gap_position int8,
  gap_reason text,
  gap_since timestamptz,
  gap_version text,
  primary key (log_id, source, resource_id)
) with (fillfactor = 50);
comment on table resume_point is 'where each watch continues, and how far it vouches; committed with the rows it covers';

create table object_head (
  object_id int8 primary key,
  log_id int4 not null,
  resource_id int2 not null,
  epoch int2 not null,
  version int8,
  resource_version text,
  position int8 not null,
  ready boolean,
  heartbeats int8 not null,
  heartbeat_at timestamptz,
  substance bytea,
  renewal bytea
) with (fillfactor = 70);
create index object_head_by_log on object_head (log_id);
comment on table object_head is 'the newest version of each object: what a list is compared with, and the counted heartbeats';
