"""Reads the facts of a derivation by name, in the order of the log."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import asyncpg

from recorder.model.reference import ObjectIdentity
from recorder.store.details import DICTIONARIES, detail_json
from recorder.store.said_facts import Said, kind_of
from recorder.store.statement import Statement

NAMES_MAX = 100_000
"""Names of one table that are cached."""

CURRENT = Statement.of("""
    select derivation_id, rules, built_to from recorder.derivation
    where log_id = :log and state = 'current'
""")
FACTS = Statement.of("""
    select f.position, f.index, f.recorded_at, f.at, f.observed_at, f.kind,
      f.bearing, f.mark, f.value, f.place, f.labels, f.keys, f.owners,
      f.detail, f.object_id, f.owner_id, f.node_id, f.actor_id, f.topic_id
    from recorder.fact f
    where f.derivation_id = :derivation
      and f.position > :after and f.position <= :until
    order by f.position, f.index
""")
OUTSIDE = Statement.of("""
    select f.position from recorder.derivation d
    join recorder.log_head h using (log_id)
    join recorder.fact f on f.derivation_id = d.derivation_id
      and (f.position < 1 or f.position > h.size)
    where d.log_id = :log and d.state = 'current'
    order by 1 limit 10
""")
NODES = Statement.of("""
    select node_id, name from recorder.node
    where log_id = :log and node_id = any(:numbers)
""")
WORDS = Statement.of(
    "select word_id, text from recorder.word where word_id = any(:numbers)"
)
OBJECTS = Statement.of("""
    select o.object_id, k.api_group, k.name, o.namespace, o.name, o.uid
    from recorder.object o join recorder.kind k using (kind_id)
    where o.log_id = :log and o.object_id = any(:numbers)
""")
NO_OBJECT = ObjectIdentity("", "", "", "?", None)
"""For a number that no object has."""

Value = TypeVar("Value")


class CurrentDerivation(NamedTuple):
    """The derivation that answers use."""

    number: int
    rules: int
    built_to: int | None


async def current_derivation(
    connection: asyncpg.Connection, log: int
) -> CurrentDerivation | None:
    """Return the current derivation of a log; None if it has no facts."""
    row = await CURRENT.fetch_row(connection, log=log)
    return None if row is None else CurrentDerivation(*row)


async def facts_outside(
    connection: asyncpg.Connection, log: int
) -> Sequence[int]:
    """Return the positions of the first ten facts outside of the log."""
    return [
        position for (position,) in await OUTSIDE.fetch(connection, log=log)
    ]


class StoredFact(NamedTuple):
    """A row of facts."""

    place: int
    """Its index among the facts of its entry."""

    object_id: int | None
    said: Said


class SaidReader:
    """Reads the facts of one derivation."""

    def __init__(
        self,
        connection: asyncpg.Connection,
        log: int,
        derivation: int,
        dictionaries: Mapping[int, bytes],
    ) -> None:
        self._connection = connection
        self._log = log
        self._derivation = derivation
        self._dictionaries = dictionaries
        self._nodes: dict[int, str] = {}
        self._words: dict[int, str] = {}
        self._objects: dict[int, ObjectIdentity] = {}

    @classmethod
    async def opened(
        cls, connection: asyncpg.Connection, log: int, derivation: int
    ) -> "SaidReader":
        """Open it, with the dictionaries as they are now."""
        rows = await DICTIONARIES.fetch(connection)
        known = {number + 1: content for number, content in rows}
        return cls(connection, log, derivation, known)

    async def read(
        self, after: int, until: int
    ) -> Mapping[int, Sequence[StoredFact]]:
        """Return the facts after a position up to another, by position."""
        rows = await FACTS.fetch(
            self._connection,
            derivation=self._derivation,
            after=after,
            until=until,
        )
        await self._know(rows)
        found: dict[int, list[StoredFact]] = {}
        for row in rows:
            one = StoredFact(row["index"], row["object_id"], self._said(row))
            found.setdefault(row["position"], []).append(one)
        return found

    def _said(self, row: asyncpg.Record) -> Said:
        return Said(
            kind=kind_of(row["kind"]),
            recorded_at=row["recorded_at"],
            node=_named(self._nodes, row["node_id"], "?"),
            object=_named(self._objects, row["object_id"], NO_OBJECT),
            owner=_named(self._objects, row["owner_id"], NO_OBJECT),
            actor=_named(self._words, row["actor_id"], "?"),
            at=row["at"],
            observed_at=row["observed_at"],
            bearing=row["bearing"],
            mark=row["mark"],
            topic=_named(self._words, row["topic_id"], "?"),
            value=row["value"],
            place=row["place"],
            labels=_texts(row["labels"]),
            keys=_texts(row["keys"]),
            owners=_texts(row["owners"]),
            detail=self._detail(row["detail"]),
        )

    def _detail(self, stored: bytes) -> bytes:
        """Return a detail as JSON; empty if it cannot be read."""
        try:
            return detail_json(stored, self._dictionaries)
        except (IndexError, KeyError, zlib.error):
            return b""

    async def _know(self, rows: Sequence[asyncpg.Record]) -> None:
        """Read the names of numbers that are new."""
        connection, log = self._connection, self._log
        if missing := _lacking(self._nodes, rows, "node_id"):
            self._nodes.update(
                await NODES.fetch(connection, log=log, numbers=missing)
            )
        if missing := _lacking(self._words, rows, "actor_id", "topic_id"):
            self._words.update(await WORDS.fetch(connection, numbers=missing))
        if missing := _lacking(self._objects, rows, "object_id", "owner_id"):
            self._objects.update(
                (number, ObjectIdentity(*names))
                for number, *names in await OBJECTS.fetch(
                    connection, log=log, numbers=missing
                )
            )


def _named(
    names: Mapping[int, Value], number: int | None, unknown: Value
) -> Value | None:
    return None if number is None else names.get(number, unknown)


def _lacking(
    known: dict[int, Any], rows: Sequence[asyncpg.Record], *columns: str
) -> set[int]:
    if len(known) > NAMES_MAX:
        known.clear()
    named = {row[column] for row in rows for column in columns}
    return {number for number in named - {None} if number not in known}


def _texts(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if texts is None else tuple(texts)
