"""Reads many consecutive entries with their documents.

Names and keyframes are cached.
"""

import zlib
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import asyncpg

from recorder.model.columns import numbers_of
from recorder.model.entry import Entry
from recorder.model.errors import LogError
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.model.zstd import ZstdError
from recorder.store.encoding import Decoder
from recorder.store.lookback import documents, load_decoder
from recorder.store.read_scan import NUMBERED, TEXTS
from recorder.store.rows import ENTRY_COLUMNS, entries_of
from recorder.store.statement import Statement

DOCUMENTS_BYTES_MAX = 64 << 20
"""The cache of keyframes; others are read when a delta needs them."""

READ = ", ".join(f"e.{name}" for name in ENTRY_COLUMNS)
ENTRY = """
    select {}, o.kind_id, o.namespace, o.name, o.uid
    from recorder.entry e
    left join recorder.object o on o.object_id = e.object_id
    where e.log_id = :log and {} order by e.position
"""
ENTRIES = Statement.of(
    ENTRY.format(
        READ,
        """e.position > :after and e.position <= :until
      and e.recorded_at >= (
        select recorded_at from recorder.batch
        where log_id = :log and first_position <= :after + 1
        order by first_position desc limit 1)
      and e.recorded_at <= (
        select recorded_at from recorder.batch
        where log_id = :log and first_position <= :until
        order by first_position desc limit 1)""",
    )
)
AT = Statement.of(ENTRY.format(READ, "e.position = any(:positions)"))
NAMES = """
    select {0}_id, {1} from recorder.{0} where {0}_id = any(:numbers)
"""
KINDS = Statement.of("select kind_id, api_group, name from recorder.kind")

UNDECODABLE = (ZstdError, zlib.error, ValueError, MemoryError, KeyError)
"""Also a delta without its keyframe, and a missing dictionary."""


class UnreadableEntryError(LogError):
    """An entry, or a row that it refers to, is missing or damaged."""

    code = "log.unreadable"

    def __init__(self, name: EntryName, why: str) -> None:
        super().__init__(f"cannot read entry {name}: {why}")
        self.name = name
        self.why = why


class EntryDrafts:
    """Reads the entries of one log, from a position on.

    Memory: the names that entries refer to, and the keyframes.
    """

    def __init__(
        self, connection: asyncpg.Connection, log: int, decoder: Decoder
    ) -> None:
        """Use a connection, and the dictionaries of its database."""
        self._connection = connection
        self._log = log
        self._decoder = decoder
        self._names: dict[str, dict[int | None, str | None]] = {
            table: {None: None} for table in TEXTS
        }
        self._kinds: dict[int, tuple[str, str]] = {}
        self._keyframes: OrderedDict[int, bytes] = OrderedDict()
        self._keyframe_bytes = 0

    @classmethod
    async def opened(
        cls, connection: asyncpg.Connection, log: int
    ) -> "EntryDrafts":
        """Open it, with the dictionaries as they are now."""
        return cls(connection, log, await load_decoder(connection))

    async def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Return the documents of entries by position."""
        return await documents(
            self._connection, self._log, positions, decoder=self._decoder
        )

    async def read(
        self, after: int, until: int
    ) -> tuple[Sequence[asyncpg.Record], list[Entry]]:
        """Return the rows behind a position up to another, and their entries.

        Raises:
            UnreadableEntryError: one is not as it was written.
        """
        rows = await ENTRIES.fetch(
            self._connection, log=self._log, after=after, until=until
        )
        await self._know(rows)
        raws = await self._raws(rows)
        return rows, self._entries(rows, raws)

    async def at(
        self, positions: Sequence[int]
    ) -> tuple[Sequence[asyncpg.Record], list[Entry]]:
        """Return the rows at positions, and their entries.

        Raises:
            UnreadableEntryError: one is not as it was written.
        """
        rows = await AT.fetch(
            self._connection, log=self._log, positions=list(positions)
        )
        await self._know(rows)
        raws = await self._raws(rows)
        return rows, self._entries(rows, raws)

    def _entries(
        self, rows: Sequence[asyncpg.Record], raws: Mapping[int, bytes]
    ) -> list[Entry]:
        if not rows:
            return []
        columns: dict[str, Sequence[Any]] = dict(
            zip(rows[0].keys(), zip(*rows, strict=True), strict=True)
        )
        try:
            for column in NUMBERED:
                if column.names in self._names:
                    names = self._names[column.names]
                    numbers = columns[column.name]
                    columns[column.field] = [names[one] for one in numbers]
            columns["identity"] = [self._identity(row) for row in rows]
            return entries_of(self._log, columns, raws)
        except KeyError as exc:
            if len(rows) > 1:
                # One at a time, to name the entry.
                return [self._entries([row], raws)[0] for row in rows]
            why = f"it refers to {exc}, which is not there"
            raise self._unreadable(rows[0], why) from exc

    def _identity(self, row: asyncpg.Record) -> ObjectIdentity | None:
        if row["object_id"] is None:
            return None
        group, kind = self._kinds[row["kind_id"]]
        return ObjectIdentity(
            group, kind, row["namespace"], row["name"], row["uid"]
        )

    def _unreadable(
        self, row: asyncpg.Record, why: str
    ) -> UnreadableEntryError:
        return UnreadableEntryError(EntryName(self._log, row["position"]), why)

    async def _know(self, rows: Sequence[asyncpg.Record]) -> None:
        """Read the names of numbers that are new."""
        for table, known in self._names.items():
            columns = numbers_of(table)
            missing = set().union(
                *(_lacking(known, rows, column) for column in columns)
            )
            if missing:
                names = Statement.of(NAMES.format(table, TEXTS[table]))
                known.update(
                    await names.fetch(self._connection, numbers=missing)
                )
        if _lacking(self._kinds, rows, "kind_id"):
            self._kinds = {
                number: (group, name)
                for number, group, name in await KINDS.fetch(self._connection)
            }

    async def _raws(self, rows: Sequence[asyncpg.Record]) -> dict[int, bytes]:
        """Decode all documents, with the cached keyframes."""
        await self._read_keyframes(rows)
        decode = self._decoder.decode
        raws: dict[int, bytes] = {}
        for row in rows:
            position, distance = row["position"], row["base_distance"]
            try:
                keyframe = None
                if distance is not None:
                    base = position - distance
                    keyframe = raws.get(base) or self._keyframes[base]
                raws[position] = decode(
                    row["payload"], row["encoding"], keyframe
                )
            except UNDECODABLE as exc:
                why = f"its document cannot be decompressed ({exc})"
                raise self._unreadable(row, why) from exc
        for row in rows:
            distance = row["base_distance"]
            if distance is not None:
                base = row["position"] - distance
                self._keep(base, raws.get(base) or self._keyframes[base])
        self._drop_keyframes()
        return raws

    async def _read_keyframes(self, rows: Sequence[asyncpg.Record]) -> None:
        present = {row["position"] for row in rows}
        missing = {
            base
            for row in rows
            if row["base_distance"] is not None
            and (base := row["position"] - row["base_distance"]) not in present
            and base not in self._keyframes
        }
        for position in sorted(missing):
            # One at a time if they cannot be read together, to name one.
            if position in self._keyframes:
                continue
            try:
                found = await self.documents(sorted(missing))
            except UNDECODABLE:
                found = await self._one(position)
            for known, raw in found.items():
                self._keep(known, raw)

    async def _one(self, position: int) -> Mapping[int, bytes]:
        try:
            return await self.documents([position])
        except UNDECODABLE as exc:
            name = EntryName(self._log, position)
            why = f"its document cannot be decompressed ({exc})"
            raise UnreadableEntryError(name, why) from exc

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
    known: Collection[int | None], rows: Iterable[asyncpg.Record], column: str
) -> set[int]:
    return {
        row[column]
        for row in rows
        if row[column] is not None and row[column] not in known
    }
