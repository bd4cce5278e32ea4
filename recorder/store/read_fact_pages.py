"""Reading: facts in log order, filtered, page by page.

Pages follow one another by position and index within it, never by offset.
"""

from collections.abc import AsyncIterator, Iterator, Sequence

from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.model.fact import FactKind, StoredFact
from recorder.model.observation import AUDIT, WATCH
from recorder.report.ports import Selection
from recorder.store.codes import FACT_CODES
from recorder.store.engine import fetch_planned
from recorder.store.extent import Extent
from recorder.store.stored_facts import COLUMNS, OF_EXTENT, FactNames, named

__all__ = ["FactPages"]

PAGE = 1000
REQUESTED = FACT_CODES[FactKind.REQUESTED]

Condition = tuple[str, tuple[object, ...]]
"""A text with ``{}`` for each of its values."""


class FactPages:
    """Facts of one log up to a size, as `recorder log --facts` lists them."""

    def __init__(self, engine: AsyncEngine, extent: Extent) -> None:
        self._engine = engine
        self._extent = extent

    async def skip_to_newest(self, selection: Selection, count: int) -> int:
        """Give a position behind which about the newest facts lie.

        Facts of one entry are not parted, so there may be a few more.
        """
        where, values = self._where(_asked(selection))
        statement = f"""
            select f.position from recorder.fact f where {where}
            order by f.position desc, f.index desc offset {count} limit 1
        """
        rows = await fetch_planned(
            self._engine, "read the facts", statement, *values
        )
        return int(rows[0][0]) if rows else 0

    async def pages(
        self, selection: Selection, *, after: int
    ) -> AsyncIterator[Sequence[StoredFact]]:
        """Give facts behind a position, page by page."""
        place = (after, 1 << 14)
        while True:
            behind = "(f.position, f.index) > ({}::int8, {}::int2)"
            where, values = self._where([*_asked(selection), (behind, place)])
            statement = named(
                f"""select {COLUMNS} from recorder.fact f where {where}
                order by f.position, f.index limit {PAGE}"""
            )
            rows = await fetch_planned(
                self._engine, "read the facts", statement, *values
            )
            # With names of its own, so that memory stays bounded.
            page = FactNames(self._extent.log).stored(rows)
            if page:
                yield page
            if len(page) < PAGE:
                return
            place = (page[-1].entry.position, page[-1].index)

    def _where(self, asked: Sequence[Condition]) -> tuple[str, list[object]]:
        values: list[object] = [*self._extent.values]
        texts = [OF_EXTENT]
        for text, own in asked:
            first = len(values) + 1
            names = [f"${first + place}" for place in range(len(own))]
            texts.append(text.format(*names))
            values += own
        return " and ".join(texts), values


def _asked(selection: Selection) -> list[Condition]:
    return [*_plain(selection), *_named(selection)]


def _named(selection: Selection) -> Iterator[Condition]:
    if selection.node is not None:
        numbered = """f.node_id = (select n.node_id from recorder.node n
            where n.log_id = $1 and n.name = {})"""
        yield numbered, (selection.node,)
    if selection.actor is not None:
        numbered = """f.actor_id = (select w.word_id from recorder.word w
            where w.text = {})"""
        yield numbered, (selection.actor,)


def _plain(selection: Selection) -> Iterator[Condition]:
    if selection.since is not None:
        yield "f.at >= {}", (selection.since,)
    if selection.until is not None:
        yield "f.at < {}", (selection.until,)
    if selection.objects is not None:
        yield "f.object_id = any ({}::int8[])", (list(selection.objects),)
    if selection.kinds is not None:
        codes = [FACT_CODES[kind] for kind in selection.kinds]
        yield "f.kind = any ({}::int2[])", (codes,)
    if selection.reason is not None:
        yield "f.detail ->> 'reason' = {}::text", (selection.reason,)
    if selection.source == AUDIT:
        yield f"f.kind = {REQUESTED}", ()
    elif selection.source == WATCH:
        yield f"f.kind <> {REQUESTED}", ()
