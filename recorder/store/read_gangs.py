"""Reading: Pods that were on nodes, and all that they belong to."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY, INTERVAL, TEXT, TIMESTAMP
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.model.fact import FactKind, StoredFact
from recorder.report.fact_ports import ALWAYS, Stay
from recorder.store.codes import FACT_CODES
from recorder.store.engine import asking
from recorder.store.read_facts import of_current_derivation
from recorder.store.stored_facts import FactNames
from recorder.store.tables import among, fact, kind, node, object_

__all__ = ["GangReader"]

DEPTH_MAX = 4
"""Steps from what a person asked for down to its Pods."""

TOGETHER = timedelta(minutes=1)
"""Between the eviction of a workload by its queue and that of its Pods."""

SPOKEN = (FACT_CODES[FactKind.EVENT], FACT_CODES[FactKind.REQUESTED])

# The kinds of the index `fact_by_placing`: of these rows nothing else is
# read. Who was bound later or had ended before cannot have been there.
PLACED = text("""
    with current as materialized (
      select derivation_id from recorder.derivation
      where log_id = :log and state = 'current'
    ), stay as (
      select n.node_id, s.since, s.until
      from unnest(:nodes, :sinces, :untils) s (name, since, until)
      join recorder.node n on n.log_id = :log and n.name = s.name
    ), pod as (
      select f.node_id, f.object_id,
        min(least(f.at, f.observed_at)) filter (where f.kind in (1, 16))
          as bound_at,
        min(f.observed_at) filter (where f.kind in (2, 18)) as ended_at
      from recorder.fact f
      where f.node_id = any (array(select node_id from stay))
        and not f.evidence and f.kind in (1, 2, 3, 16, 18)
        and f.derivation_id = (select derivation_id from current)
        and f.position <= :size
      group by f.node_id, f.object_id
    )
    select distinct o.uid
    from stay join pod on pod.node_id = stay.node_id
      and (pod.bound_at is null or pod.bound_at <= stay.until)
      and (pod.ended_at is null or pod.ended_at >= stay.since)
    join recorder.object o on o.object_id = pod.object_id
    where o.uid is not null
""").bindparams(
    bindparam("nodes", type_=ARRAY(TEXT)),
    bindparam("sinces", type_=ARRAY(TIMESTAMP(timezone=True))),
    bindparam("untils", type_=ARRAY(TIMESTAMP(timezone=True))),
)
# By the scheduler, which the Pod tells itself; or by a queue, which tells it
# of the workload, and whose Pods go a moment later.
PREEMPTED = text("""
    with current as materialized (
      select derivation_id from recorder.derivation
      where log_id = :log and state = 'current'
    )
    select f.observed_at, null as uid from recorder.fact f
    where f.log_id = :log and f.kind = 4 and f.node_id is null
      and f.detail ->> 'type' = 'Evicted'
      and f.detail -> 'new' ->> 'reason' = 'Preempted'
      and f.at >= :since and f.at < :until
      and f.derivation_id = (select derivation_id from current)
      and f.position <= :size
    union all
    select null, o.uid from recorder.fact f
    join recorder.object o on o.object_id = f.object_id
    where f.node_id = any (array(select n.node_id from recorder.node n
        where n.log_id = :log and n.name = any (:nodes)))
      and f.kind = 4 and f.evidence and not f.sign
      and f.detail -> 'new' ->> 'reason' = 'PreemptionByScheduler'
      and f.at >= :since and f.at < :until
      and f.derivation_id = (select derivation_id from current)
      and f.position <= :size
""").bindparams(
    bindparam("nodes", type_=ARRAY(TEXT)),
    bindparam("since", type_=TIMESTAMP(timezone=True)),
    bindparam("until", type_=TIMESTAMP(timezone=True)),
)
GONE_AT = text("""
    select distinct o.uid
    from recorder.fact f join recorder.object o on o.object_id = f.object_id
    where f.node_id = any (array(select n.node_id from recorder.node n
        where n.log_id = :log and n.name = any (:nodes)))
      and not f.evidence and f.kind in (1, 3)
      and exists (select from unnest(:times) evicted (at)
        where f.observed_at between at - :together and at + :together)
      and f.derivation_id = (
        select d.derivation_id from recorder.derivation d
        where d.log_id = :log and d.state = 'current')
      and f.position <= :size
""").bindparams(
    bindparam("nodes", type_=ARRAY(TEXT)),
    bindparam("times", type_=ARRAY(TIMESTAMP(timezone=True))),
    bindparam("together", type_=INTERVAL),
)
# Step by step through the index: asked for as one join, the planner would
# rather read every object that has an owner.
FAMILY = text("""
    with recursive family (object_id, depth) as (
      select o.object_id, 0 from recorder.object o
      where o.uid = any (:uids) and o.log_id = :log
      union
      select child.object_id, family.depth + 1
      from family, lateral (
        select f.object_id from recorder.fact f
        where f.owner_id = family.object_id and f.log_id = :log
        offset 0) child
      where family.depth < :depth
    )
    select distinct object_id from family
""").bindparams(bindparam("uids", type_=ARRAY(TEXT)))


class GangReader:
    """Reads the Pods and owners of one log up to a size."""

    def __init__(
        self, engine: AsyncEngine, log: int, size: int, names: FactNames
    ) -> None:
        self._engine = engine
        self._log = log
        self._size = size
        self._names = names

    async def pods_on(self, stays: Collection[Stay]) -> set[str]:
        """Give the UIDs of all Pods that may have been on nodes then."""
        if not stays:
            return set()
        values = {
            "log": self._log,
            "size": self._size,
            "nodes": [stay.node for stay in stays],
            "sinces": [stay.since for stay in stays],
            "untils": [stay.until for stay in stays],
        }
        async with asking(self._engine, "read the Pods") as connection:
            return set((await connection.execute(PLACED, values)).scalars())

    async def preempted(
        self,
        nodes: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> set[str]:
        """Give the UIDs of all Pods that may have made room for others."""
        asked = {
            "log": self._log,
            "size": self._size,
            "nodes": list(nodes),
        }
        first, last = since or ALWAYS[0], until or ALWAYS[1]
        async with asking(self._engine, "read the Pods") as connection:
            rows = await connection.execute(
                PREEMPTED, {**asked, "since": first, "until": last}
            )
            found = set(rows.all())
            uids = {row.uid for row in found if row.uid is not None}
            times = [row.observed_at for row in found if row.observed_at]
            if times:
                more = {"times": times, "together": TOGETHER}
                gone = await connection.execute(GONE_AT, {**asked, **more})
                uids.update(uid for uid in gone.scalars() if uid is not None)
        return uids

    async def lives(self, uids: Collection[str]) -> Sequence[StoredFact]:
        """Give how objects of these UIDs came and went."""
        return await self._told(
            fact.c.object_id.in_(
                select(object_.c.object_id).where(
                    object_.c.log_id == self._log, among(object_.c.uid, uids)
                )
            ),
            fact.c.kind.in_(
                (FACT_CODES[FactKind.APPEARED], FACT_CODES[FactKind.VANISHED])
            ),
        )

    async def family(
        self, uids: Collection[str], *, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Give all about objects of these UIDs and what they control.

        But not what Events and audit say of them.
        """
        numbers = await self._family(uids)
        asked: list[ColumnElement[bool]] = [
            among(fact.c.object_id, numbers),
            fact.c.kind.not_in(SPOKEN),
        ]
        if until is not None:
            asked.append(fact.c.at < until)
        return await self._told(*asked)

    async def pods_of(
        self, nodes: Collection[str], *, since: datetime | None
    ) -> set[str]:
        """Give the UIDs of all Pods of which nodes have facts."""
        numbers = select(node.c.node_id).where(
            node.c.log_id == self._log, among(node.c.name, nodes)
        )
        named = select(fact.c.object_id).where(
            fact.c.node_id.in_(numbers),
            fact.c.position <= self._size,
            of_current_derivation(self._log),
        )
        if since is not None:
            named = named.where(fact.c.at >= since)
        query = (
            select(object_.c.uid)
            .join(kind, kind.c.kind_id == object_.c.kind_id)
            .where(kind.c.name == "Pod", object_.c.uid.is_not(None))
            .where(object_.c.object_id.in_(named.distinct()))
        )
        async with asking(self._engine, "read the Pods") as connection:
            return set(await connection.scalars(query))

    async def last_of(self, uids: Collection[str]) -> datetime | None:
        """Give when anything of these and what they control was observed."""
        numbers = await self._family(uids)
        query = select(func.max(fact.c.observed_at)).where(
            among(fact.c.object_id, numbers),
            fact.c.position <= self._size,
            of_current_derivation(self._log),
        )
        async with asking(self._engine, "read the facts") as connection:
            found: datetime | None = await connection.scalar(query)
            return found

    async def _family(self, uids: Collection[str]) -> Sequence[int]:
        values = {"log": self._log, "uids": list(uids), "depth": DEPTH_MAX}
        async with asking(self._engine, "read the Pods") as connection:
            found = await connection.execute(FAMILY, values)
            return found.scalars().all()

    async def _told(self, *asked: ColumnElement[bool]) -> Sequence[StoredFact]:
        wanted = [
            *asked,
            fact.c.position <= self._size,
            of_current_derivation(self._log),
        ]
        async with asking(self._engine, "read the facts") as connection:
            return await self._names.facts(connection, wanted)
