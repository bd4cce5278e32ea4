-- Indices that lead to what a question asks for, and to little else.
--
-- Built in one go: the recorder waits until it is done, and resumes.

set local statement_timeout = '1h';

-- Which Nodes were given a label: 5 is a changed label. Kubernetes allows 63
-- characters; of what has more the rest is compared in the row.
create index fact_by_label on fact (log_id, left(detail ->> 'new', 63))
  where kind = 5 and evidence and node_id is not null;

-- Who stands where: a rack is one value of thousands. All of them are read by
-- an index that a value alone does not lead to, 1 being what appeared.
drop index fact_by_place;
create index fact_by_place on fact (log_id) where kind = 1 and place is not null;
create index fact_by_standing on fact using gin (place)
  with (fastupdate = off) where place is not null;

-- What a first list showed beside Nodes and their Pods: who held a lock.
create index fact_by_listing on fact (log_id, at)
  where kind = 1 and node_id is null and detail ->> 'created' = 'false';

-- Pods that had to go, kind 4, are most of what may be evidence of a node, and
-- count only around what happened to it: by when they were seen.
drop index fact_by_disruption;
create index fact_by_disruption on fact (node_id, observed_at)
  where kind = 4 and evidence and not sign and node_id is not null
    and detail ->> 'type' = 'DisruptionTarget';
create index fact_by_preemption on fact (node_id, at)
  where kind = 4 and evidence and not sign and node_id is not null
    and detail -> 'new' ->> 'reason' = 'PreemptionByScheduler';
drop index fact_by_evidence;
create index fact_by_evidence on fact (node_id, at)
  where evidence and node_id is not null
    and (kind <> 4 or sign or detail ->> 'type' <> 'DisruptionTarget');
