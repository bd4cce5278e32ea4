"""Facts as they lie in the database, and the names of what they refer to.

Names are looked up by number once the facts are there. In one statement the
planner guesses how many facts there will be, and where it guesses too many it
reads every object of the log.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, select, text
from sqlalchemy.dialects.postgresql import ARRAY, BIGINT
from sqlalchemy.ext.asyncio import AsyncConnection

from recorder.model.fact import Fact, StoredFact
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.store.codes import FACTS
from recorder.store.tables import Query, QueryRow, fact

__all__ = ["FactNames", "facts_query"]

NAMES = text("""
    select 1 as what, node_id as number, name, null as api_group,
      null as kind, null as namespace, null as uid
    from recorder.node where node_id = any (:nodes)
    union all
    select 2, word_id, text, null, null, null, null
    from recorder.word where word_id = any (:words)
    union all
    select 3, o.object_id, o.name, k.api_group, k.name, o.namespace, o.uid
    from recorder.object o
    join recorder.kind k on k.kind_id = o.kind_id
    where o.object_id = any (:objects)
""").bindparams(
    *(
        bindparam(name, type_=ARRAY(BIGINT))
        for name in ("nodes", "words", "objects")
    )
)


def facts_query(log: int, asked: Sequence[ColumnElement[bool]]) -> Query:
    """Select facts, with numbers for what they refer to."""
    return select(
        fact.c.position,
        fact.c.index,
        fact.c.observed_at,
        fact.c.occurred_at,
        fact.c.kind,
        fact.c.detail,
        fact.c.object_id,
        fact.c.node_id,
        fact.c.actor_id,
    ).where(fact.c.log_id == log, *asked)


class FactNames:
    """The names that facts refer to, as far as they were asked for."""

    def __init__(self, log: int) -> None:
        self._log = log
        self._nodes: dict[int | None, str | None] = {None: None}
        self._words: dict[int | None, str | None] = {None: None}
        self._objects: dict[int | None, ObjectIdentity | None] = {None: None}

    async def facts(
        self, connection: AsyncConnection, asked: Sequence[ColumnElement[bool]]
    ) -> list[StoredFact]:
        """Read the facts of conditions, in the order of the log."""
        query = facts_query(self._log, asked)
        rows = sorted((await connection.execute(query)).all(), key=_order)
        await self._know(connection, rows)
        return [self._fact(row) for row in rows]

    async def _know(
        self, connection: AsyncConnection, rows: Iterable[QueryRow]
    ) -> None:
        objects, nodes, words = set[Any](), set[Any](), set[Any]()
        for row in rows:
            objects.add(row[6])
            nodes.add(row[7])
            words.add(row[8])
        missing = {
            "nodes": list(nodes - self._nodes.keys()),
            "words": list(words - self._words.keys()),
            "objects": list(objects - self._objects.keys()),
        }
        if not any(missing.values()):
            return
        for row in await connection.execute(NAMES, missing):
            what, number, name, group, kind, namespace, uid = row
            if what == 1:
                self._nodes[number] = name
            elif what == 2:  # noqa: PLR2004 - as in the statement
                self._words[number] = name
            else:
                self._objects[number] = ObjectIdentity(
                    group, kind, namespace, name, uid
                )

    def _fact(self, row: QueryRow) -> StoredFact:
        (
            position, index, observed_at, occurred_at, kind, detail,
            thing, node, actor,
        ) = row  # fmt: skip
        return StoredFact(
            entry=EntryName(self._log, position),
            index=index,
            observed_at=observed_at,
            fact=Fact(
                kind=FACTS[kind],
                node=self._nodes[node],
                object=self._objects[thing],
                occurred_at=occurred_at,
                actor=self._words[actor],
                detail=detail,
            ),
        )


def _order(row: QueryRow) -> tuple[int, int]:
    return row[0], row[1]
