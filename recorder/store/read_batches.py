"""Reads the headers of batches, and checkpoints, for verification."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import asyncpg

from recorder.integrity.leaves import BatchHeader
from recorder.store.hashing import LogIdentity
from recorder.store.statement import Statement

HEADERS_AT_ONCE = 10_000

READ_END = Statement.of("""
    select l.uid, l.cluster_uid, h.size, h.batches, h.peaks,
      h.pruned_batches, h.pruned_positions
    from recorder.log l join recorder.log_head h using (log_id)
    where l.log_id = :log
""")
HEADERS = Statement.of("""
    select b.batch, b.first_position, b.entries, b.term, b.recorded_at,
      b.observed_min, b.observed_max,
      coalesce(b.root, s.root) as root, coalesce(b.tree, s.tree) as tree,
      case when b.root is null then s.sealed_at end as sealed_at
    from recorder.batch b left join recorder.seal s using (log_id, batch)
    where b.log_id = :log and b.batch > :after and b.batch <= :until
    order by b.batch limit :most
""")
DROPPED = Statement.of("""
    select partition, first_batch, last_batch, last_position, range, uri
    from recorder.archived_day
    where log_id = :log and last_batch <= :pruned_batches
    union all
    select name, first_batch, last_batch, last_position, range, uri
    from recorder.attached_day where log_id = :log
    order by first_batch
""")
UIDS = Statement.of("select uid, cluster_uid from recorder.log")
NOTES = Statement.of("""
    select note from recorder.checkpoint where log_id = :log order by batches
""")
PEAKS = Statement.of("""
    select distinct peaks from recorder.checkpoint
    where log_id = :log and batches = :batches and peaks is not null
""")
NEWEST_NOTES = Statement.of("""
    select note from recorder.checkpoint
    where log_id = :log order by batches desc, made_at desc limit 10
""")
WRITTEN = Statement.of("""
    select unnest(places) as place, note from recorder.checkpoint
    where log_id = :log
""")


@dataclass(frozen=True, slots=True)
class LogEnd:
    """Where a log ends, and its identity in checkpoints."""

    log: int
    identity: LogIdentity
    size: int
    batches: int
    peaks: bytes | None
    """None if batches are not sealed."""

    pruned_batches: int = 0
    """The number of the last dropped batch."""

    pruned_positions: int = 0
    """The position of its last entry."""


@dataclass(frozen=True, slots=True)
class DroppedDay:
    """What the database has of a dropped day."""

    name: str
    first_batch: int
    last_batch: int
    last_position: int
    packed: bytes
    """The range over the hashes of its batches."""

    uri: str | None
    """The address in the archive, if it is archived."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The header of a batch, and its stored tree."""

    header: BatchHeader
    """Its root is empty if it has none yet."""

    tree: bytes | None
    """The hash of the log's tree up to it; None if it is not known."""

    @property
    def is_hashed(self) -> bool:
        """Whether it has a root."""
        return bool(self.header.root)


async def read_end(connection: asyncpg.Connection, log: int) -> LogEnd:
    """Return where a log ends now."""
    row = await READ_END.fetch_row(connection, log=log)
    identity = LogIdentity(row["uid"], row["cluster_uid"])
    return LogEnd(
        log,
        identity,
        row["size"],
        row["batches"],
        row["peaks"],
        row["pruned_batches"],
        row["pruned_positions"],
    )


async def dropped_days(
    connection: asyncpg.Connection, end: LogEnd
) -> Sequence[DroppedDay]:
    """Return the days that were dropped, oldest first."""
    rows = await DROPPED.fetch(
        connection, log=end.log, pruned_batches=end.pruned_batches
    )
    return [DroppedDay(*row) for row in rows]


async def headers(
    connection: asyncpg.Connection, end: LogEnd, *, after: int, until: int
) -> AsyncIterator[Stored]:
    """Yield the batches after one, up to another, in order."""
    while rows := await HEADERS.fetch(
        connection, log=end.log, after=after, until=until, most=HEADERS_AT_ONCE
    ):
        for row in rows:
            yield stored(row, end)
        after = rows[-1]["batch"]


def stored(row: asyncpg.Record, end: LogEnd) -> Stored:
    """Return the batch of a row."""
    header = BatchHeader(
        origin=end.identity.origin,
        cluster_uid=end.identity.cluster_uid,
        batch=row["batch"],
        first_position=row["first_position"],
        entries=row["entries"],
        term=row["term"],
        recorded_at=row["recorded_at"],
        observed_min=row["observed_min"],
        observed_max=row["observed_max"],
        root=row["root"] or b"",
        sealed_at=row["sealed_at"],
    )
    return Stored(header, row["tree"])


async def stored_notes(
    connection: asyncpg.Connection, log: int
) -> Sequence[str]:
    """Return the signed checkpoints of the database."""
    return [note for (note,) in await NOTES.fetch(connection, log=log)]


async def origins(connection: asyncpg.Connection) -> Sequence[str]:
    """Return the names of all logs in checkpoints."""
    rows = await UIDS.fetch(connection)
    return [LogIdentity(*row).origin for row in rows]


async def newest_notes(
    connection: asyncpg.Connection, log: int
) -> Sequence[str]:
    """Return the newest checkpoints, in the order of `Place.newest`."""
    rows = await NEWEST_NOTES.fetch(connection, log=log)
    return [note for (note,) in reversed(rows)]


async def written_notes(
    connection: asyncpg.Connection, log: int
) -> Sequence[tuple[str, str]]:
    """Return places with the checkpoints that were written to them.

    Older releases did not note this.
    """
    return [tuple(row) for row in await WRITTEN.fetch(connection, log=log)]


async def stored_peaks(
    connection: asyncpg.Connection, log: int, batches: int
) -> Sequence[bytes]:
    """Return the stored subtrees of a checkpoint."""
    rows = await PEAKS.fetch(connection, log=log, batches=batches)
    return [peaks for (peaks,) in rows]
