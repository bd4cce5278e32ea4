-- Statements that stay when their day is dropped: audit records, Events and
-- silences of Leases, each with all of its facts. `longer` names them beside
-- the kinds of objects of which the facts stay: {"Node": "730 days",
-- "Event": "30 days", "audit/delete": "365 days"}.

-- What is a statement of its own, of which a policy may say how long it stays.
-- Operations are those of recorder/store/codes.py. Without a search path of its
-- own, so that it becomes part of the query that it is used in.
create function statements(since timestamptz, until timestamptz)
returns table (log_id int4, "position" int8, name text, reason_id int4,
  object_id int8, recorded_at timestamptz)
language sql stable as $$
  select e.log_id, e.position,
    case e.operation when 10 then 'audit' when 6 then 'Lease' else 'Event' end,
    e.reason_id, e.object_id, e.recorded_at
  from recorder.entry e
  where e.recorded_at >= since and e.recorded_at < until
    and (e.operation in (6, 10) or e.operation <= 5 and e.resource_id = any (array(
      select r.resource_id from recorder.resource r
      where r.name in ('v1/events', 'events.k8s.io/v1/events'))))
$$;

-- What rules keep of a time beyond its days, and by which: the first of them
-- where it is several.
create function rows_to_keep(since timestamptz, until timestamptz, longer jsonb)
returns table (log_id int4, "position" int8, rule text)
language sql stable security definer set search_path = recorder, pg_catalog, pg_temp as $$
  with rules as (
    select l.key as rule, t.name, t.reason, w.word_id, l.value::interval as span
    from jsonb_each_text(longer) l
    cross join lateral (select split_part(l.key, '/', 1) as name,
      substr(l.key, nullif(strpos(l.key, '/'), 0) + 1) as reason) t
    left join word w on w.text = t.reason)
  select s.log_id, s.position, min(r.rule)
  from statements(since, until) s
  join rules r on r.name = s.name
    and (r.reason is null or s.reason_id = r.word_id)
    and s.recorded_at >= clock_timestamp() - r.span
  group by s.log_id, s.position
$$;

-- What rules take out of a day, but for what is kept longer: what is about a
-- kind of objects, and what a more particular rule names.
create or replace function rows_to_thin(wanted text, asked jsonb)
returns table (log_id int4, "position" int8, rule text)
language sql stable security definer set search_path = recorder, pg_catalog, pg_temp as $$
  with p as (select * from partition where name = wanted),
  rules as (
    select r.rule, r.name, w.word_id, r.reason
    from jsonb_to_recordset(asked -> 'rules') as r(rule text, name text, reason text)
    left join word w on w.text = r.reason),
  doomed as (
    select s.log_id, s.position, min(r.rule) as rule
    from p join statements(p.lower, p.upper) s on true
    join rules r on r.name = s.name
      and (r.reason is null or s.reason_id = r.word_id)
    left join object o on o.object_id = s.object_id
    left join kind k on k.kind_id = o.kind_id
    left join word w on w.word_id = s.reason_id
    where (k.name is null or not asked -> 'longer' ? k.name)
      and (w.text is null or not asked -> 'longer' ? (r.name || '/' || w.text))
    group by s.log_id, s.position),
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

-- Builds what is kept of everything before the end of a day, as it did, and
-- statements that stay longer.
create or replace function build_kept(wanted text, unarchived text, longer jsonb) returns void
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

  create temp table kept_statement on commit drop as
    select s.log_id, s.position from rows_to_keep('-infinity', p.upper, longer) s;
  create unique index on kept_statement (log_id, position);
  analyze kept_statement;

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
        and f.at >= clock_timestamp() - l.value::interval
      union all
      select f.derivation_id, f.position, f."index", true
      from kept_statement s
      join derivation d on d.log_id = s.log_id and d.state = 'current'
      join fact f on f.derivation_id = d.derivation_id and f.position = s.position
      where f.recorded_at < p.upper) t
    join derivation d using (derivation_id)
    where d.state = 'current'
    group by derivation_id, position, "index";
  create unique index on kept_fact (derivation_id, position, "index");
  analyze kept_fact;

  create temp table kept_entry on commit drop as
    select log_id, position from kept_object
    union select log_id, position from kept_statement
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
  drop table kept_object, kept_node, kept_statement, kept_fact, kept_entry;
end
$$;

revoke all on function statements(timestamptz, timestamptz) from public;
revoke all on function rows_to_keep(timestamptz, timestamptz, jsonb) from public;
grant execute on function rows_to_keep(timestamptz, timestamptz, jsonb)
  to recorder_retention;
