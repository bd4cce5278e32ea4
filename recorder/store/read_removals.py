"""Checks that the log records all removals from it.

The hashes that remain prove what an entry was, but not that retention removed
it. Retention leaves a notice in the transaction of each removal, and the
writer of the log makes it an entry, which is hashed and signed. A removal
without such an entry was not made by retention.
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

CLOCKS_APART = timedelta(days=2)
"""How far a clock may be set back between a removal and its entry."""

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
    """The content of an entry or a notice of a removal."""

    action: str
    last_batch: int | None = None
    range: str | None = None
    run: int | None = None
    sha256: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Return the values that must match a removal."""
        if self.action == "dropped":
            return "dropped", self.last_batch, self.range
        return self.action, self.run, self.sha256


class _Removal(NamedTuple):
    """What was removed, and the key of its entry."""

    key: tuple[object, ...]
    at: datetime
    batch: int | None
    what: str


class Removals(NamedTuple):
    """Problems of the removals of a log, and those not recorded yet."""

    problems: Sequence[Problem]
    waiting: int
    """The number of removals whose notice is not an entry yet."""


async def removals(connection: asyncpg.Connection, end: LogEnd) -> Removals:
    """Return removals that the log does not record, or records differently.

    Of dropped days only the newest is checked: they are dropped in order, and
    its entry is always after them.
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
    recorded = await recorded_of_retention(connection, end, since)
    keys = set(map(_key, recorded.values()))
    missing = [one for one in wanted if one.key not in keys]
    waiting = set()
    if missing:
        waiting = set(map(_key, await waiting_of_retention(connection, end)))
    problems += [_unrecorded(one) for one in missing if one.key not in waiting]
    return Removals(problems, sum(one.key in waiting for one in missing))


async def _found(
    connection: asyncpg.Connection, end: LogEnd
) -> AsyncIterator[_Removal | Problem]:
    """Yield removals, and problems of the rows that note them."""
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
            # No batches of an attached log are here.
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
