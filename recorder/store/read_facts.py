"""Reads facts by node, by object and by bearing.

Facts come from one derivation, in the order of the log. A window selects by
when something happened, by an index of each day; what is claimed to happen
after it was observed counts until a window ends after its observation.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import orjson

from recorder.answers.queries import (
    ALWAYS,
    ActiveNodes,
    ActiveNodesNear,
    FactQuery,
    LastSign,
    NodeLabels,
    NodePlaces,
    Purpose,
)
from recorder.facts.bearing import port_of
from recorder.facts.coverage.ports import FactsEnd
from recorder.facts.flaps import without_flaps
from recorder.facts.topology import RELATION
from recorder.model.fact import StoredFact
from recorder.model.reference import EntryName
from recorder.store.details import detail_decoder
from recorder.store.engine import Engine, fetch
from recorder.store.extent import Extent
from recorder.store.read_gangs import FAMILIES, FAMILY, LIVES
from recorder.store.read_labels import (
    APPEARED_STANDING,
    LABELS,
    LABELS_OF_PLACE,
    followed,
    says_where,
)
from recorder.store.read_ports import (
    IN_TIME,
    OF_CROWDED,
    OF_PORTS,
    OF_PORTS_ARCHIVED,
    claims_of,
    crowded,
)
from recorder.store.statement import Record, Statement, question
from recorder.store.stored_facts import (
    COLUMNS,
    OF_EXTENT,
    OF_NODES,
    SEEN_AT,
    ExtentReader,
    FactNames,
    facts_where,
    named,
)

CLAIMS_MAX = 50_000
"""Claims that one question reads of all that relate places, or of one place:
the newest."""

UNPLACED = "f.kind = #annotation-changed and f.node_id is null"
OF_LOCKS = """exists (select from recorder.word w
      where w.word_id = f.topic_id and w.text like any (:locks::text[]))"""

# Disruptions of Pods matter only near other facts, and are read there.
BEARS = "f.bearing in (#evidence, #sign)"

# Locks that the first list showed, without a node.
HELD = f"""f.keys is not null and f.node_id is null and f.kind = #appeared
      and f.mark is null and {IN_TIME}
      and exists (select from unnest(f.keys) lock (key)
        where lock.key like any (:locks::text[]))"""

OF_ALL = (
    f"""{OF_NODES} and {IN_TIME}
      and f.bearing in (#daily, #evidence, #sign, #disruption)""",
    f"{UNPLACED} and {IN_TIME}",
    HELD,
)
BEARING = (
    f"{OF_NODES} and {BEARS} and {IN_TIME}",
    f"{UNPLACED} and {OF_LOCKS} and {IN_TIME}",
    HELD,
)
ALL_OF_NODES = facts_where(*OF_ALL, or_else=OF_PORTS)
EVIDENCE = facts_where(*BEARING, or_else=OF_PORTS)
ARCHIVED_ALL_OF_NODES = facts_where(*OF_ALL, or_else=OF_PORTS_ARCHIVED)
ARCHIVED_EVIDENCE = facts_where(*BEARING, or_else=OF_PORTS_ARCHIVED)
DISRUPTED = named(f"""
    select {COLUMNS}
    from unnest(:nodes::text[], :begins::timestamptz[], :ends::timestamptz[])
      stay (name, since, until)
    join recorder.node n on n.log_id = :log and n.name = stay.name,
    lateral (select * from recorder.fact f
      where {OF_EXTENT} and f.node_id = n.node_id
        and {SEEN_AT} between stay.since and stay.until
        and f.bearing = #disruption and {IN_TIME} offset 0) f
""")
# The log may have only the plural of the kind in an audit record.
OF_OBJECTS = f"""
    select {COLUMNS}
    from unnest(:groups::text[], :namespaces::text[], :names::text[])
      w (api_group, namespace, name)
    join recorder.kind k on k.api_group = w.api_group
    join recorder.object o on o.log_id = :log and o.kind_id = k.kind_id
      and o.namespace = w.namespace and o.name = w.name,
    lateral (select * from recorder.fact f
      where {OF_EXTENT} and f.object_id = o.object_id and {IN_TIME}"""
# Requests are not cut: the oldest says who created an object.
REQUESTS = named(f"""{OF_OBJECTS}
        and f.node_id is null and f.kind = #requested offset 0) f
    union all (
    {OF_OBJECTS} and f.kind = #claimed offset 0) f
    order by f.position desc limit {CLAIMS_MAX})
""")
REPORTS = named(f"""{OF_OBJECTS}
        and f.node_id is null and f.kind = #event offset 0) f""")
SIGNS = facts_where(f"f.bearing = #sign and {IN_TIME}")
# A last renewal before a silence, a new boot, a Node whose Ready became or was
# Unknown, or a Node that appeared: of the thousands that were healthy then,
# only the labels of their place are read.
PLACED = """'\\x00'::bytea || convert_to(
        '{"state":{"labels":' || f.place || '}}', 'UTF8')"""
LOSSES = named(f"""
    select {COLUMNS.replace("f.detail", "t.detail")}
    from recorder.fact f, lateral (select case
      when f.kind = #appeared and f.value is distinct from 'Unknown'
      then {PLACED}
      else f.detail end as detail) t
    where {OF_EXTENT} and f.bearing = #sign and {IN_TIME}
      and (f.kind in (#boot-changed, #lease-silent, #label-changed)
        or f.mark = #contact
        or f.kind = #claimed and (f.node_id is null or f.value is not null)
        or f.kind = #appeared and f.place is not null)
""")
MOVED = named(f"""
    select {COLUMNS.replace("f.detail", "t.detail")}
    from recorder.fact f, lateral (select case when f.kind = #appeared
      then {PLACED} else f.detail end as detail) t
    where {OF_EXTENT} and {OF_NODES} and (f.kind = #label-changed
      and f.bearing in (#evidence, #sign) or {APPEARED_STANDING})
""")
LABELLED = facts_where(f"""{OF_NODES} and {IN_TIME}
      and (f.kind = #label-changed and f.bearing in (#evidence, #sign)
        or {APPEARED_STANDING})""")
RELATED = named(f"""
    select {COLUMNS} from recorder.fact f
    where {OF_EXTENT} and f.labels @> array[:relation::text]
    order by f.position desc limit {CLAIMS_MAX}
""")
ACTIVE = question(f"""
    select n.name from (
      select distinct f.node_id from recorder.fact f
      where {OF_EXTENT} and f.bearing = #sign and {IN_TIME}
        and {SEEN_AT} >= :seen
        and (f.kind <> #appeared or f.mark = #created)
      union
      select distinct f.node_id from recorder.fact f
      where {OF_EXTENT} and f.bearing = #port and {IN_TIME}
        and {SEEN_AT} >= :seen) t
    join recorder.node n on n.node_id = t.node_id
""")
ACTIVE_NEAR = question(f"""
    select n.name from (
      select distinct f.node_id from recorder.fact f
      where {OF_EXTENT} and {OF_NODES} and f.bearing in (#sign, #port)
        and {IN_TIME} and f.kind <> #appeared
        and exists (select from unnest(:times::timestamptz[]) given (at)
          where {SEEN_AT} between given.at - :within::interval
            and given.at + :within::interval)) t
    join recorder.node n on n.node_id = t.node_id
""")
LAST_SIGN = question(f"""
    select max(f.at) from recorder.fact f
    where {OF_EXTENT} and f.bearing in (#sign, #port) and f.at < :until
      and f.node_id = (select n.node_id from recorder.node n
        where n.log_id = :log and n.name = :node)
""")
# One text is faster. The last of members with the same name counts.
PLACES = f"""
    select '{{{{' || string_agg(to_json(n.name) || ':' || f.place, ','
      order by f.position) || '}}}}'
    from recorder.fact f join recorder.node n on n.node_id = f.node_id
    where {OF_EXTENT} and {{which}}
"""
PLACES_OF_ALL = question(
    PLACES.format(which="f.kind = #appeared and f.place is not null")
)
PLACES_OF_NODES = question(
    PLACES.format(which=f"{APPEARED_STANDING} and {OF_NODES}")
)
OBSERVED = question("""
    select observed_at from recorder.entry
    where log_id = :log and position = :position
""")


FACTS: Mapping[Purpose, tuple[Statement, str | None]] = {
    Purpose.ALL: (ALL_OF_NODES, None),
    Purpose.EVIDENCE: (EVIDENCE, None),
    Purpose.DISRUPTION: (DISRUPTED, "stays"),
    Purpose.REQUESTS: (REQUESTS, "objects"),
    Purpose.REPORTS: (REPORTS, "objects"),
    Purpose.SIGNS: (SIGNS, None),
    Purpose.LOSSES: (LOSSES, None),
    Purpose.MOVES: (MOVED, "nodes"),
    Purpose.LABELS: (LABELLED, "nodes"),
    Purpose.RELATIONS: (RELATED, None),
    Purpose.LIVES: (LIVES, "uids"),
    Purpose.FAMILY: (FAMILY, "uids"),
    Purpose.FAMILIES: (FAMILIES, "uids"),
}
"""The statement for each purpose, and the field of the query that it needs:
if that is empty, there is nothing to read."""

OF_NODE = frozenset({Purpose.ALL, Purpose.EVIDENCE})
"""Purposes that read what is claimed of the ports of nodes."""

VALUES: Mapping[str, Callable[[FactQuery], object]] = {
    "nodes": lambda q: [*q.nodes] or [stay.node for stay in q.stays],
    "begins": lambda q: [stay.since for stay in q.stays],
    "ends": lambda q: [stay.until for stay in q.stays],
    "groups": lambda q: [group for group, _, _ in sorted(q.objects)],
    "namespaces": lambda q: [
        namespace for _, namespace, _ in sorted(q.objects)
    ],
    "names": lambda q: [name for _, _, name in sorted(q.objects)],
    "locks": lambda q: [*map(_pattern, q.locks)],
    "uids": lambda q: [*q.uids],
    "since": lambda q: q.since or ALWAYS[0],
    "relation": lambda _: RELATION,
    "until": lambda q: q.until or ALWAYS[1],
}
"""The values that a statement may name, from a query."""


class FactReader(ExtentReader):
    """Reads the facts of one log up to a size."""

    action = "read the facts"

    def __init__(self, engine: Engine, extent: Extent) -> None:
        super().__init__(engine, extent)
        self._names = FactNames(extent.log, engine)

    async def end(self) -> FactsEnd | None:
        """Return where facts end; None if all entries have theirs."""
        extent = self._extent
        return await facts_end(
            self._engine, extent.log, extent.size, extent.built_to
        )

    async def facts(self, query: FactQuery) -> Sequence[StoredFact]:
        """Return the facts for a purpose other than that of entries."""
        statement, subject = FACTS[query.purpose]
        if subject is not None and not getattr(query, subject):
            return []
        found = await self._stored(statement, query)
        if query.purpose in OF_NODE:
            return without_flaps(await self._without_crowds(found, query))
        return found

    async def _stored(
        self, statement: Statement, query: FactQuery
    ) -> list[StoredFact]:
        named = {
            name: VALUES[name](query)
            for name in statement.names
            if name in VALUES
        }
        return await self._names.stored(await self._ask(statement, **named))

    async def _without_crowds(
        self, found: list[StoredFact], query: FactQuery
    ) -> list[StoredFact]:
        """Replace the claims about ports that are more than few."""
        names = crowded(found)
        if not names:
            return found
        asked = replace(query, nodes=names)
        claims = claims_of(await self._stored(OF_CROWDED, asked))
        kept = (
            one
            for one in found
            if (port := port_of(one.fact)) is None or port.node not in names
        )
        return sorted(
            [*kept, *claims], key=lambda one: (one.entry.position, one.index)
        )

    async def active_nodes(self, query: ActiveNodes) -> Sequence[str]:
        """Return the nodes with signs other than their existence."""
        return await self._texts(
            ACTIVE,
            seen=query.observed_since or ALWAYS[0],
            **_span(query.since, query.until),
        )

    async def active_nodes_near(self, query: ActiveNodesNear) -> Sequence[str]:
        """Return the nodes with a sign near some times."""
        return await self._texts(
            ACTIVE_NEAR,
            nodes=list(query.names),
            times=list(query.times),
            within=query.within,
            since=min(query.times) - query.within,
            until=max(query.times) + query.within,
        )

    async def last_sign(self, query: LastSign) -> Mapping[str, datetime]:
        """Return the time of the last sign of a node."""
        ((at,),) = await self._ask(LAST_SIGN, node=query.node, until=ALWAYS[1])
        return {} if at is None else {query.node: at}

    async def labels(
        self, query: NodeLabels
    ) -> Mapping[str, Sequence[Mapping[str, str]]]:
        """Return all labels in a window, of nodes with a label of a value."""
        asked = {"value": query.value, **_span(query.since, query.until)}
        if says_where(query.key):
            rows = await self._ask(LABELS_OF_PLACE, **asked)
        else:
            rows = await self._ask(LABELS, key=query.key, **asked)
        details = detail_decoder(self._engine)
        await details.know(self._engine, (row.detail for row in rows))
        return followed(rows, details)

    async def places(
        self, query: NodePlaces
    ) -> Mapping[str, Mapping[str, str]]:
        """Return the labels of place with which nodes appeared, by node."""
        if query.names is None:
            return _by_name(await self._ask(PLACES_OF_ALL))
        names = list(query.names)
        return _by_name(await self._ask(PLACES_OF_NODES, nodes=names))


async def facts_end(
    engine: Engine, log: int, size: int, built_to: int | None
) -> FactsEnd | None:
    """Return where facts end; None if that is the end of the log."""
    if built_to is None or built_to >= size:
        return None
    rows = await fetch(
        engine, "read the facts", OBSERVED, log=log, position=built_to + 1
    )
    at = rows[0][0] if rows else None
    return FactsEnd(EntryName(log, built_to), at)


def _span(
    since: datetime | None, until: datetime | None
) -> Mapping[str, datetime]:
    return {"since": since or ALWAYS[0], "until": until or ALWAYS[1]}


def _by_name(rows: Iterable[Record]) -> dict[str, dict[str, str]]:
    ((found,),) = rows
    return {
        name: labels or {}
        for name, labels in orjson.loads(found or "{}").items()
    }


def _pattern(text: str) -> str:
    """Return the LIKE pattern equivalent to a rule's pattern."""
    for special in "\\%_":
        text = text.replace(special, f"\\{special}")
    return text.replace("*", "%")
