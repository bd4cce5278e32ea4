"""Reads which workloads a log has: the tops of the owner chains of its Pods.

They follow from facts, by the indices of placements and of owners, so that a
page of a list names its workloads before anything else about them is read.
Gangs and bare Pods that wait, without a Pod on any node, are workloads too.
"""

from collections.abc import Sequence

from recorder.answers.nouns import WorkloadLife
from recorder.answers.queries import ALWAYS, WorkloadLives
from recorder.facts.projections import GANGS
from recorder.model.reference import ObjectIdentity
from recorder.store.engine import QuestionTooLargeError
from recorder.store.statement import question
from recorder.store.stored_facts import OF_EXTENT, SEEN_AT, ExtentReader

LIVES_MAX = 500_000
"""Workloads of one answer, about 300 MB; more would take half a minute."""

GROUPINGS = {"PodGroup"}
"""Kinds of gangs whose objects group the Pods of other workloads."""

# A Pod that was never bound is in no placement, and ends without a node. A
# schedule that creates work, and a queue that admits it, are not the work;
# Pods of a DaemonSet and of a Node belong to nodes. That an object may have
# appeared twice changes none of the sums. What waits has no Pod that was bound
# or has an owner; where nodes are asked for, it is left out.
LIVES = question(f"""
    with owned as materialized (
      select f.object_id, f.owner_id, {SEEN_AT} as seen_at, f.position
      from recorder.fact f
      where {OF_EXTENT} and f.kind = #appeared and f.owner_id is not null
        and {SEEN_AT} < :until
    ), above as materialized (
      select owned.object_id, owned.owner_id
      from owned
      join recorder.object o on o.object_id = owned.owner_id
      join recorder.kind k on k.kind_id = o.kind_id
      where owned.object_id in (select owner_id from owned)
        and k.name not in ('CronJob', 'Workload')
    ), placed as (
      select f.object_id, min({SEEN_AT}) as seen_at,
        min(f.position) as position,
        min({SEEN_AT}) filter (where f.kind in (#vanished, #ended))
          as ended_at,
        max({SEEN_AT}) filter (where f.kind in (#vanished, #ended,
          #deletion-requested)) as lost_at,
        max(f.node_id) as node_id
      from recorder.fact f
      where {OF_EXTENT} and f.node_id is not null and f.bearing = #daily
        and f.kind in (#appeared, #vanished, #deletion-requested, #bound,
          #ended)
        and {SEEN_AT} < :until
      group by f.object_id
    ), pod as materialized (
      select o.object_id, owned.owner_id, placed.ended_at, placed.lost_at,
        placed.node_id, placed.object_id is null as waited,
        least(placed.seen_at, owned.seen_at) as seen_at,
        least(placed.position, owned.position) as position
      from recorder.object o
      join recorder.kind k on k.kind_id = o.kind_id
      left join placed on placed.object_id = o.object_id
      left join owned on owned.object_id = o.object_id
      where o.log_id = :log and k.name = 'Pod'
        and (placed.object_id is not null or owned.object_id is not null)
    ), gone as materialized (
      select f.object_id, min({SEEN_AT}) as gone_at
      from recorder.fact f
      where {OF_EXTENT} and f.kind in (#vanished, #ended)
        and f.object_id = any (array(select object_id from pod where waited))
        and {SEEN_AT} < :until
      group by f.object_id
    ), troubled as materialized (
      select distinct f.object_id from recorder.fact f
      where :troubled::bool and {OF_EXTENT} and f.node_id is not null
        and (f.kind = #container-ended or f.bearing = #disruption)
        and f.recorded_at >= :since and {SEEN_AT} >= :since
        and {SEEN_AT} < :until
    ), life as (
      select coalesce(s3.owner_id, s2.owner_id, s1.owner_id, pod.owner_id,
          pod.object_id) as top_id,
        min(pod.seen_at) as began_at, min(pod.position) as position,
        case when count(*) = count(coalesce(pod.ended_at, gone.gone_at))
          then max(coalesce(pod.ended_at, gone.gone_at)) end as ended_at,
        bool_or(pod.node_id in (select n.node_id from recorder.node n
            where n.log_id = :log and n.name = any (:nodes::text[]))
          and coalesce(pod.ended_at >= :since, true)) as is_there,
        bool_or(coalesce(pod.lost_at, gone.gone_at) >= :since
          or troubled.object_id is not null
          or pod.node_id in (select n.node_id from recorder.node n
            where n.log_id = :log and n.name = any (:struck::text[]))
            and coalesce(pod.ended_at >= :since, true)) as is_troubled
      from pod
      left join gone on gone.object_id = pod.object_id
      left join troubled on troubled.object_id = pod.object_id
      left join above s1 on s1.object_id = pod.owner_id
      left join above s2 on s2.object_id = s1.owner_id
      left join above s3 on s3.object_id = s2.owner_id
      group by 1
    ), waiting as (
      select o.object_id
      from recorder.object o
      join recorder.kind k on k.kind_id = o.kind_id
      left join life on life.top_id = o.object_id
      left join pod on pod.object_id = o.object_id
      left join owned on owned.object_id = o.object_id
      left join recorder.object w on w.object_id = owned.owner_id
      left join recorder.kind of_owner on of_owner.kind_id = w.kind_id
      where o.log_id = :log and not :placed::bool and not :troubled::bool
        and (k.name = any (:gangs::text[])
          or k.name = 'Pod')
        and life.top_id is null and pod.object_id is null
        and coalesce(of_owner.name in ('CronJob', 'Workload'), true)
    ), idle as (
      select f.object_id as top_id,
        min({SEEN_AT}) filter (where f.kind = #appeared) as began_at,
        min(f.position) filter (where f.kind = #appeared) as position,
        min({SEEN_AT}) filter (where f.kind <> #appeared) as ended_at
      from recorder.fact f
      where {OF_EXTENT} and f.kind in (#appeared, #vanished, #ended)
        and f.object_id = any (array(select object_id from waiting))
        and {SEEN_AT} < :until
      group by 1
    ), listed as (
      select life.top_id, life.began_at, life.position, life.ended_at,
        true as has_pods
      from life
      where (life.is_there or not :placed::bool)
        and (life.is_troubled or not :troubled::bool)
      union all
      select idle.top_id, idle.began_at, idle.position, idle.ended_at,
        false as has_pods
      from idle
      where idle.began_at is not null
    )
    select k.api_group, k.name as kind, o.namespace, o.name, o.uid,
      listed.began_at, listed.position, listed.ended_at, listed.has_pods
    from listed
    join recorder.object o on o.object_id = listed.top_id
    join recorder.kind k on k.kind_id = o.kind_id
    where coalesce(listed.ended_at >= :since, true)
      and k.name not in ('DaemonSet', 'Node')
    order by listed.began_at, listed.position
    limit :most
""")


class LifeReader(ExtentReader):
    """Reads the workloads of one log, up to a size."""

    action = "read the workloads"

    async def lives(self, query: WorkloadLives) -> Sequence[WorkloadLife]:
        """Return the workloads of a window, the first begun first.

        Raises:
            QuestionTooLargeError: there are too many.
        """
        rows = await self._ask(
            LIVES,
            since=query.since or ALWAYS[0],
            until=query.until or ALWAYS[1],
            nodes=list(query.nodes or ()),
            placed=query.nodes is not None,
            struck=list(query.struck or ()),
            troubled=query.struck is not None,
            gangs=sorted(GANGS - GROUPINGS),
            most=LIVES_MAX + 1,
        )
        if len(rows) > LIVES_MAX:
            msg = (
                f"cannot read the workloads: there are more than"
                f" {LIVES_MAX:,}; ask for a shorter time"
            )
            raise QuestionTooLargeError(msg)
        return [
            WorkloadLife(
                top=ObjectIdentity(*row[:5]),
                began_at=row.began_at,
                position=row.position,
                ended_at=row.ended_at,
                has_pods=row.has_pods,
            )
            for row in rows
        ]
