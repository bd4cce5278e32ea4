-- Evictions by who did them, and with audit records the requests, by user.
select f.cluster, get_json_object(f.detail, '$.new.reason') as how,
  coalesce(w.text, 'not recorded') as actor, count(distinct f.object_id) as evictions
from facts f
left join words w on w.log_uid = f.log_uid and w.day = f.day and w.word_id = f.actor_id
where f.fact = 'condition-changed'
  and get_json_object(f.detail, '$.type') = 'DisruptionTarget'
  and get_json_object(f.detail, '$.new.status') = 'True'
group by 1, 2, 3
union all
select e.cluster, 'requested', get_json_object(decode(e.raw, 'utf-8'), '$.user.username'),
  count(distinct get_json_object(decode(e.raw, 'utf-8'), '$.auditID'))
from entries e
where e.reason = 'create/eviction'
group by 1, 2, 3
order by 1, 2, 3
