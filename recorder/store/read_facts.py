"""Reading: facts, by node, by object and by what they are signs of.

Facts come from the current derivation alone, in the order of the log. A
window selects by when something happened, which an index per day answers.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from operator import itemgetter

import orjson
from sqlalchemy import ColumnElement, Text, and_, cast, func, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.report.ports import FactsEnd
from recorder.store.codes import FACT_CODES, FACTS
from recorder.store.engine import reading
from recorder.store.tables import (
    Query,
    QueryRow,
    derivation,
    entry,
    fact,
    kind,
    node,
    object_,
    word,
)

__all__ = [
    "FactReader",
    "facts_end",
    "facts_query",
    "of_current_derivation",
    "stored_fact",
]

ANNOTATION = FACT_CODES[FactKind.ANNOTATION_CHANGED]
APPEARED = FACT_CODES[FactKind.APPEARED]
DEPTH_MAX = 4
"""Steps from what a person asked for down to its Pods."""


class FactReader:
    """Reads the facts of one log up to a size."""

    def __init__(self, engine: AsyncEngine, log: int, size: int) -> None:
        self._engine = engine
        self._log = log
        self._size = size

    async def end(self) -> FactsEnd | None:
        """Give where facts end; None where every entry has its own."""
        async with reading(self._engine, "read the facts") as connection:
            return await facts_end(connection, self._log, self._size)

    async def of_nodes(
        self,
        names: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> Sequence[StoredFact]:
        """Give what concerns nodes, and what may: locks that name one."""
        numbers = select(node.c.node_id).where(
            node.c.log_id == self._log, node.c.name.in_(names)
        )
        async with reading(self._engine, "read the facts") as connection:
            ids = list(await connection.scalars(numbers))
            placed = await self._facts(
                connection, fact.c.node_id.in_(ids), since, until
            )
            unplaced = await self._facts(
                connection,
                and_(fact.c.kind == ANNOTATION, fact.c.node_id.is_(None)),
                since,
                until,
            )
        return sorted([*placed, *unplaced], key=_order)

    async def signs(
        self, since: datetime | None, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Give what is about nodes as such, of the whole fleet."""
        async with reading(self._engine, "read the facts") as connection:
            return await self._facts(connection, fact.c.sign, since, until)

    async def last_sign(
        self, name: str, until: datetime | None
    ) -> datetime | None:
        """Give when the last sign about a node was."""
        query = (
            select(func.max(fact.c.at))
            .join(node, node.c.node_id == fact.c.node_id)
            .where(node.c.log_id == self._log, node.c.name == name)
            .where(fact.c.sign, fact.c.position <= self._size)
        )
        if until is not None:
            query = query.where(fact.c.at < until)
        async with reading(self._engine, "read the facts") as connection:
            found: datetime | None = await connection.scalar(query)
            return found

    async def node_labels(self) -> dict[str, dict[str, str]]:
        """Give the labels with which each node appeared."""
        query = (
            # As text, and put in order here: of five thousand nodes they are
            # megabytes, which PostgreSQL would sort on the disk.
            select(
                fact.c.position,
                node.c.name,
                cast(fact.c.detail["state"]["labels"], Text).label("labels"),
            )
            .join(node, node.c.node_id == fact.c.node_id)
            .where(fact.c.log_id == self._log, fact.c.sign)
            .where(fact.c.kind == APPEARED, fact.c.position <= self._size)
        )
        async with reading(self._engine, "read the facts") as connection:
            rows = (await connection.execute(query)).all()
        return {
            name: orjson.loads(labels) if labels else {}
            for _, name, labels in sorted(rows, key=itemgetter(0))
        }

    async def of_gangs(
        self, owners: Collection[str], *, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Give all about objects of these UIDs and what they control."""
        async with reading(self._engine, "read the facts") as connection:
            tops = list(
                await connection.scalars(
                    select(object_.c.object_id).where(
                        object_.c.log_id == self._log,
                        object_.c.uid.in_(owners),
                    )
                )
            )
            family = set(tops)
            newest = list(tops)
            for _ in range(DEPTH_MAX):
                children = select(fact.c.object_id).where(
                    fact.c.owner_id.in_(newest), fact.c.log_id == self._log
                )
                newest = [
                    number
                    for number in await connection.scalars(children)
                    if number not in family
                ]
                if not newest:
                    break
                family.update(newest)
            return await self._facts(
                connection, fact.c.object_id.in_(family), None, until
            )

    async def owners_of(self, uids: Collection[str]) -> Sequence[StoredFact]:
        """Give how objects of these UIDs appeared, and how they ended."""
        numbers = select(object_.c.object_id).where(
            object_.c.log_id == self._log, object_.c.uid.in_(uids)
        )
        async with reading(self._engine, "read the facts") as connection:
            ids = list(await connection.scalars(numbers))
            return await self._facts(
                connection, fact.c.object_id.in_(ids), None, None
            )

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
        rows = (await connection.execute(facts_query(self._log, asked))).all()
        return sorted((stored_fact(row) for row in rows), key=_order)


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


def facts_query(log: int, asked: Sequence[ColumnElement[bool]]) -> Query:
    """Select facts with the names of what they refer to."""
    found = (
        select(
            fact.c.log_id.label("log"),
            fact.c.position,
            fact.c.index.label("place"),
            fact.c.observed_at,
            fact.c.occurred_at,
            fact.c.kind,
            fact.c.detail,
            fact.c.object_id,
            fact.c.node_id,
            fact.c.actor_id,
        )
        .where(fact.c.log_id == log, *asked)
        .subquery("found")
    )
    return (
        select(
            found,
            node.c.name.label("node"),
            word.c.text.label("actor"),
            kind.c.api_group,
            kind.c.name.label("object_kind"),
            object_.c.namespace,
            object_.c.name,
            object_.c.uid,
        )
        .select_from(found)
        .outerjoin(node, node.c.node_id == found.c.node_id)
        .outerjoin(word, word.c.word_id == found.c.actor_id)
        .outerjoin(object_, object_.c.object_id == found.c.object_id)
        .outerjoin(kind, kind.c.kind_id == object_.c.kind_id)
    )


def _order(stored: StoredFact) -> tuple[int, int]:
    return stored.entry.position, stored.index


def stored_fact(row: QueryRow) -> StoredFact:
    """Make a fact of a row of `facts_query`."""
    thing = None
    if row.object_id is not None:
        thing = ObjectIdentity(
            row.api_group, row.object_kind, row.namespace, row.name, row.uid
        )
    return StoredFact(
        entry=EntryName(row.log, row.position),
        index=row.place,
        observed_at=row.observed_at,
        fact=Fact(
            kind=FACTS[row.kind],
            node=row.node,
            object=thing,
            occurred_at=row.occurred_at,
            actor=row.actor,
            detail=row.detail,
        ),
    )
