"""Reads the Pods that were on nodes, and what they belong to."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise

from recorder.answers.queries import (
    ALWAYS,
    DisplacedPods,
    PodsOn,
    Tenants,
)
from recorder.store.read_ports import IN_TIME
from recorder.store.statement import question
from recorder.store.stored_facts import (
    BEFORE,
    COLUMNS,
    OF_EXTENT,
    OF_NODES,
    SEEN_AT,
    ExtentReader,
    facts_where,
    named,
)

DEPTH_MAX = 4
"""Steps from a workload down to its Pods, and up again."""

TOGETHER = timedelta(minutes=1)
"""Between the eviction of a workload by its queue and that of its Pods, and
between the end of a Pod and the one in its place."""

# Only kinds and columns of the index `fact_by_placing`, so that no row is
# read. A Pod that was bound later or ended before was not there; a fact that
# is dated days later shows neither, with any error of clocks.
PLACED = question(f"""
    with stay as (
      select n.node_id, s.since, s.until
      from unnest(:nodes::text[], :begins::timestamptz[], :ends::timestamptz[])
        s (name, since, until)
      join recorder.node n on n.log_id = :log and n.name = s.name
    ), pod as (
      select f.node_id, f.object_id,
        min(least(f.at, f.observed_at))
          filter (where f.kind in (#appeared, #bound)) as bound_at,
        min({SEEN_AT})
          filter (where f.kind in (#vanished, #ended)) as ended_at
      from recorder.fact f
      where f.position <= :size and f.derivation_id = :derivation
        and {OF_NODES} and f.bearing = #daily and f.kind in (#appeared,
          #vanished, #deletion-requested, #bound, #ended)
        and f.at < (select max(stay.until) from stay) + interval '2 days'
      group by f.node_id, f.object_id
    )
    select distinct o.uid
    from stay join pod on pod.node_id = stay.node_id
      and (pod.bound_at is null or pod.bound_at <= stay.until)
      and (pod.ended_at is null or pod.ended_at >= stay.since)
    join lateral (select uid from recorder.object
      where object_id = pod.object_id offset 0) o on o.uid is not null
""")
# Of the kinds of that index too.
TENANTS = question(f"""
    select distinct n.name, o.namespace
    from (
      select distinct f.node_id, f.object_id from recorder.fact f
      where {OF_EXTENT} and {OF_NODES} and f.bearing = #daily
        and f.kind in (#appeared, #bound)
      offset 0) f, lateral (
      select name from recorder.node where node_id = f.node_id offset 0) n,
      lateral (
      select namespace from recorder.object
      where object_id = f.object_id offset 0) o
""")
# A condition of the Pod shows it; or it was deleted before it ended, and its
# controller, or another of its name, made another; or an Event of another
# scheduler, which names the Pod and seldom its node; or a queue shows it of
# the workload, and its Pods go a moment later. No index leads to Events
# without a node, but to the Pods that were deleted on the nodes. A rollout
# deletes thousands that their own controller does not replace: what came next
# is found for all in one pass, since one controller may have made them all.
DISPLACED = question(f"""
    with evicted as materialized (
      select distinct {SEEN_AT} as at from recorder.fact f
      where {OF_EXTENT} and f.mark = #evicted and f.node_id is null
        and {IN_TIME}
    ), deleted as materialized (
      select f.object_id from recorder.fact f
      where {OF_EXTENT} and {OF_NODES} and f.bearing = #daily
        and f.kind in (#vanished, #deletion-requested, #ended)
        and {IN_TIME}
      group by f.object_id
      having min(f.position) filter (where f.kind <> #ended)
        <= coalesce(min(f.position) filter (where f.kind = #ended), :size)
    ), life as materialized (
      select f.object_id, max(f.owner_id) as owner_id,
        coalesce(
          min({SEEN_AT}) filter (where f.kind = #deletion-requested),
          min({SEEN_AT}) filter (where f.kind = #appeared and f.mark is null),
          min({SEEN_AT}) filter (where f.kind = #vanished)) as deleted_at,
        min({SEEN_AT}) filter (where f.kind in (#vanished, #ended))
          as ended_at
      from recorder.fact f
      where {OF_EXTENT} and f.kind in (#appeared, #vanished,
          #deletion-requested, #ended)
        and f.object_id = any (array(select object_id from deleted))
      group by f.object_id
    ), maker as materialized (
      select o.object_id from (
        select distinct kind_id, namespace, name from recorder.object
        where object_id = any (array(select owner_id from life))) called
      join recorder.object o on o.log_id = :log
        and o.kind_id = called.kind_id and o.namespace = called.namespace
        and o.name = called.name
    ), made as (
      select object_id, ended_at, deleted_at, min(made_at)
        over (partition by kind_id, namespace, name order by deleted_at desc,
          made_at nulls last rows unbounded preceding) as next_at
      from (
        select object_id, owner_id, deleted_at, null as made_at,
          coalesce(ended_at, deleted_at) as ended_at
        from life
        union all
        select null, f.owner_id, {SEEN_AT}, {SEEN_AT}, null
        from recorder.fact f
        where {OF_EXTENT} and f.kind = #appeared and f.mark = #created
          and f.owner_id = any (array(select object_id from maker))) t,
      lateral (select kind_id, namespace, name from recorder.object
        where object_id = t.owner_id offset 0) o
    ), pod as (
      select f.object_id from recorder.fact f
      where {OF_EXTENT} and {OF_NODES} and f.bearing = #disruption
        and {SEEN_AT} >= :since and {SEEN_AT} < :until
      union
      select f.object_id from recorder.fact f
      where {OF_EXTENT} and {OF_NODES} and f.mark = #preempted
        and {IN_TIME}
      union
      select object_id from made where object_id is not null
        and next_at <= greatest(ended_at, deleted_at) + :together::interval
      union
      select e.object_id from recorder.fact e
      where e.derivation_id = :derivation and e.position + 0 <= :size
        and e.mark = #preempted and e.node_id is null
        and e.at >= :since and e.at < :until
        and e.object_id = any (array(select f.object_id from recorder.fact f
          where {OF_EXTENT} and {OF_NODES} and f.bearing = #daily
            and f.kind in (#vanished, #deletion-requested)
            and {IN_TIME}))
      union
      select f.object_id from recorder.fact f
      where (select count(*) from evicted) > 0 and {OF_EXTENT} and {OF_NODES}
        and f.bearing = #daily and f.kind in (#appeared, #deletion-requested)
        and exists (select from evicted where {SEEN_AT}
          between evicted.at - :together::interval
            and evicted.at + :together::interval)
    )
    select distinct o.uid from pod, lateral (select uid from recorder.object
      where object_id = pod.object_id offset 0) o
    where o.uid is not null
""")
LIVES = facts_where("""f.kind in (#appeared, #vanished)
      and f.object_id = any (array(
        select o.object_id from recorder.object o
        where o.log_id = :log and o.uid = any (:uids::text[])))""")
ASKED = """
    asked_0 (object_id) as (
      select o.object_id from recorder.object o
      where o.uid = any (:uids::text[]) and o.log_id = :log)"""
# Each step reads all objects of the previous step at once: one at a time, each
# would be looked up in every partition. An owner need not be the controller.
OWNERS = f"""
      select distinct o.object_id from (
        select distinct unnest(f.owners) as uid
        from recorder.fact f
        where {OF_EXTENT} and f.kind in (#appeared, #vanished)
          and f.object_id = any (array(select object_id from {{before}}))
        offset 0) f, lateral (
        select object_id from recorder.object
        where log_id = :log and uid = f.uid offset 0) o"""
# A controller makes what it owns again under its name. Facts of an owner lead
# to what is above it; where it has none, its name leads to its other lives.
CALLED = f"""
      select object_id from owner union
      select again.object_id from (
        select object_id from owner except
        select f.object_id from recorder.fact f
        where {OF_EXTENT} and f.kind = #appeared
          and f.object_id = any (array(select object_id from owner))
        offset 0) unseen, lateral (
        select kind_id, namespace, name from recorder.object
        where object_id = unseen.object_id offset 0) o, lateral (
        select object_id from recorder.object
        where log_id = :log and kind_id = o.kind_id
          and namespace = o.namespace and name = o.name offset 0) again"""
OWNED = """
      select distinct f.object_id from recorder.fact f
      where f.owner_id = any (array(select object_id from {before}))"""


def _steps(name: str, step: str, found: str) -> str:
    """Return the CTEs of the steps from `name`_0 on, and their union."""
    steps = [f"{name}_{depth}" for depth in range(DEPTH_MAX + 1)]
    tables = [
        f"{here} (object_id) as ({step.format(before=before)})"
        for before, here in pairwise(steps)
    ]
    union = " union ".join(f"select object_id from {step}" for step in steps)
    return ", ".join([*tables, f"{found} (object_id) as ({union})"])


# Without audit records, and of Events only those that say why a Pod went.
OF_FAMILY = f"""
    select {COLUMNS} from recorder.fact f
    where {OF_EXTENT} and f.kind <> #requested
      and (f.kind <> #event or f.mark = #preempted)
      and {BEFORE}
      and f.object_id = any (array(select object_id from family))
"""
# How they appeared, ran and ended. Of conditions, why a Pod was evicted and
# how its owner ended; every Pod has the others.
OF_LIVES = f"""{OF_FAMILY}
      and (f.kind in (#appeared, #vanished, #deletion-requested, #bound,
          #started, #ended, #container-ended)
        or f.mark in (#outcome, #preempted, #evicted))
"""
FAMILY = named(
    OF_FAMILY, before=f"{ASKED}, {_steps('asked', OWNED, 'family')},"
)
FAMILIES = named(
    OF_LIVES,
    before=f"""{ASKED}, {_steps("asked", OWNERS, "owner")},
      top_0 (object_id) as ({CALLED}), {_steps("top", OWNED, "family")},""",
)


class PodReader(ExtentReader):
    """Reads which Pods were on the nodes of one log, up to a size."""

    action = "read the Pods"

    async def pods_on(self, query: PodsOn) -> Sequence[str]:
        """Return the UIDs of the Pods that may have been on nodes then."""
        stays = query.stays
        if not stays:
            return []
        return await self._texts(
            PLACED,
            nodes=[stay.node for stay in stays],
            begins=[stay.since for stay in stays],
            ends=[stay.until for stay in stays],
        )

    async def displaced(self, query: DisplacedPods) -> Sequence[str]:
        """Return the UIDs of the Pods that were evicted or preempted."""
        return await self._texts(
            DISPLACED,
            nodes=list(query.nodes),
            since=query.since or ALWAYS[0],
            until=query.until or ALWAYS[1],
            together=TOGETHER,
        )

    async def tenants(self, query: Tenants) -> Mapping[str, Collection[str]]:
        """Return the namespaces of all Pods that each node ran."""
        found: dict[str, set[str]] = {}
        if query.names:
            rows = await self._ask(TENANTS, nodes=list(query.names))
            for node, namespace in rows:
                found.setdefault(node, set()).add(namespace)
        return found
