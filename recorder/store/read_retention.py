"""Reads the days of the database, and what retention noted of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

from recorder.integrity.tree import CompactRange
from recorder.model.entry import Operation
from recorder.store.codes import OPERATION_CODES
from recorder.store.read_day import Day
from recorder.store.statement import Statement
from recorder.store.translate import translate_errors

DAYS = Statement.of("""
    select p.name, p.lower, p.upper, p.state, p.dropped_at,
      coalesce(pg_total_relation_size(to_regclass('recorder.' || p.name)), 0)
      + coalesce(pg_total_relation_size(
          to_regclass('recorder.fact_' || substr(p.name, 7))), 0) as bytes,
      array(select h.hold_id from recorder.hold h
        where p.state <> 'dropped' and p.upper <= clock_timestamp()
          and h.hold_id in (
            select hold_id from recorder.holds_over(p))) as holds
    from recorder.partition p
    where p.upper <= clock_timestamp() and p.state <> 'dropped'
    order by p.lower
""")
LOGS_OF_DAY = Statement.of("""
    select distinct b.log_id from recorder.batch b
    where b.recorded_at >= :lower and b.recorded_at < :upper
      and not exists (select from recorder.archived_day d
        where d.partition = :day and d.log_id = b.log_id)
    order by b.log_id
""")
ARCHIVED = Statement.of("""
    select d.*, l.uid, l.cluster_name, l.cluster_uid
    from recorder.archived_day d join recorder.log l on l.log_id = d.log_id
    where d.partition = :day order by d.log_id
""")
KEPT = Statement.of("""
    select d.uri, encode(d.manifest_sha256, 'hex') as sha256
    from recorder.archived_day d where d.uri is not null order by d.uri
""")
RANGES = Statement.of("""
    select first_batch, last_batch, range from recorder.archived_day
    where log_id = :log order by first_batch
""")
PRUNED = Statement.of("""
    select log_id, pruned_batches, pruned_positions from recorder.log_head
    where pruned_batches > 0 order by log_id
""")
IS_UNFINISHED = Statement.of("""
    select exists (select from recorder.log_head h
      join recorder.batch b on b.log_id = h.log_id
        and b.batch <= h.pruned_batches)
""")
REMAINING = Statement.of("""
    select h.log_id, h.size, h.batches, h.peaks, h.pruned_batches,
      h.pruned_positions
    from recorder.log_head h join recorder.log l on l.log_id = h.log_id
    where l.kind = 'live' and (h.expires_at > clock_timestamp()
      or exists (select from recorder.entry e where e.log_id = h.log_id
        and e.position = h.size and e.operation <> :since))
    order by h.log_id
""")
NOW = Statement.of("select clock_timestamp()")
BYTES = Statement.of("select pg_database_size(current_database())")


class Partition(NamedTuple):
    """A past day that is not dropped."""

    day: Day
    state: str
    bytes: int
    holds: tuple[int, ...]


class ArchivedRow(NamedTuple):
    """What retention noted of one log in one day."""

    log: int
    uid: str
    first_batch: int
    last_batch: int
    first_position: int
    last_position: int
    range: bytes
    manifest_sha256: str | None
    uri: str | None
    bytes: int


class Remaining(NamedTuple):
    """What remains of a log after a run."""

    log: int
    size: int
    batches: int
    peaks: bytes | None
    pruned_batches: int
    pruned_positions: int

    def document(self) -> Mapping[str, Any]:
        """Return the document of a notice.

        The root is that of the tree over all batches, including dropped
        ones; null if some have no hashes yet.
        """
        root = (
            self.peaks is not None
            and CompactRange.unpack(0, self.batches, self.peaks).root()
        )
        return {
            "batches": self.batches,
            "entries": self.size,
            "root": root.hex() if root else None,
            "dropped_batches": self.pruned_batches,
            "dropped_entries": self.pruned_positions,
        }


class RetentionReader:
    """Reads what retention decides by, on one connection."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def now(self) -> datetime:
        """Return the time of PostgreSQL's clock."""
        now: datetime = await NOW.fetch_value(self._connection)
        return now

    async def database_bytes(self) -> int:
        """Return the size of the database on disk."""
        found: int = await BYTES.fetch_value(self._connection)
        return found

    async def days(self) -> Sequence[Partition]:
        """Return the past days that are not dropped, oldest first."""
        with translate_errors("read the days of the log"):
            rows = await DAYS.fetch(self._connection)
        return [
            Partition(
                Day(row["name"], row["lower"], row["upper"]),
                row["state"],
                row["bytes"],
                tuple(row["holds"]),
            )
            for row in rows
        ]

    async def logs_to_verify(self, day: Day) -> Sequence[int]:
        """Return the logs with batches in a day that were not verified."""
        rows = await LOGS_OF_DAY.fetch(
            self._connection, lower=day.lower, upper=day.upper, day=day.name
        )
        return [row["log_id"] for row in rows]

    async def archived(self, day: Day) -> Sequence[ArchivedRow]:
        """Return what was verified of a day, by log."""
        rows = await ARCHIVED.fetch(self._connection, day=day.name)
        return [
            ArchivedRow(
                log=row["log_id"],
                uid=str(row["uid"]),
                first_batch=row["first_batch"],
                last_batch=row["last_batch"],
                first_position=row["first_position"],
                last_position=row["last_position"],
                range=row["range"],
                manifest_sha256=row["manifest_sha256"]
                and row["manifest_sha256"].hex(),
                uri=row["uri"],
                bytes=row["bytes"],
            )
            for row in rows
        ]

    async def remaining(self) -> Sequence[Remaining]:
        """Return what remains of each log that gets a notice of a run.

        These are logs that are being recorded, and logs whose last entry is
        not of retention: runs leave one entry in a log without a writer.
        """
        ran = OPERATION_CODES[Operation.RETENTION]
        rows = await REMAINING.fetch(self._connection, since=ran)
        return [Remaining(*row) for row in rows]

    async def kept(self) -> Sequence[tuple[str, str]]:
        """Return the archived days of all logs.

        Each is the address of its folder, and the SHA-256 of its manifest.
        """
        rows = await KEPT.fetch(self._connection)
        return [(row["uri"], row["sha256"]) for row in rows]

    async def ranges(self, log: int) -> Sequence[tuple[int, int, bytes]]:
        """Return the ranges of a log's days: first and last batch, hashes."""
        rows = await RANGES.fetch(self._connection, log=log)
        return [tuple(row) for row in rows]

    async def is_unfinished(self) -> bool:
        """Return whether batches of dropped days remain.

        They are removed last, so that a run that finds them repeats the
        steps before.
        """
        found: bool = await IS_UNFINISHED.fetch_value(self._connection)
        return found

    async def pruned(self) -> Mapping[int, tuple[int, int]]:
        """Return the last dropped batch and position, by log."""
        rows = await PRUNED.fetch(self._connection)
        return {row[0]: (row[1], row[2]) for row in rows}
