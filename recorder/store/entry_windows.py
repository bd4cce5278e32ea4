"""Entries as the drafts that they were made of, window by window.

For who derives facts anew: in the order of the log, each entry with the place
of the version of its object before it, as intake knew it when it took it.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import asyncpg

from recorder.facts import KnownStates
from recorder.intake.state import Batch
from recorder.model.entry import Draft, Operation
from recorder.model.reference import ObjectIdentity
from recorder.store.codes import OPERATIONS, SOURCES
from recorder.store.encoding import Decoder
from recorder.store.lookback import documents, load_decoder
from recorder.store.rows import EVENT_COLLECTIONS
from recorder.store.statement import Statement

__all__ = ["EntryWindows", "Window", "heads_at"]

DOCUMENTS_BYTES_MAX = 64 << 20
"""Of keyframes kept at hand; another is read when a delta names it."""

GONE = frozenset({Operation.DELETED, Operation.ABSENT})
VERSIONS = frozenset({Operation.LISTED, Operation.ADDED, Operation.MODIFIED})

ENTRIES = """
    select e.position, e.recorded_at, e.observed_at, e.occurred_at, e.epoch,
      e.object_id, e.node_id, e.actor_id, e.resource_id, e.operation,
      e.source, e.base_distance, e.encoding, e.payload,
      o.kind_id, o.namespace, o.name, o.uid
    from recorder.entry e
    left join recorder.object o on o.object_id = e.object_id
    where e.log_id = $1 and e.position > $2 and e.position <= $3
      and e.recorded_at >= (
        select recorded_at from recorder.batch
        where log_id = $1 and first_position <= $2 + 1
        order by first_position desc limit 1)
      and e.recorded_at <= (
        select recorded_at from recorder.batch
        where log_id = $1 and first_position <= $3
        order by first_position desc limit 1)
    order by e.position
"""
HEADS_AT = Statement.of("""
    select e.object_id, e.position
    from (
      select object_id, max(position) as position from recorder.entry
      where log_id = :log and position <= :position and operation <= #absent
        and object_id is not null
        and resource_id <> all (array(
          select resource_id from recorder.resource
          where name = any(:events::text[])))
      group by object_id) newest
    join recorder.entry e on e.log_id = :log and e.position = newest.position
    where e.operation <= #modified
""")
NODES = "select node_id, name from recorder.node where node_id = any($1)"
WORDS = "select word_id, text from recorder.word where word_id = any($1)"
RESOURCES = "select resource_id, name from recorder.resource"
KINDS = "select kind_id, api_group, name from recorder.kind"


class Window:
    """Entries that follow one another."""

    def __init__(self, batch: Batch, rows: Sequence[asyncpg.Record]) -> None:
        self.batch = batch
        self._rows = rows

    @property
    def recorded_at(self) -> dict[int, datetime]:
        """When each entry was recorded, by position."""
        return {row["position"]: row["recorded_at"] for row in self._rows}

    def objects(self) -> dict[ObjectIdentity, int]:
        """Return the number of every object that the entries name."""
        return {
            draft.identity: row["object_id"]
            for row, (_, draft) in zip(
                self._rows, self.batch.drafts, strict=True
            )
            if draft.identity is not None
        }


async def heads_at(
    connection: asyncpg.Connection, log: int, position: int
) -> dict[int, int]:
    """Return the newest entry of each object that was alive at a position."""
    if position == 0:
        return {}
    asked = HEADS_AT.values(
        {"log": log, "position": position, "events": list(EVENT_COLLECTIONS)}
    )
    return dict(await connection.fetch(HEADS_AT.text, *asked))


class EntryWindows:
    """Reads the entries of one log in their order, from a position on.

    Memory: about 150 bytes for each live object, the keyframes, and the
    states that a `Deriver` leaves to be known.
    """

    def __init__(
        self,
        connection: asyncpg.Connection,
        log: int,
        decoder: Decoder,
        heads: dict[int, int],
    ) -> None:
        """Keep the heads as of the position at which reading begins."""
        self._connection = connection
        self._log = log
        self._decoder = decoder
        self._heads = heads
        self._states = KnownStates()
        self._nodes: dict[int, str] = {}
        self._words: dict[int, str] = {}
        self._resources: dict[int, str] = {}
        self._kinds: dict[int, tuple[str, str]] = {}
        self._keyframes: OrderedDict[int, bytes] = OrderedDict()
        self._keyframe_bytes = 0

    @classmethod
    async def opened(
        cls,
        connection: asyncpg.Connection,
        log: int,
        heads: dict[int, int],
    ) -> "EntryWindows":
        """Open it, with the dictionaries as they are now."""
        decoder = await load_decoder(connection)
        return cls(connection, log, decoder, heads)

    async def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Return the documents of entries by position."""
        return await documents(
            self._connection, self._log, positions, decoder=self._decoder
        )

    async def read(self, after: int, until: int) -> Window:
        """Read the entries behind a position, up to another."""
        rows = await self._connection.fetch(ENTRIES, self._log, after, until)
        await self._know(rows)
        raws = await self._raws(rows)
        batch = Batch(first_position=after + 1, epoch=0, states=self._states)
        for row in rows:
            position = row["position"]
            draft = self._draft(row, raws[position])
            batch.drafts.append((row["epoch"], draft))
            previous = self._previous(row, draft)
            if previous is not None:
                batch.previous[position] = previous
        assert len(batch) == until - after, "no position is left out"
        return Window(batch, rows)

    def _previous(self, row: asyncpg.Record, draft: Draft) -> int | None:
        """Move the head of an object; return where it was."""
        number = row["object_id"]
        if number is None or draft.resource in EVENT_COLLECTIONS:
            return None
        if draft.operation in GONE:
            return self._heads.pop(number, None)
        if draft.operation not in VERSIONS:
            return None
        previous = self._heads.get(number)
        self._heads[number] = row["position"]
        return previous

    def _draft(self, row: asyncpg.Record, raw: bytes) -> Draft:
        identity = None
        if row["object_id"] is not None:
            group, kind = self._kinds[row["kind_id"]]
            identity = ObjectIdentity(
                group, kind, row["namespace"], row["name"], row["uid"]
            )
        return Draft(
            source=SOURCES[row["source"]],
            operation=OPERATIONS[row["operation"]],
            observed_at=row["observed_at"],
            raw=raw,
            resource=self._resources.get(row["resource_id"]),
            identity=identity,
            node=self._nodes.get(row["node_id"]),
            occurred_at=row["occurred_at"],
            actor=self._words.get(row["actor_id"]),
        )

    async def _know(self, rows: Sequence[asyncpg.Record]) -> None:
        """Read the names of numbers that are new."""
        ask = self._connection.fetch
        for known, column, question in (
            (self._nodes, "node_id", NODES),
            (self._words, "actor_id", WORDS),
        ):
            missing = _lacking(known, rows, column)
            if missing:
                known.update(await ask(question, missing))
        if _lacking(self._resources, rows, "resource_id"):
            self._resources.update(await ask(RESOURCES))
        if _lacking(self._kinds, rows, "kind_id"):
            self._kinds = {
                number: (group, name)
                for number, group, name in await ask(KINDS)
            }

    async def _raws(self, rows: Sequence[asyncpg.Record]) -> dict[int, bytes]:
        """Decode every document, with the keyframes at hand."""
        present = {row["position"] for row in rows}
        missing = {
            base
            for row in rows
            if row["base_distance"] is not None
            and (base := row["position"] - row["base_distance"]) not in present
            and base not in self._keyframes
        }
        if missing:
            found = await self.documents(sorted(missing))
            for position, raw in found.items():
                self._keep(position, raw)
        decode = self._decoder.decode
        raws: dict[int, bytes] = {}
        for row in rows:
            position, distance = row["position"], row["base_distance"]
            keyframe = None
            if distance is not None:
                base = position - distance
                keyframe = raws.get(base) or self._keyframes[base]
            raws[position] = decode(row["payload"], row["encoding"], keyframe)
        for row in rows:
            distance = row["base_distance"]
            if distance is not None:
                base = row["position"] - distance
                self._keep(base, raws.get(base) or self._keyframes[base])
        self._drop_keyframes()
        return raws

    def _keep(self, position: int, raw: bytes) -> None:
        if position in self._keyframes:
            self._keyframes.move_to_end(position)
            return
        self._keyframes[position] = raw
        self._keyframe_bytes += len(raw)

    def _drop_keyframes(self) -> None:
        while self._keyframe_bytes > DOCUMENTS_BYTES_MAX:
            _, raw = self._keyframes.popitem(last=False)
            self._keyframe_bytes -= len(raw)


def _lacking(
    known: Mapping[int, Any], rows: Iterable[asyncpg.Record], column: str
) -> set[int]:
    return {
        row[column]
        for row in rows
        if row[column] is not None and row[column] not in known
    }
