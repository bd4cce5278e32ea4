"""Reads the content of a tape that is cut out of a log.

It has the entries of a window, and the objects alive at its beginning: the
newest version of each before it, found by the index of objects, so that the
length of the log does not matter. `read_concerned` finds the objects of a cut
by nodes first.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from recorder.answers.nouns import Part, Selection
from recorder.model.entry import Entry, Operation
from recorder.model.window import Window
from recorder.store.codes import OPERATION_CODES
from recorder.store.engine import Engine, fetch_planned, reading
from recorder.store.read_documents import Documents
from recorder.store.read_entries import EntryReader
from recorder.store.read_scan import Scan
from recorder.store.read_selection import (
    BY_RECORDER,
    Conditions,
    event_resources,
    find_conditions,
)
from recorder.store.read_span import find_span
from recorder.store.statement import Condition, Statement, conjoined

OBJECTS = 1000
"""Objects that are read at once."""

GONE = tuple(
    OPERATION_CODES[operation]
    for operation in (Operation.DELETED, Operation.ABSENT)
)
LISTED = OPERATION_CODES[Operation.LISTED]

NEWEST_OF_EACH = """lateral (
      select e.position, e.operation, e.observed_at, e.resource_id,
        e.version, e.resource_version
      from recorder.entry e
      where e.object_id = o.object_id and e.operation <= #renewed
        and e.resource_id <> all (:events::int2[])
        and e.position <= :size and {before}
      order by e.observed_at desc, e.position desc limit 1) newest"""
"""The newest version of an object ``o`` on a condition, without Events."""

ALIVE = """
    select o.object_id, o.namespace, o.name, o.uid, k.name as kind,
      r.name as resource, newest.position, newest.operation,
      newest.version, newest.resource_version
    from (
      select * from recorder.object
      where log_id = :log and object_id > :after and {kept}
      order by object_id limit {most}) o
    join recorder.kind k on k.kind_id = o.kind_id
    left join {newest} on true
    left join recorder.resource r on r.resource_id = newest.resource_id
    order by o.object_id
"""
ALIVE_OF_ALL = Statement.of(
    ALIVE.format(
        kept="true", most=OBJECTS, newest=NEWEST_OF_EACH.format(before="true")
    )
)
ALIVE_OF_KEPT = Statement.of(
    ALIVE.format(
        kept="object_id = any (:kept::int8[])",
        most=OBJECTS,
        newest=NEWEST_OF_EACH.format(before="true"),
    )
)
OBSERVED = Statement.of("""
    select position, observed_at from recorder.entry
    where log_id = :log and position = any (:positions::int8[])
""")


@dataclass(frozen=True, slots=True)
class Kept:
    """The nodes and objects of a cut, by their numbers."""

    nodes: tuple[int, ...]
    objects: tuple[int, ...]


class Alive(NamedTuple):
    """Satisfies the port of that name."""

    position: int
    resource: str
    kind: str
    thing: str
    version: str
    is_listed: bool


class CutReader:
    """Satisfies the port `Past`."""

    def __init__(
        self,
        engine: Engine,
        log: int,
        size: int,
        kept: Kept | None = None,
    ) -> None:
        self._engine = engine
        self._log = log
        self._size = size
        self._kept = kept
        self._entries = EntryReader(engine, log, size)
        self._documents = Documents(log)

    async def span(self, window: Window) -> tuple[int, int]:
        """Return the first and the last position of a window."""
        first, last = 1, self._size
        if window.since is not None:
            selection = Selection(since=window.since)
            scan = await self._scan(selection, is_whole=True)
            first = await self._end(scan, "asc") or self._size + 1
        if window.until is not None:
            selection = Selection(until=window.until)
            scan = await self._scan(
                selection, ("e.operation <> #renewed", {}), is_whole=True
            )
            last = await self._end(scan, "desc")
        return first, last

    async def alive(self, before: int) -> AsyncIterator[Sequence[Alive]]:
        """Yield pages of objects alive before a position, without Events."""
        after = 0
        while True:
            asked: dict[str, object] = {
                "log": self._log,
                "after": after,
                "size": before - 1,
                "events": list(await event_resources(self._engine)),
            }
            statement = ALIVE_OF_ALL
            if self._kept is not None:
                statement = ALIVE_OF_KEPT
                asked["kept"] = list(self._kept.objects)
            rows = await fetch_planned(
                self._engine, "read objects", statement, **asked
            )
            found = [
                Alive(
                    row.position,
                    row.resource,
                    row.kind,
                    row.uid or f"{row.namespace}/{row.name}",
                    row.resource_version or str(row.version or ""),
                    row.operation == LISTED,
                )
                for row in rows
                if row.position is not None and row.operation not in GONE
            ]
            if found:
                yield found
            if len(rows) < OBJECTS:
                return
            after = rows[-1].object_id

    async def events(
        self, since: datetime, before: int
    ) -> AsyncIterator[Sequence[Entry]]:
        """Yield versions of Events from a time to a position, in log order."""
        events = await event_resources(self._engine)
        scan = await self._scan(
            Selection(since=since),
            ("e.resource_id = any (:events::int2[])", {"events": events}),
            ("e.position < :before", {"before": before}),
            ("e.operation <= #renewed", {}),
        )
        async for page in self._entries.scanned(scan, parts=Part.OPENED):
            yield page

    async def gap_ends(self, first: int) -> AsyncIterator[Sequence[Entry]]:
        """Yield the ends of all gaps from a position on, in log order."""
        scan = await self._scan(
            Selection(),
            (BY_RECORDER, {}),
            ("e.operation = #gap-closed", {}),
            ("e.position >= :from_position", {"from_position": first}),
        )
        async for page in self._entries.scanned(scan, parts=Part.OPENED):
            yield page

    async def lines(
        self, window: Window, first: int, last: int
    ) -> AsyncIterator[Sequence[Entry]]:
        """Yield the entries of a window with documents, in log order."""
        within: list[Condition] = [("e.operation = #renewed", {})]
        if window.since is not None:
            within.append(("e.observed_at >= :since", {"since": window.since}))
        if window.until is not None:
            within.append(("e.observed_at < :until", {"until": window.until}))
        renewed, values = conjoined(within)
        placed = "e.position between :from_position and :to_position"
        span = await find_span(
            self._engine,
            self._log,
            (1, self._size),
            since=window.since,
            until=window.until,
        )
        scan = await self._scan(
            Selection(),
            (
                f"({placed} or {renewed})",
                {**values, "from_position": first, "to_position": last},
            ),
        )
        if scan is not None and span is not None:
            scan = replace(scan, span=span)
            async for page in self._entries.scanned(scan, parts=Part.OPENED):
                yield page

    async def documents(
        self, positions: Collection[int]
    ) -> Mapping[int, bytes]:
        """Return the documents of entries by position."""
        async with reading(self._engine, "read documents") as connection:
            return await self._documents.at(connection, positions)

    async def observed(
        self, positions: Collection[int]
    ) -> Mapping[int, datetime]:
        """Return when entries were observed, by position."""
        rows = await fetch_planned(
            self._engine,
            "read entries",
            OBSERVED,
            log=self._log,
            positions=list(positions),
        )
        return {row.position: row.observed_at for row in rows}

    async def _scan(
        self,
        selection: Selection,
        *asked: Condition,
        is_whole: bool = False,
    ) -> Scan | None:
        found = await find_conditions(self._engine, self._log, selection)
        assert found is not None, "nothing was asked that may be unknown"
        span = await find_span(
            self._engine,
            self._log,
            (1, self._size),
            since=selection.since,
            until=selection.until,
        )
        if span is None:
            return None
        kept: tuple[Condition, ...] = ()
        if self._kept is not None and not is_whole:
            kept = (_is_kept(self._kept),)
        asked = (*found.asked, *asked, *kept)
        return Scan(span, Conditions(asked, narrows=bool(asked)))

    async def _end(self, scan: Scan | None, order: str) -> int:
        """Return the first position of a scan in an order; 0 if empty."""
        if scan is None:
            return 0
        where, values = scan.where()
        statement = Statement.of(f"""
            select e.position from recorder.entry e where {where}
            order by e.position {order} limit 1
        """)
        rows = await fetch_planned(
            self._engine, "read entries", statement, **values
        )
        return rows[0][0] if rows else 0


def _is_kept(kept: Kept) -> Condition:
    """Return the condition that an entry belongs to a cut by nodes.

    The recorder's own entries do, and absent Events, whose entries do not
    name an object.
    """
    return (
        f"""(e.object_id = any (:kept_objects::int8[])
          or e.node_id = any (:kept_nodes::int4[])
          or e.operation = #absent and e.object_id is null
          or {BY_RECORDER})""",
        {"kept_objects": list(kept.objects), "kept_nodes": list(kept.nodes)},
    )
