-- Builds what is kept of everything before the end of a day, beside what is
-- there: the newest version of each object that was alive then, with the
-- document that it is a delta of; the facts about these; what is open.
--
-- Kinds of facts as in recorder/store/codes.py: all but silences of Leases,
-- Events, requests and what could not be read. `longer` names kinds of objects
-- of which every fact is carried for a time: {"Node": "730 days"}.

create function build_kept(wanted text, unarchived text, longer jsonb) returns void
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  p partition := check_drop(wanted, unarchived);
  parent text;
begin
  if exists (select from derivation where state = 'building') then
    raise exception 'refused: facts are being rebuilt';
  end if;
  perform remove_dropped();
  foreach parent in array array['entry', 'fact'] loop
    execute format(
      'create table %I (like %I including defaults including storage including indexes,
         constraint bounds check (recorded_at < %L))',
      parent || '_kept_next', parent, p.upper);
    execute format('comment on table %I is %L', parent || '_kept_next', wanted);
    execute format(
      'create trigger append_only_truncate before truncate on %I
         for each statement execute function deny()', parent || '_kept_next');
    execute format('alter table %I enable always trigger append_only_truncate',
      parent || '_kept_next');
  end loop;

  create temp table kept_object on commit drop as
    with newest as (
      select log_id, object_id, max(position) as position from entry
      where recorded_at < p.upper and object_id is not null and operation <= 5
        and resource_id <> all (array(select resource_id from resource
          where name in ('v1/events', 'events.k8s.io/v1/events')))
      group by log_id, object_id)
    select e.log_id, e.object_id, e.position
    from newest n join entry e on e.log_id = n.log_id
      and e.position = n.position and e.recorded_at < p.upper
    where e.operation <= 3;
  create unique index on kept_object (object_id);
  analyze kept_object;

  -- Nodes of which something may be going on: at the end of the day, or still.
  create temp table kept_node on commit drop as
    select distinct f.node_id, false as is_open from fact f
    where f.recorded_at < p.upper and f.bearing = 2
      and f.kind <> 1 and f.node_id is not null
      and f.at >= p.upper - interval '6 hours'
    union
    select n.node_id, true from object_head h
    join object o on o.object_id = h.object_id
    join node n on n.log_id = o.log_id and n.name = o.name
    where h.ready = false;

  create temp table kept_fact on commit drop as
    select derivation_id, position, "index", bool_or(has_entry) as has_entry
    from (
      select f.derivation_id, f.position, f."index", false as has_entry from (
        select f.derivation_id, f.position, f."index", row_number() over (
          partition by f.object_id, f.kind order by f.position desc) as age
        from fact f join kept_object o on o.object_id = f.object_id
        where f.recorded_at < p.upper and f.kind <> all (array[15, 20, 21, 22])) f
      where f.age <= 64
      union all
      select f.derivation_id, f.position, f."index", true from (
        select f.derivation_id, f.position, f."index", row_number() over (
          partition by f.node_id order by f.position desc) as age
        from fact f join kept_node n on n.node_id = f.node_id
        where f.recorded_at < p.upper and f.bearing > 0
          and f.at >= p.upper - case when n.is_open
            then interval '7 days' else interval '6 hours' end) f
      where f.age <= 2000
      union all
      select f.derivation_id, f.position, f."index", false
      from jsonb_each_text(longer) l
      join kind k on k.name = l.key
      join object o on o.kind_id = k.kind_id
      join fact f on f.object_id = o.object_id
      where f.recorded_at < p.upper
        and f.at >= clock_timestamp() - l.value::interval) t
    join derivation d using (derivation_id)
    where d.state = 'current'
    group by derivation_id, position, "index";
  create unique index on kept_fact (derivation_id, position, "index");
  analyze kept_fact;

  create temp table kept_entry on commit drop as
    select log_id, position from kept_object
    union select log_id, position from object_head
    union select log_id, gap_position from resume_point where gap_position is not null
    union select d.log_id, f.position from kept_fact f
      join derivation d using (derivation_id) where f.has_entry;
  insert into kept_entry
    select e.log_id, e.position - e.base_distance
    from kept_entry k join entry e on e.log_id = k.log_id and e.position = k.position
    where e.recorded_at < p.upper and e.base_distance is not null
    except select log_id, position from kept_entry;
  create unique index on kept_entry (log_id, position);
  analyze kept_entry;

  insert into entry_kept_next
    select e.* from entry e
    join kept_entry k on k.log_id = e.log_id and k.position = e.position
    where e.recorded_at < p.upper order by e.log_id, e.position;
  insert into fact_kept_next
    select f.* from fact f
    join kept_fact k on k.derivation_id = f.derivation_id
      and k.position = f.position and k."index" = f."index"
    where f.recorded_at < p.upper
    order by f.derivation_id, f.position, f."index";
  drop table kept_object, kept_node, kept_fact, kept_entry;
end
$$;

-- Puts in place what `build_kept` built for a day, and takes the day away; the
-- tables themselves are removed by `remove_dropped`. Takes its locks in the
-- order of a writer; the caller sets lock_timeout and tries again.
create function drop_partition(wanted text, unarchived text) returns void
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  p partition;
  parent text;
  day text;
begin
  perform from log_head order by log_id for update;
  perform from partition where name = wanted for update;
  p := check_drop(wanted, unarchived);
  day := substr(wanted, length('entry_') + 1);
  if obj_description(to_regclass('recorder.entry_kept_next'), 'pg_class')
      is distinct from wanted
    or obj_description(to_regclass('recorder.fact_kept_next'), 'pg_class')
      is distinct from wanted then
    raise exception 'refused: what is kept of % was not built', wanted;
  end if;
  if exists (select from derivation where state = 'building') then
    raise exception 'refused: facts are being rebuilt';
  end if;
  lock table fact, entry in access exclusive mode;
  foreach parent in array array['fact', 'entry'] loop
    if to_regclass('recorder.' || parent || '_kept') is not null then
      execute format('alter table %I detach partition %I', parent, parent || '_kept');
      execute format('alter table %I rename to %I', parent || '_kept',
        parent || '_dropped_kept');
    end if;
    execute format('alter table %I detach partition %I', parent, parent || '_' || day);
    execute format('alter table %I rename to %I', parent || '_' || day,
      parent || '_dropped_' || day);
    execute format('alter table %I attach partition %I for values from (minvalue) to (%L)',
      parent, parent || '_kept_next', p.upper);
    execute format('alter table %I drop constraint bounds', parent || '_kept_next');
    execute format('alter table %I rename to %I', parent || '_kept_next', parent || '_kept');
    execute format('comment on table %I is %L', parent || '_kept',
      'what is kept of the days before ' || to_char(p.upper at time zone 'UTC', 'YYYY-MM-DD'));
  end loop;
  update log_head h set pruned_batches = d.last_batch, pruned_positions = d.last_position
    from archived_day d where d.partition = wanted and d.log_id = h.log_id;
  update partition set state = 'dropped', dropped_at = clock_timestamp() where name = wanted;
end
$$;

-- Deletes batches of days that were dropped; answers how many.
create function prune_batches(log int4, most int4) returns int4
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  count int4;
begin
  perform set_config('recorder.pruning', 'on', true);
  delete from batch b using log_head h
    where h.log_id = log and b.log_id = log and b.batch <= h.pruned_batches
      and b.batch < (select min(batch) from batch where log_id = log) + most;
  get diagnostics count = row_count;
  perform set_config('recorder.pruning', 'off', true);
  return count;
end
$$;

-- Deletes names that nothing refers to any more, of those after one, and
-- answers up to which it looked; null behind the last. Holds the head of the
-- log, so that no writer is about to refer to them, and makes it forget.
create function forget_names(
  log int4, what text, after int8, most int4, out upto int8, out gone int4
) language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  ids int8[];
begin
  gone := 0;
  if what = 'object' then
    select array_agg(id) filter (where unused), max(id) into ids, upto from (
      select o.object_id as id,
        not exists (select from object_head where object_id = o.object_id)
        and not exists (select from entry where object_id = o.object_id)
        and not exists (select from fact where object_id = o.object_id)
        and not exists (select from fact where owner_id = o.object_id) as unused
      from (select object_id from object where log_id = log and object_id > after
        order by object_id limit most) o) t;
  elsif what = 'node' then
    select array_agg(id) filter (where unused), max(id) into ids, upto from (
      select n.node_id as id,
        not exists (select from entry where node_id = n.node_id)
        and not exists (select from fact where node_id = n.node_id) as unused
      from (select node_id from node where log_id = log and node_id > after
        order by node_id limit most) n) t;
  else
    raise exception 'refused: there are no names of %', what;
  end if;
  if ids is null then
    return;
  end if;
  perform from log_head where log_id = log for update;
  perform set_config('recorder.pruning', 'on', true);
  if what = 'object' then
    delete from object o where o.object_id = any(ids)
      and not exists (select from object_head where object_id = o.object_id)
      and not exists (select from entry where object_id = o.object_id)
      and not exists (select from fact where object_id = o.object_id)
      and not exists (select from fact where owner_id = o.object_id);
  else
    delete from node n where n.node_id = any(ids)
      and not exists (select from entry where node_id = n.node_id)
      and not exists (select from fact where node_id = n.node_id);
  end if;
  get diagnostics gone = row_count;
  perform set_config('recorder.pruning', 'off', true);
  if gone > 0 then
    update log_head set forgotten = forgotten + 1 where log_id = log;
  end if;
end
$$;

-- Leaves a notice for the writer of a log. One after another, so that who
-- reads them by their numbers leaves none out.
create function leave_notice(log int4, said text) returns int8
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  id int8;
begin
  perform pg_advisory_xact_lock(hashtext('recorder.notice'), log);
  insert into notice (log_id, document) values (log, said) returning notice_id into id;
  return id;
end
$$;

-- Gives up a derivation that was begun and is not being worked at: what it
-- would read is about to go, and `recorder rederive` begins another.
create function give_up_building() returns boolean
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  log int4;
begin
  for log in select log_id from derivation where state = 'building' loop
    if not pg_try_advisory_xact_lock(hashtext('recorder.rederive'), log) then
      return false;
    end if;
    update derivation set state = 'former' where log_id = log and state = 'building';
  end loop;
  return true;
end
$$;

do $$
declare
  signature text;
begin
  foreach signature in array array[
    'seal_partition(text)', 'verified_day(text, int4, bytea, bytea, text, int8)',
    'archive_partition(text)', 'remove_dropped()', 'build_kept(text, text, jsonb)',
    'drop_partition(text, text)', 'prune_batches(int4, int4)',
    'forget_names(int4, text, int8, int4)', 'leave_notice(int4, text)',
    'give_up_building()']
  loop
    execute format('revoke all on function %s from public', signature);
    execute format('grant execute on function %s to recorder_retention', signature);
  end loop;
end
$$;
grant usage on schema recorder to recorder_retention;
grant select on all tables in schema recorder to recorder_retention;
grant select on archived_day, hold, hold_lifted, notice to recorder_writer, recorder_reader;
grant insert on hold, hold_lifted to recorder_retention;
