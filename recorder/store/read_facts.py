"""Reading: facts, by node, by object and by what they are signs of.

Facts come from the current derivation alone, in the order of the log. A
window selects by when something happened, which an index per day answers.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import (
    JSON,
    ColumnElement,
    Text,
    and_,
    cast,
    false,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from recorder.model.fact import FactKind, StoredFact
from recorder.model.reference import EntryName
from recorder.report.fact_ports import FactsEnd
from recorder.store.codes import FACT_CODES
from recorder.store.engine import asking
from recorder.store.stored_facts import FactNames
from recorder.store.tables import (
    among,
    derivation,
    entry,
    fact,
    node,
)

__all__ = [
    "FactReader",
    "facts_end",
    "of_current_derivation",
]

ANNOTATION = FACT_CODES[FactKind.ANNOTATION_CHANGED]
UNPLACED = and_(
    # A literal, so that the planner knows the partial index `fact_unplaced`.
    fact.c.kind
    == literal_column(str(FACT_CODES[FactKind.ANNOTATION_CHANGED])),
    fact.c.node_id.is_(None),
)


class FactReader:
    """Reads the facts of one log up to a size."""

    def __init__(
        self, engine: AsyncEngine, log: int, size: int, names: FactNames
    ) -> None:
        self._engine = engine
        self._log = log
        self._size = size
        self._names = names

    async def end(self) -> FactsEnd | None:
        """Give where facts end; None where every entry has its own."""
        async with asking(self._engine, "read the facts") as connection:
            return await facts_end(connection, self._log, self._size)

    async def of_nodes(
        self,
        names: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> Sequence[StoredFact]:
        """Give what concerns nodes, and what may: locks that name one."""
        return await self._near(names, UNPLACED, since, until)

    async def evidence(
        self,
        names: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
        locks: Collection[str],
    ) -> Sequence[StoredFact]:
        """Give of that what may tell what happened to the nodes.

        ``locks`` are keys of annotations, which may hold ``*``.
        """
        key = cast(fact.c.detail["key"].astext, Text)
        unplaced = and_(
            UNPLACED,
            or_(false(), *(key.like(_pattern(lock)) for lock in locks)),
        )
        return await self._near(names, unplaced, since, until, fact.c.evidence)

    async def _near(
        self,
        names: Collection[str],
        unplaced: ColumnElement[bool],
        since: datetime | None,
        until: datetime | None,
        *narrower: ColumnElement[bool],
    ) -> Sequence[StoredFact]:
        async with asking(self._engine, "read the facts") as connection:
            numbers = await connection.scalars(
                select(node.c.node_id).where(
                    node.c.log_id == self._log, among(node.c.name, names)
                )
            )
            placed = and_(among(fact.c.node_id, numbers), *narrower)
            found = [
                *await self._facts(connection, placed, since, until),
                *await self._facts(connection, unplaced, since, until),
            ]
        return sorted(found, key=_order)

    async def signs(
        self, since: datetime | None, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Give what is about nodes as such, of the whole fleet."""
        async with asking(self._engine, "read the facts") as connection:
            return await self._facts(connection, fact.c.sign, since, until)

    async def last_sign(
        self, name: str, until: datetime | None
    ) -> datetime | None:
        """Give when the last sign about a node was."""
        number = select(node.c.node_id).where(
            node.c.log_id == self._log, node.c.name == name
        )
        query = select(func.max(fact.c.at)).where(
            fact.c.node_id == number.scalar_subquery(),
            fact.c.evidence,
            fact.c.sign,
            fact.c.position <= self._size,
        )
        if until is not None:
            query = query.where(fact.c.at < until)
        async with asking(self._engine, "read the facts") as connection:
            found: datetime | None = await connection.scalar(query)
            return found

    async def last_seen(
        self, names: Collection[str], since: datetime | None
    ) -> datetime | None:
        """Give when anything that `of_nodes` gives was observed last."""
        numbers = select(node.c.node_id).where(
            node.c.log_id == self._log, among(node.c.name, names)
        )
        times = []
        async with asking(self._engine, "read the facts") as connection:
            for asked in (fact.c.node_id.in_(numbers), UNPLACED):
                query = select(func.max(fact.c.observed_at)).where(
                    asked,
                    fact.c.log_id == self._log,
                    fact.c.position <= self._size,
                    of_current_derivation(self._log),
                )
                if since is not None:
                    query = query.where(fact.c.at >= since)
                times.append(await connection.scalar(query))
        return max((at for at in times if at is not None), default=None)

    async def node_labels(self) -> dict[str, dict[str, str]]:
        """Give the labels with which each node appeared."""
        return await self._of_appeared(
            cast(fact.c.detail["state"]["labels"], JSON)
        )

    async def places(self) -> dict[str, dict[str, str]]:
        """Give of these labels those that say where a node stands."""
        return await self._of_appeared(cast(fact.c.place, JSON))

    async def _of_appeared(
        self, what: ColumnElement[Any]
    ) -> dict[str, dict[str, str]]:
        """Give something of each node as it appeared last, by its name."""
        # As one text: rows of five thousand nodes would take longer. Of two
        # members of one name the second counts.
        query = (
            select(
                cast(
                    func.json_object_agg(
                        node.c.name, aggregate_order_by(what, fact.c.position)
                    ),
                    Text,
                )
            )
            .join(node, node.c.node_id == fact.c.node_id)
            .where(fact.c.log_id == self._log, fact.c.place.is_not(None))
            .where(fact.c.position <= self._size)
            .where(of_current_derivation(self._log))
        )
        async with asking(self._engine, "read the facts") as connection:
            found = await connection.scalar(query)
        return {
            name: told or {}
            for name, told in orjson.loads(found or "{}").items()
        }

    async def _facts(
        self,
        connection: AsyncConnection,
        condition: ColumnElement[bool],
        since: datetime | None,
        until: datetime | None,
    ) -> Sequence[StoredFact]:
        asked = [condition, fact.c.position <= self._size]
        if since is not None:
            asked.append(fact.c.at >= since)
        if until is not None:
            asked.append(fact.c.at < until)
        asked.append(of_current_derivation(self._log))
        return await self._names.facts(connection, asked)


def of_current_derivation(log: int) -> ColumnElement[bool]:
    """Give the condition that a fact is one that answers are made from."""
    current = select(derivation.c.derivation_id).where(
        derivation.c.log_id == log, derivation.c.state == "current"
    )
    return fact.c.derivation_id == current.scalar_subquery()


async def facts_end(
    connection: AsyncConnection, log: int, size: int
) -> FactsEnd | None:
    """Give where the facts of a log of a size end before it does."""
    query = select(derivation.c.built_to).where(
        derivation.c.log_id == log, derivation.c.state == "current"
    )
    row = (await connection.execute(query)).one_or_none()
    # A log of before there were facts may not have been written since.
    built_to = 0 if row is None else row.built_to
    if built_to is None or built_to >= size:
        return None
    observed = select(entry.c.observed_at).where(
        entry.c.log_id == log, entry.c.position == built_to + 1
    )
    at = await connection.scalar(observed)
    return FactsEnd(EntryName(log, built_to), at)


def _pattern(text: str) -> str:
    """Give what LIKE matches as a rule does."""
    for special in "\\%_":
        text = text.replace(special, f"\\{special}")
    return text.replace("*", "%")


def _order(stored: StoredFact) -> tuple[int, int]:
    return stored.entry.position, stored.index
