"""Reading: whether the log itself tells of what was removed from it.

Hashes that stay behind prove what an entry was, and not who took it away.
Retention leaves a notice in the transaction of each removal, and the writer of
the log takes it up as an entry, which is hashed and signed as any: a removal
of which there is none was not retention's.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import asyncpg
import msgspec

from recorder.integrity.chain import Problem
from recorder.integrity.thinned import Digest
from recorder.store.read_batches import LogEnd
from recorder.store.read_retained import (
    recorded_of_retention,
    waiting_of_retention,
)
from recorder.store.read_thinned import thinned_of_run
from recorder.store.statement import Statement

__all__ = ["Removals", "removals"]

CLOCKS_APART = timedelta(days=2)
"""As far as a clock may be set back between a removal and its entry."""

LAST_DROP = Statement.of("""
    select p.name, d.last_batch, encode(d.range, 'hex') as range, p.dropped_at
    from recorder.archived_day d
    join recorder.partition p on p.name = d.partition
    where d.log_id = :log and d.last_batch = :pruned_batches
""")
THINNINGS = Statement.of("""
    select g.run, g.partition, g.entries, g.sha256, g.thinned_at,
      d.last_batch
    from recorder.thinning g
    left join recorder.archived_day d
      on d.partition = g.partition and d.log_id = g.log_id
    where g.log_id = :log and g.entries > 0
      and coalesce(d.last_batch > :pruned_batches, true)
    order by g.run
""")


class _Said(msgspec.Struct):
    """What an entry or a notice of retention says of a removal."""

    action: str
    last_batch: int | None = None
    range: str | None = None
    run: int | None = None
    sha256: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Return what it must say, word for word."""
        if self.action == "dropped":
            return "dropped", self.last_batch, self.range
        return self.action, self.run, self.sha256


class _Removal(NamedTuple):
    """What was removed, and what the entry of it says."""

    key: tuple[object, ...]
    at: datetime
    batch: int | None
    what: str


class Removals(NamedTuple):
    """What of the removals of a log is wrong, or not in it yet."""

    problems: Sequence[Problem]
    waiting: int
    """Removals of which the writer of the log will take up the notice."""


async def removals(connection: asyncpg.Connection, end: LogEnd) -> Removals:
    """Return which removals the log does not tell of, or tells otherwise.

    Of days that were dropped the newest is asked for: they go in order, and
    the entry of it always lies behind them.
    """
    problems: list[Problem] = []
    wanted: list[_Removal] = []
    async for one in _found(connection, end):
        if isinstance(one, Problem):
            problems.append(one)
        else:
            wanted.append(one)
    if not wanted:
        return Removals(problems, 0)
    since = min(one.at for one in wanted) - CLOCKS_APART
    told = await recorded_of_retention(connection, end, since)
    keys = set(map(_key, told.values()))
    missing = [one for one in wanted if one.key not in keys]
    waiting = set()
    if missing:
        waiting = set(map(_key, await waiting_of_retention(connection, end)))
    problems += [_unrecorded(one) for one in missing if one.key not in waiting]
    return Removals(problems, sum(one.key in waiting for one in missing))


async def _found(
    connection: asyncpg.Connection, end: LogEnd
) -> AsyncIterator[_Removal | Problem]:
    """Yield what was removed, and of what is noted of it what is wrong."""
    if end.pruned_batches:
        row = await LAST_DROP.fetch_row(
            connection, log=end.log, pruned_batches=end.pruned_batches
        )
        if row is not None and row["dropped_at"] is not None:
            yield _Removal(
                ("dropped", row["last_batch"], row["range"]),
                row["dropped_at"],
                row["last_batch"],
                f"{row['name']} and what was before it",
            )
        elif end.batches > end.pruned_batches:
            # Of a log that was attached nothing is here.
            yield Problem(
                kind="removal-unrecorded",
                batch=end.pruned_batches,
                says=f"batches up to {end.pruned_batches} are gone, and no"
                " day that retention dropped ends there",
            )
    for row in await THINNINGS.fetch(
        connection, log=end.log, pruned_batches=end.pruned_batches
    ):
        digest, count = Digest(), 0
        async for one in thinned_of_run(connection, end.log, row["run"]):
            digest.add(one)
            count += len(one.offsets)
        if (digest.value(), count) != (row["sha256"], row["entries"]):
            yield Problem(
                kind="thinned-altered",
                batch=row["last_batch"],
                says="what is noted of entries that went out of"
                f" {row['partition']} before their day is not what was"
                f" noted by run {row['run']} of retention",
            )
        yield _Removal(
            ("thinned", row["run"], digest.value().hex()),
            row["thinned_at"],
            row["last_batch"],
            f"{row['entries']} entries out of {row['partition']}",
        )


def _key(document: bytes | str) -> tuple[object, ...]:
    try:
        return msgspec.json.decode(document, type=_Said).key
    except msgspec.DecodeError:
        return ()


def _unrecorded(one: _Removal) -> Problem:
    return Problem(
        kind="removal-unrecorded",
        batch=one.batch,
        says=f"{one.what}: gone, and no entry of the log records that"
        " retention removed them",
    )
