"""Reading: facts in log order, filtered, page by page.

Pages follow one another by position and index within it, never by offset.
"""

from collections.abc import AsyncIterator, Iterator, Sequence

from sqlalchemy import ColumnElement, Text, cast, select, tuple_
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.model.fact import FactKind, StoredFact
from recorder.model.observation import AUDIT, WATCH
from recorder.report.ports import Selection
from recorder.store.codes import FACT_CODES
from recorder.store.engine import reading
from recorder.store.read_facts import of_current_derivation
from recorder.store.stored_facts import FactNames
from recorder.store.tables import fact, node, word

__all__ = ["FactPages"]

PAGE = 1000
REQUESTED = FACT_CODES[FactKind.REQUESTED]


class FactPages:
    """Facts of one log up to a size, as `recorder log --facts` lists them."""

    def __init__(self, engine: AsyncEngine, log: int, size: int) -> None:
        self._engine = engine
        self._log = log
        self._size = size

    async def skip_to_newest(self, selection: Selection, count: int) -> int:
        """Give a position behind which about the newest facts lie.

        Facts of one entry are not parted, so there may be a few more.
        """
        query = (
            select(fact.c.position)
            .where(*self._asked(selection))
            .order_by(fact.c.position.desc(), fact.c.index.desc())
            .offset(count)
            .limit(1)
        )
        async with reading(self._engine, "read the facts") as connection:
            return await connection.scalar(query) or 0

    async def pages(
        self, selection: Selection, *, after: int
    ) -> AsyncIterator[Sequence[StoredFact]]:
        """Give facts behind a position, page by page."""
        place = (after, 1 << 14)
        while True:
            behind = tuple_(fact.c.position, fact.c.index) > place
            chosen = (
                select(fact.c.position, fact.c.index.label("place"))
                .where(*self._asked(selection), behind)
                .order_by(fact.c.position, fact.c.index)
                .limit(PAGE)
            )
            async with reading(self._engine, "read the facts") as connection:
                places = (await connection.execute(chosen)).all()
                if not places:
                    return
                asked = [
                    *self._asked(selection),
                    behind,
                    tuple_(fact.c.position, fact.c.index)
                    <= (places[-1].position, places[-1].place),
                ]
                # With names of its own, so that memory stays bounded.
                page = await FactNames(self._log).facts(connection, asked)
            yield page
            place = (places[-1].position, places[-1].place)
            if len(places) < PAGE:
                return

    def _asked(self, selection: Selection) -> list[ColumnElement[bool]]:
        asked: list[ColumnElement[bool]] = [
            fact.c.log_id == self._log,
            fact.c.position <= self._size,
            of_current_derivation(self._log),
        ]
        return [*asked, *_plain(selection), *self._named(selection)]

    def _named(self, selection: Selection) -> Iterator[ColumnElement[bool]]:
        if selection.node is not None:
            number = select(node.c.node_id).where(
                node.c.log_id == self._log, node.c.name == selection.node
            )
            yield fact.c.node_id == number.scalar_subquery()
        if selection.actor is not None:
            named = select(word.c.word_id).where(
                word.c.text == selection.actor
            )
            yield fact.c.actor_id == named.scalar_subquery()


def _plain(selection: Selection) -> Iterator[ColumnElement[bool]]:
    if selection.since is not None:
        yield fact.c.at >= selection.since
    if selection.until is not None:
        yield fact.c.at < selection.until
    if selection.objects is not None:
        yield fact.c.object_id.in_(selection.objects)
    if selection.kinds is not None:
        codes = [FACT_CODES[kind] for kind in selection.kinds]
        yield fact.c.kind.in_(codes)
    if selection.reason is not None:
        reason = cast(fact.c.detail["reason"].astext, Text)
        yield reason == selection.reason
    if selection.source == AUDIT:
        yield fact.c.kind == REQUESTED
    elif selection.source == WATCH:
        yield fact.c.kind != REQUESTED
