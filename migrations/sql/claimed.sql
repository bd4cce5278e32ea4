-- What other systems claim is a kind of fact.

create or replace view history.facts as
select
  d.log_id || '/' || f.position as entry,
  f.index,
  d.log_id as log,
  l.cluster_name as cluster,
  f.position,
  case f.kind
    when 1 then 'appeared' when 2 then 'vanished'
    when 3 then 'deletion-requested' when 4 then 'condition-changed'
    when 5 then 'label-changed' when 6 then 'annotation-changed'
    when 7 then 'field-changed' when 8 then 'boot-changed'
    when 9 then 'machine-changed' when 10 then 'tainted'
    when 11 then 'untainted' when 12 then 'cordoned'
    when 13 then 'uncordoned' when 14 then 'resource-changed'
    when 15 then 'lease-silent' when 16 then 'bound' when 17 then 'started'
    when 18 then 'ended' when 19 then 'container-ended' when 20 then 'event'
    when 21 then 'requested' when 22 then 'unreadable'
    when 23 then 'claimed'
  end as fact,
  n.name as node,
  k.api_group,
  k.name as kind,
  nullif(o.namespace, '') as namespace,
  o.name,
  o.uid,
  f.at,
  case when f.observed_at is not null then f.at end as occurred_at,
  coalesce(f.observed_at, f.at) as observed_at,
  f.recorded_at,
  actor.text as actor,
  topic.text as topic,
  f.bearing = 3 as is_disruption,
  history.detail(f.detail) as detail
from recorder.fact f
join recorder.derivation d
  on d.derivation_id = f.derivation_id and d.state = 'current'
join recorder.log l on l.log_id = d.log_id
left join recorder.object o on o.object_id = f.object_id
left join recorder.kind k on k.kind_id = o.kind_id
left join recorder.node n on n.node_id = f.node_id
left join recorder.word actor on actor.word_id = f.actor_id
left join recorder.word topic on topic.word_id = f.topic_id;
