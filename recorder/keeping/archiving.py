"""Archiving: days that are over, from the log into the place of the archive.

Every entry is hashed on its way. A batch with another hash than the recorded
one stops its day, and the error names it. The files are read again before the
database records them. A run that is killed is repeated by the next one; until
then the day is unchanged.
"""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import asyncpg

from recorder.archive.place import Place
from recorder.archive.writing import ArchivedDay
from recorder.integrity.tree import CompactRange, ProofError
from recorder.keeping.archiving_day import AlteredError, LogDay
from recorder.model.errors import LogError
from recorder.store.hashing import LogIdentity
from recorder.store.read_day import (
    Day,
    DayReader,
    StoredBatch,
)
from recorder.store.retention import RetentionStore
from recorder.store.translate import translate_errors

Scratch = Callable[[], AbstractContextManager[str]]
"""Makes a folder for what is written on the way."""


def scratch() -> AbstractContextManager[str]:
    """Make a folder among the temporary ones."""
    return tempfile.TemporaryDirectory(prefix="rec-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Archiver:
    """Archives one day after another."""

    connection: asyncpg.Connection
    store: RetentionStore
    place: Place | None
    """None if the policy archives nothing: then days are only verified."""

    on_progress: Callable[[str, int, int], None] = lambda *_: None
    """Receives the step, the entries done, and their total."""

    make_scratch: Scratch = scratch
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def seal(self, day: Day) -> None:
        """Seal a day."""
        await self.store.seal(day)

    async def archive(self, day: Day) -> Sequence[ArchivedDay]:
        """Verify a sealed day, and archive it log by log.

        Raises:
            AlteredError: a batch is not what was recorded.
            ArchiveError: what was written does not read back the same.
            PlaceError: it could not be written.
        """
        done = []
        with translate_errors(f"archive {day.name}"):
            for log in await self.store.logs_to_verify(day):
                found = await self._log(day, log)
                if found is not None:
                    done.append(found)
            if self.place is not None:
                await self.store.archive(day)
        return done

    async def _log(self, day: Day, log: int) -> ArchivedDay | None:
        reader = DayReader(self.connection, log, day)
        identity = await reader.identity()
        batches = await reader.batches(
            LogIdentity(identity["uid"], identity["cluster_uid"])
        )
        _check_batches(batches, day, log)
        made = CompactRange.of(
            batches[0].header.batch - 1,
            (one.header.hash() for one in batches),
        )
        alien = await reader.outside(
            batches[0].header.first_position, batches[-1].header.last_position
        )
        if alien is not None:
            msg = (
                f"entry {log}/{alien} of {day.name} belongs to no batch: it"
                " was not recorded by Recorder"
            )
            raise AlteredError(msg)
        task = LogDay(
            day=day,
            log=log,
            reader=reader,
            identity=identity,
            batches=batches,
            made=made,
            on_progress=self.on_progress,
            now=self.now,
            check_tree=partial(self._check_tree, log, batches[-1], made),
        )
        if self.place is None:
            async for _ in task.verified():
                pass
            await self.store.verified(day, log, packed=made.pack(), kept={})
            return None
        with self.make_scratch() as folder:
            kept = await task.write(self.place, Path(folder))
        await self.store.verified(
            day,
            log,
            packed=made.pack(),
            kept={"sha256": kept.sha256, "uri": kept.uri, "bytes": kept.bytes},
        )
        return kept

    async def _check_tree(
        self, log: int, last: StoredBatch, made: CompactRange
    ) -> None:
        """Compare with the tree of the log, if all earlier days are known."""
        tree = CompactRange()
        try:
            for first, end, packed in await self.store.ranges(log):
                if end <= made.begin:
                    tree.join(CompactRange.unpack(first - 1, end, packed))
            if tree.end != made.begin:
                return
            tree.join(made)
        except ProofError:
            return
        if last.tree is not None and tree.root() != last.tree:
            msg = (
                f"batches of log {log} up to {last.header.batch} are not those"
                " that were recorded: the hash of the log's tree differs"
            )
            raise AlteredError(msg)


def _check_batches(batches: Sequence[StoredBatch], day: Day, log: int) -> None:
    position = batches[0].header.first_position
    number = batches[0].header.batch
    for one in batches:
        header = one.header
        if (header.batch, header.first_position) != (number, position):
            msg = (
                f"batch {number} of log {log} in {day.name} is missing or does"
                " not begin where the one before ends"
            )
            raise AlteredError(msg)
        if not one.has_root:
            msg = (
                f"batch {number} of log {log} was recorded before there were"
                " hashes: run `recorder verify` once, which makes them"
            )
            raise LogError(msg, code="log.unhashed")
        number, position = number + 1, header.last_position + 1
