-- What proves that nothing was altered: a hash of each batch, and of the tree
-- over them. Specified in docs/integrity.md.

alter table log add column uid uuid not null default gen_random_uuid();
comment on column log.uid is 'names the log in its checkpoints, in this database and in every copy';

alter table batch add column root bytea, add column tree bytea;
comment on column batch.root is 'hash of the tree over its entries; null if written before there were hashes: see seal';
comment on column batch.tree is 'hash of the log''s tree up to and including this batch';

-- Of a log without entries the tree is empty; of one that was written before
-- there were hashes it is unknown until `recorder verify` has sealed it.
alter table log_head add column peaks bytea;
alter table log_head alter column peaks set default '';
comment on column log_head.peaks is 'hashes of the largest complete subtrees of the log''s tree; null until its first batches are sealed';
update log_head set peaks = '' where batches = 0;

create table seal (
  log_id int4 not null,
  batch int8 not null,
  root bytea not null,
  tree bytea not null,
  sealed_at timestamptz not null,
  primary key (log_id, batch)
);
comment on table seal is 'hashes of batches that were written before there were hashes, made when they were first verified';

create table checkpoint (
  log_id int4 not null,
  batches int8 not null,
  note text not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (log_id, batches, note)
);
comment on table checkpoint is 'signed checkpoints; what counts are the copies outside the database';

do $$
declare
  frozen text;
begin
  foreach frozen in array array['seal', 'checkpoint'] loop
    execute format('create trigger append_only before update or delete or truncate on %I
                    for each statement execute function deny()', frozen);
    execute format('alter table %I enable always trigger append_only', frozen);
  end loop;
end
$$;

grant select on seal, checkpoint to recorder_writer, recorder_reader;
grant insert on seal, checkpoint to recorder_writer;
