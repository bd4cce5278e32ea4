-- The least that each role needs.

grant usage on schema recorder to recorder_writer, recorder_reader;
grant select on all tables in schema recorder to recorder_writer, recorder_reader;
grant insert on dictionary, log, log_head, resource, kind, node, word, object,
  batch, entry, resume_point, object_head to recorder_writer;
grant update on log_head, resume_point, object_head to recorder_writer;
grant update (observed_min, observed_max) on partition to recorder_writer;
grant delete on object_head to recorder_writer;
grant usage on sequence object_id_block to recorder_writer;
grant execute on function add_partition(timestamptz) to recorder_writer;
