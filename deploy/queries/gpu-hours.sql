-- GPU-hours by namespace: a Pod holds its GPUs from its binding to its end.
with pods as (
  select f.log_uid, f.object_id, o.cluster, o.namespace,
    max(cast(get_json_object(f.detail, '$.state.gpus') as integer)) as gpus,
    min(case when f.fact = 'bound' or (f.fact = 'appeared' and f.node_id is not null) then f.at end) as held_from,
    min(case when f.fact in ('ended', 'vanished') then f.at end) as held_until
  from facts f
  join objects o on o.log_uid = f.log_uid and o.day = f.day and o.object_id = f.object_id
  where o.kind = 'Pod' and f.fact in ('appeared', 'bound', 'ended', 'vanished')
  group by f.log_uid, f.object_id, o.cluster, o.namespace
), logs as (
  select f.log_uid, max(f.at) as last_fact from facts f group by f.log_uid
)
select p.cluster, p.namespace, count(*) as pods,
  sum(p.gpus * (unix_micros(coalesce(p.held_until, l.last_fact)) - unix_micros(p.held_from))) / 3.6e9 as gpu_hours
from pods p
join logs l on l.log_uid = p.log_uid
where p.gpus > 0 and p.held_from is not null
group by 1, 2
order by 1, 2
