"""Reads the documents of many entries at once.

A delta needs the document of its keyframe, which is earlier in the same
partition and not a delta, so that a page takes at most one more query.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Protocol

from recorder.store.details import DICTIONARIES
from recorder.store.encoding import DICTIONARY, Decoder
from recorder.store.engine import Connection
from recorder.store.statement import question

STORED = """
    select position, recorded_at, base_distance, encoding, payload
    from recorder.entry
    where log_id = :log and position = any (:positions::int8[])
"""
AT = question(STORED)
BASES = question(f"{STORED} and recorded_at between :since and :until")


class Stored(Protocol):
    """A row with a payload."""

    position: int
    recorded_at: datetime
    base_distance: int | None
    encoding: int
    payload: bytes | None


class Documents:
    """Decodes the payloads of one log, and caches the dictionaries."""

    def __init__(self, log: int) -> None:
        self._log = log
        self._known: frozenset[int] = frozenset()
        self._decoder = Decoder({})

    async def at(
        self, connection: Connection, positions: Collection[int]
    ) -> Mapping[int, bytes]:
        """Return the documents of entries by position."""
        rows = await connection.fetch(
            AT, log=self._log, positions=list(positions)
        )
        return await self.decode(connection, rows)

    async def decode(
        self, connection: Connection, rows: Iterable[Stored]
    ) -> Mapping[int, bytes]:
        """Return documents by position, for the rows with a payload."""
        wanted = [row for row in rows if row.payload is not None]
        bases = await self._bases(connection, wanted)
        await self._know(connection, [*wanted, *bases])
        decode = self._decoder.decode
        keyframes = {
            row.position: decode(row.payload or b"", row.encoding)
            for row in bases
        }
        return {
            row.position: decode(
                row.payload or b"",
                row.encoding,
                keyframes.get(row.position - (row.base_distance or 0)),
            )
            for row in wanted
        }

    async def _bases(
        self, connection: Connection, rows: Iterable[Stored]
    ) -> Sequence[Stored]:
        deltas = [row for row in rows if row.base_distance is not None]
        if not deltas:
            return []
        times = [row.recorded_at for row in deltas]
        first_day = min(times).astimezone(UTC).date()
        return await connection.fetch(
            BASES,
            log=self._log,
            positions=list(
                {row.position - (row.base_distance or 0) for row in deltas}
            ),
            since=datetime.combine(first_day, time(), UTC),
            until=max(times),
        )

    async def _know(
        self, connection: Connection, rows: Iterable[Stored]
    ) -> None:
        """Reload the dictionaries when a payload names a new one."""
        named = {row.encoding - DICTIONARY for row in rows}
        if all(n < 0 or n in self._known for n in named):
            return
        found = {
            row.dictionary_id: row.bytes
            for row in await connection.fetch(DICTIONARIES)
        }
        self._known = frozenset(found)
        self._decoder = Decoder(found)
