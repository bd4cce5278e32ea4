"""Reads facts in log order, filtered, page by page.

Each page begins after the last position and index of the previous one.
"""

from collections.abc import (
    AsyncIterator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from datetime import datetime

from recorder.answers.nouns import Selection
from recorder.answers.ports import OnDay
from recorder.model.fact import StoredFact
from recorder.model.observation import AUDIT, WATCH
from recorder.store.codes import FACT_CODES
from recorder.store.engine import Engine, fetch_planned
from recorder.store.extent import Extent
from recorder.store.read_selection import Newest
from recorder.store.read_span import Span, find_span
from recorder.store.statement import (
    Condition,
    Record,
    Statement,
    conjoined,
    question,
)
from recorder.store.stored_facts import COLUMNS, OF_EXTENT, FactNames, named

PAGE = 1000

WITHIN = """f.recorded_at
      between :recorded_min::timestamptz and :recorded_max::timestamptz"""


def newest_facts(where: str, count: int, *, indexed: bool) -> Statement:
    """Return the statement that selects the positions of the newest facts.

    With ``indexed`` an index finds all of them, which are sorted afterwards: a
    backward scan by position would find rare ones late.
    """
    return question(f"""
        with found as {"materialized" if indexed else "not materialized"} (
          select f.position, f.index from recorder.fact f where {where})
        select position from found order by position desc, index desc
        limit {count}
    """)


class FactPages:
    """Facts of one log up to a size, as `recorder log --facts` lists them."""

    def __init__(self, engine: Engine, extent: Extent) -> None:
        self._engine = engine
        self._extent = extent
        self._newest: Newest | None = None

    async def skip_to_newest(
        self, selection: Selection, count: int, *, on_day: OnDay | None = None
    ) -> int:
        """Return the position after which the newest facts are.

        Zero if there are no more than ``count``. Facts of one entry are not
        separated, so there may be a few less. `pages` of the same selection
        after this position then read them by the positions found here.
        ``on_day`` is called for each day that is searched, unless an index
        finds the facts of all days at once.
        """
        found: list[int] = []
        indexed = _is_indexed(selection)
        span = await self._span(after=0)
        spans: Iterable[Span] = ()
        if span is not None:
            spans = span.widening() if indexed else reversed(span.days())
        for part in spans:
            if on_day is not None and not indexed:
                on_day(part.recorded_max)
            where, values = self._where([*_asked(selection), *_within(part)])
            statement = newest_facts(
                where, count + 1 - len(found), indexed=indexed
            )
            rows = await self._fetch(statement, values)
            found += [position for (position,) in rows]
            if len(found) > count:
                break
        after = found[count] if len(found) > count else 0
        self._newest = Newest(selection, after, found[:count])
        return after

    async def pages(
        self, selection: Selection, *, after: int, limit: int | None = None
    ) -> AsyncIterator[Sequence[StoredFact]]:
        """Yield facts after a position, in pages of at most the limit.

        The newest, once found by `skip_to_newest`, are read by their
        positions.
        """
        newest = self._newest
        if newest is not None and (newest.selection, newest.after) == (
            selection,
            after,
        ):
            places = sorted(set(newest.positions))
            parts: list[list[Condition]] = [
                [("f.position = any (:places::int8[])", {"places": places})]
            ]
        else:
            days = await self._parts(selection, after=after)
            parts = [_within(day) for day in days]
        size = PAGE if limit is None else min(limit, PAGE)
        for part in parts:
            asked = [*_asked(selection), *part]
            async for page in self._paged(asked, after, size):
                yield page

    async def of_entries(
        self, entries: Mapping[int, datetime]
    ) -> Sequence[StoredFact]:
        """Return the facts of entries, which have their recording times."""
        if not entries:
            return []
        times = entries.values()
        places = {"places": [*entries]}
        where, values = self._where(
            [
                ("f.position = any (:places::int8[])", places),
                _recorded(min(times), max(times)),
            ]
        )
        statement = named(
            f"""select {COLUMNS} from recorder.fact f where {where}
            order by f.position, f.index"""
        )
        rows = await self._fetch(statement, values)
        return await self._names().stored(rows)

    async def _paged(
        self, asked: Sequence[Condition], after: int, size: int
    ) -> AsyncIterator[Sequence[StoredFact]]:
        place = {"position": after, "index": 1 << 14}
        while True:
            behind = "(f.position, f.index) > (:position::int8, :index::int2)"
            where, values = self._where([*asked, (behind, place)])
            statement = named(
                f"""select {COLUMNS} from recorder.fact f where {where}
                order by f.position, f.index limit {size}"""
            )
            rows = await self._fetch(statement, values)
            # Each page has its own names, so that memory is bounded.
            page = await self._names().stored(rows)
            if page:
                yield page
            if len(page) < size:
                return
            last = page[-1]
            place = {"position": last.entry.position, "index": last.index}

    async def _parts(
        self, selection: Selection, *, after: int
    ) -> Sequence[Span | None]:
        """Return the spans to scan, one per statement, oldest first.

        A span is a day, or everything if an index covers the selection.
        """
        if _is_indexed(selection):
            return [None]
        span = await self._span(after=after)
        return [] if span is None else span.days()

    async def _span(self, *, after: int) -> Span | None:
        log, size = self._extent.log, self._extent.size
        return await find_span(self._engine, log, (after + 1, size))

    async def _fetch(
        self,
        statement: Statement,
        values: Mapping[str, object],
    ) -> Sequence[Record]:
        extent = self._extent.named_by(statement)
        return await fetch_planned(
            self._engine, "read the facts", statement, **extent, **values
        )

    def _names(self) -> FactNames:
        return FactNames(self._extent.log, self._engine)

    def _where(
        self, asked: Sequence[Condition]
    ) -> tuple[str, Mapping[str, object]]:
        return conjoined([(OF_EXTENT, {}), *asked])


def _is_indexed(selection: Selection) -> bool:
    """Return whether an index covers the selection."""
    return selection.node is not None or selection.objects is not None


def _within(part: Span | None) -> list[Condition]:
    if part is None:
        return []
    return [_recorded(part.recorded_min, part.recorded_max)]


def _recorded(first: datetime, last: datetime) -> Condition:
    return WITHIN, {"recorded_min": first, "recorded_max": last}


def _asked(selection: Selection) -> list[Condition]:
    return [*_plain(selection), *_named(selection)]


def _named(selection: Selection) -> Iterator[Condition]:
    if selection.node is not None:
        numbered = """f.node_id = (select n.node_id from recorder.node n
            where n.log_id = :log and n.name = :node)"""
        if selection.beside:
            numbered = f"({numbered} or f.position = any (:beside::int8[]))"
            yield (
                numbered,
                {"node": selection.node, "beside": list(selection.beside)},
            )
        else:
            yield numbered, {"node": selection.node}
    if selection.code is not None:
        refused = "f.kind = #requested and f.value = :code"
        yield refused, {"code": str(selection.code)}
    if selection.actor is not None:
        numbered = """f.actor_id = (select w.word_id from recorder.word w
            where w.text = :actor)"""
        yield numbered, {"actor": selection.actor}


def _plain(selection: Selection) -> Iterator[Condition]:
    if selection.since is not None:
        yield "f.at >= :since", {"since": selection.since}
    if selection.until is not None:
        yield "f.at < :until", {"until": selection.until}
    if selection.objects is not None:
        objects = list(selection.objects)
        yield "f.object_id = any (:objects::int8[])", {"objects": objects}
    if selection.kinds is not None:
        codes = [FACT_CODES[kind] for kind in selection.kinds]
        yield "f.kind = any (:kinds::int2[])", {"kinds": codes}
    if selection.reason is not None:
        says = """f.kind in (#event, #ended, #container-ended)
            and f.topic_id = (select w.word_id from recorder.word w
            where w.text = :reason)"""
        yield says, {"reason": selection.reason}
    if selection.source == AUDIT:
        yield "f.kind = #requested", {}
    elif selection.source == WATCH:
        yield "f.kind <> #requested", {}
