"""Reading: facts, by node, by object and by what they are signs of.

Facts come from one derivation alone, in the order of the log. A window
selects by when something happened, which an index per day answers.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

import orjson
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.explain.needs import ObjectName
from recorder.model.fact import StoredFact
from recorder.model.reference import EntryName
from recorder.report.fact_ports import ALWAYS, FactsEnd, Stay
from recorder.store.engine import Record, fetch
from recorder.store.read_labels import (
    APPEARED_STANDING,
    LABELS,
    LABELS_OF_PLACE,
    followed,
    says_where,
)
from recorder.store.stored_facts import (
    COLUMNS,
    OF_EXTENT,
    OF_NODES,
    ExtentReader,
    named,
    told,
)

__all__ = ["FactReader", "facts_end"]

IN_TIME = "f.at >= $5 and f.at < $6"
# Kinds are those of recorder/store/codes.py, as literals, so that the planner
# knows the partial indices: 6 is a changed annotation.
UNPLACED = "f.kind = 6 and f.node_id is null"
OF_LOCKS = "f.detail ->> 'key' like any ($7::text[])"

# What Pods had to go is a sign only around others, and is asked for there. The
# index holds nothing of it: 4 is a changed condition.
UNDISRUPTED = """(f.kind <> 4 or f.sign
      or f.detail ->> 'type' <> 'DisruptionTarget')"""

# What a first list showed, kind 1: by it a lock is known that was held before.
HELD = f"""f.kind = 1 and f.node_id is null
      and f.detail ->> 'created' = 'false' and {IN_TIME}
      and exists (select from
        jsonb_object_keys(f.detail -> 'state' -> 'annotations') lock (key)
        where lock.key like any ($7::text[]))"""

ALL_OF_NODES = told(
    f"{OF_NODES} and {IN_TIME}", f"{UNPLACED} and {IN_TIME}", HELD
)
EVIDENCE = told(
    f"{OF_NODES} and f.evidence and {UNDISRUPTED} and {IN_TIME}",
    f"{UNPLACED} and {OF_LOCKS} and {IN_TIME}",
    HELD,
)
DISRUPTED = named(f"""
    select {COLUMNS}
    from unnest($4::text[], $5::timestamptz[], $6::timestamptz[])
      stay (name, since, until)
    join recorder.node n on n.log_id = $1 and n.name = stay.name,
    lateral (select * from recorder.fact f
      where {OF_EXTENT} and f.node_id = n.node_id
        and f.observed_at between stay.since and stay.until
        and f.kind = 4 and f.evidence and not f.sign
        and f.detail ->> 'type' = 'DisruptionTarget'
        and f.at >= $7 and f.at < $8 offset 0) f
""")
# 21 is an audit record. Whether the log knows the kind of what it names or
# only the plural, group and name are the same.
REQUESTS = named(f"""
    select {COLUMNS}
    from unnest($4::text[], $5::text[], $6::text[])
      wanted (api_group, namespace, name)
    join recorder.kind k on k.api_group = wanted.api_group
    join recorder.object o on o.log_id = $1 and o.kind_id = k.kind_id
      and o.namespace = wanted.namespace and o.name = wanted.name,
    lateral (select * from recorder.fact f
      where {OF_EXTENT} and f.object_id = o.object_id and f.node_id is null
        and f.kind = 21 and f.at >= $7 and f.at < $8 offset 0) f
""")
SIGNS = told("f.sign and f.at >= $4 and f.at < $5")
# By the kinds 15, 8, 4 and 1: the last renewal before a silence, a new boot,
# a Node of which Ready turned Unknown or was it, one that appeared.
LOSSES = named(f"""
    select {COLUMNS.replace("f.detail", "t.detail")}
    from recorder.fact f, lateral (select case when f.kind = 1
      then jsonb_build_object('state', jsonb_build_object(
        'labels', f.place, 'conditions', jsonb_strip_nulls(jsonb_build_object(
          'Ready', f.detail -> 'state' -> 'conditions' -> 'Ready'))))
      else f.detail end as detail) t
    where {OF_EXTENT} and f.sign and f.at >= $4 and f.at < $5
      and (f.kind in (8, 15) or f.kind = 1 and f.place is not null
        or f.kind = 4 and f.detail ->> 'type' = 'Ready'
          and (f.detail -> 'new' ->> 'status' = 'Unknown')
            is distinct from (f.detail -> 'old' ->> 'status' = 'Unknown'))
""")
STIRRED = f"""
    select n.name from (
      select distinct f.node_id from recorder.fact f
      where {OF_EXTENT} and f.sign and f.at >= $4 and f.at < $5
        and f.observed_at >= $6
        and (f.kind <> 1 or (f.detail -> 'created')::boolean)) t
    join recorder.node n on n.node_id = t.node_id
"""
STIRRED_NEAR = f"""
    select n.name from (
      select distinct f.node_id from recorder.fact f
      where {OF_EXTENT} and {OF_NODES} and f.evidence and f.sign
        and {IN_TIME} and f.kind <> 1
        and exists (select from unnest($7::timestamptz[]) given (at)
          where f.observed_at between given.at - $8::interval
            and given.at + $8::interval)) t
    join recorder.node n on n.node_id = t.node_id
"""
LAST_SIGN = f"""
    select max(f.at) from recorder.fact f
    where {OF_EXTENT} and f.evidence and f.sign and f.at < $5
      and f.node_id = (select n.node_id from recorder.node n
        where n.log_id = $1 and n.name = $4)
"""
# As one text: rows of five thousand nodes would take longer. Of two members
# of one name the second counts.
PLACES = f"""
    select json_object_agg(n.name, f.place::json order by f.position)::text
    from recorder.fact f join recorder.node n on n.node_id = f.node_id
    where {OF_EXTENT} and {{which}}
"""
PLACES_OF_ALL = PLACES.format(which="f.kind = 1 and f.place is not null")
PLACES_OF_NODES = PLACES.format(which=f"{APPEARED_STANDING} and {OF_NODES}")
OBSERVED = """
    select observed_at from recorder.entry
    where log_id = $1 and position = $2
"""


class FactReader(ExtentReader):
    """Reads the facts of one log up to a size."""

    action = "read the facts"

    async def end(self) -> FactsEnd | None:
        """Return where facts end; None where every entry has its own."""
        extent = self._extent
        return await facts_end(
            self._engine, extent.log, extent.size, extent.built_to
        )

    async def of_nodes(
        self,
        names: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
        locks: Collection[str] = (),
    ) -> Sequence[StoredFact]:
        """Return what concerns nodes, and what may: locks that name one.

        ``locks`` are keys of annotations, which may hold ``*``, of locks that
        may be held when they are listed first.
        """
        asked = list(names), *_span(since, until), _patterns(locks)
        return await self._facts(ALL_OF_NODES, *asked)

    async def evidence(
        self,
        names: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
        locks: Collection[str],
    ) -> Sequence[StoredFact]:
        """Return of that what may tell what happened to the nodes.

        But not that their Pods had to go. ``locks`` are keys of annotations,
        which may hold ``*``.
        """
        asked = list(names), *_span(since, until), _patterns(locks)
        return await self._facts(EVIDENCE, *asked)

    async def disrupted(
        self,
        stays: Collection[Stay],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> Sequence[StoredFact]:
        """Return that Pods of nodes had to go, as it was seen in some times.

        These may not overlap for one node.
        """
        if not stays:
            return []
        return await self._facts(
            DISRUPTED,
            [stay.node for stay in stays],
            [stay.since for stay in stays],
            [stay.until for stay in stays],
            *_span(since, until),
        )

    async def requests(
        self,
        objects: Collection[ObjectName],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> Sequence[StoredFact]:
        """Return what audit says of objects that name no node themselves."""
        if not objects:
            return []
        groups, namespaces, names = zip(*sorted(objects), strict=True)
        return await self._facts(
            REQUESTS,
            list(groups),
            list(namespaces),
            list(names),
            *_span(since, until),
        )

    async def signs(
        self, since: datetime | None, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Return what is about nodes as such, of the whole fleet."""
        return await self._facts(SIGNS, *_span(since, until))

    async def losses(
        self, since: datetime | None, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Return of that by what nodes are lost, and that they came or booted.

        Of what appeared only the place, and whether it was ready.
        """
        return await self._facts(LOSSES, *_span(since, until))

    async def stirred(
        self,
        since: datetime | None,
        until: datetime | None,
        *,
        seen: datetime | None,
    ) -> set[str]:
        """Name the nodes of which there is more than that they are there.

        ``seen`` is when it was observed at the earliest.
        """
        return await self._texts(
            STIRRED, *_span(since, until), seen or ALWAYS[0]
        )

    async def stirred_near(
        self,
        names: Collection[str],
        times: Collection[datetime],
        within: timedelta,
    ) -> set[str]:
        """Name those of some nodes to which something happened about then."""
        span = min(times) - within, max(times) + within
        asked = list(names), *span, list(times), within
        return await self._texts(STIRRED_NEAR, *asked)

    async def last_sign(
        self, name: str, until: datetime | None
    ) -> datetime | None:
        """Return when the last sign about a node was."""
        rows = await self._ask(LAST_SIGN, name, until or ALWAYS[1])
        at: datetime | None = rows[0][0]
        return at

    async def labels_within(
        self,
        since: datetime | None,
        until: datetime | None,
        *,
        value: str,
        key: str | None = None,
    ) -> dict[str, list[dict[str, str]]]:
        """Return all labels in a time of nodes that ever had one of a value.

        Of a key, or of any that says where a node stands; a few more may be
        among them.
        """
        asked = *_span(since, until), value
        if says_where(key):
            rows = await self._ask(LABELS_OF_PLACE, *asked)
        else:
            rows = await self._ask(LABELS, *asked, key)
        return followed(orjson.loads(rows[0][0] or "[]"))

    async def places(
        self, names: Collection[str] | None = None
    ) -> dict[str, dict[str, str]]:
        """Return of the labels with which nodes appeared where they stand.

        Of some nodes, or of all.
        """
        if names is None:
            return _by_name(await self._ask(PLACES_OF_ALL))
        return _by_name(await self._ask(PLACES_OF_NODES, list(names)))


async def facts_end(
    engine: AsyncEngine, log: int, size: int, built_to: int | None
) -> FactsEnd | None:
    """Return where the facts of a log of a size end before it does."""
    if built_to is None or built_to >= size:
        return None
    rows = await fetch(engine, "read the facts", OBSERVED, log, built_to + 1)
    at = rows[0][0] if rows else None
    return FactsEnd(EntryName(log, built_to), at)


def _span(
    since: datetime | None, until: datetime | None
) -> tuple[datetime, datetime]:
    return since or ALWAYS[0], until or ALWAYS[1]


def _by_name(rows: Iterable[Record]) -> dict[str, dict[str, str]]:
    ((found,),) = rows
    return {
        name: told or {} for name, told in orjson.loads(found or "{}").items()
    }


def _patterns(names: Iterable[str]) -> list[str]:
    return [_pattern(name) for name in names]


def _pattern(text: str) -> str:
    """Return what LIKE matches as a rule does."""
    for special in "\\%_":
        text = text.replace(special, f"\\{special}")
    return text.replace("*", "%")
