-- Reboots by month; prepared if the node was cordoned in the hour before.
with boots as (
  select f.log_uid, f.cluster, f.day, f.node_id, f.position, max(c.at) as cordoned_at
  from facts f
  left join facts c on c.log_uid = f.log_uid and c.node_id = f.node_id
    and c.fact = 'cordoned' and c.at between f.at - interval '1' hour and f.at
  where f.fact = 'boot-changed'
  group by f.log_uid, f.cluster, f.day, f.node_id, f.position
)
select cast(date_trunc('month', b.day) as date) as month, b.cluster, n.name as node,
  count(*) as reboots, count(b.cordoned_at) as prepared
from boots b
join nodes n on n.log_uid = b.log_uid and n.day = b.day and n.node_id = b.node_id
group by 1, 2, 3
order by 1, 2, 3
