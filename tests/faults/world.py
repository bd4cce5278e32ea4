"""A cluster, a database and the recorders between them.

The cluster is never quiet: there are writes all the time, through every fault.
What is remembered here beside the fake's own history is what the oracle must
know of it: which history a log follows, and what it had seen of it.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from recorder.model.entry import Operation
from recorder.model.observation import WATCH, EpochBegan
from recorder.sources.watch import Clock
from tests.faults.claims import Sender
from tests.faults.database import Database
from tests.faults.process import Note, Process, Surroundings
from tests.support.fake_cluster import FakeCluster, Kind, Snapshot
from tests.support.fake_time import WallClock
from tests.support.log_rows import log_rows

__all__ = ["WIDGETS", "Rewind", "World"]

WIDGETS = Kind("widgets", "Widget", "example.com")
PLURALS = ("pods", "nodes", "events", "widgets")
BOOKMARK_SECONDS = 60.0
"""As often as an API server sends them."""


@dataclass(frozen=True)
class Rewind:
    """One restore of a snapshot."""

    epoch: int
    """That it began."""

    parent: int
    """The epoch of the snapshot."""

    backup: Snapshot
    continues: int | None
    """The epoch that the log followed, if it had seen nothing of what was
    taken away: if nothing was seen, nothing was lost."""

    common: int
    """Up to which revision both are the same history."""


class World:
    """Everything that a schedule happens to."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.steady = asyncio.get_running_loop().time
        self.dice = random.Random(seed)
        self.folder = folder
        self.wall = WallClock(self.steady)
        self.cluster = FakeCluster(steady=self.steady)
        # As Kubernetes does; others are free to say it in other words.
        self.cluster.names_oldest_version = seed % 4 != 3
        self.database = Database(
            steady=self.steady, dice=random.Random(seed + 1)
        )
        self.notes: list[Note] = []
        self.failed: list[str] = []
        self.rewinds: list[Rewind] = []
        self.backups: list[tuple[int, Snapshot]] = []
        self.processes: list[Process] = []
        self.heard: list[tuple[float, int, float]] = []
        """When the clock was set, in which session, and how far."""
        self._started = 0
        self._written = 0
        self._writer = random.Random(seed + 2)
        self.sender = Sender(
            lambda: [process.door for process in self.processes],
            random.Random(seed + 3),
        )

    @asynccontextmanager
    async def alive(self) -> AsyncIterator[None]:
        """Serve, write and record while entered."""
        cluster = self.cluster
        cluster.token = "token-0"
        async with cluster, asyncio.TaskGroup() as group:
            self._group = group
            self.write_token()
            cluster.add_crd(WIDGETS)
            cluster.put("namespaces", "default", namespace="")
            for _ in range(20):
                self.write()
            self._tasks = [
                group.create_task(self._be_busy()),
                group.create_task(self._send_bookmarks()),
                group.create_task(self.sender.run()),
            ]
            self.start()
            try:
                yield
            finally:
                self.end()
                for process in list(self.processes):
                    await self.kill(process)

    def end(self) -> None:
        """End all writes to the cluster, and all claims."""
        for task in self._tasks:
            task.cancel()

    def mend(self) -> None:
        """End all faults; what is lost stays lost."""
        cluster, database = self.cluster, self.database
        cluster.failures.clear()
        cluster.cut_after.clear()
        cluster.cut_lists.clear()
        cluster.flowing.set()
        cluster.answering.set()
        cluster.portion, cluster.pause = None, 0.0
        database.away = database.disk = None
        database.seconds = 0.0
        database.fates.clear()
        for process in self.processes:
            if process.session is not None:
                process.session.is_cut_off = False
        if not self.processes:
            self.start()

    def write_token(self) -> None:
        """Write the token of the moment to where recorders look for it."""
        self.cluster.kubeconfig(self.folder, self.cluster.token or "")

    # Recorders.

    def start(self) -> Process:
        self._started += 1
        around = Surroundings(
            kubeconfig=self.folder / "kubeconfig",
            cluster_uid=self.cluster.uid,
            cluster_epoch=lambda: self.cluster.epoch,
            database=self.database,
            clock=Clock(now=self.wall.now, monotonic=self.steady),
            dice=random.Random(self.dice.random()),
            notes=self.notes,
            failed=self.failed,
        )
        process = Process(f"recorder-{self._started}", around)
        self.processes.append(process)
        process.start(self._group)
        return process

    async def kill(self, process: Process) -> None:
        self.processes.remove(process)
        await process.kill()

    def recording(self) -> Process | None:
        """Return the process that writes the log."""
        found = [p for p in self.processes if p.is_recording]
        return found[-1] if found else None

    def jump(self, seconds: float) -> None:
        """Set the clock of the machine while it is recorded."""
        process = self.recording()
        assert process is not None
        assert process.session is not None
        self.wall.jump(seconds)
        self.heard.append((self.steady(), process.session.number, seconds))

    # What people and controllers do.

    def write(self) -> None:
        dice, cluster = self._writer, self.cluster
        plural = dice.choice([p for p in PLURALS if p in cluster.kinds])
        self._written += 1
        name = f"{plural}-{dice.randrange(8)}"
        if plural == "events":
            name = f"event-{self._written}"
        cluster.put(plural, name, spec={"n": self._written})

    def delete(self, plural: str | None = None) -> None:
        """Delete one object, or some Events in one revision."""
        dice, there = self._writer, sorted(self.cluster.objects)
        found = [k for k in there if k[0] in (plural or PLURALS)]
        if not found:
            return
        first = dice.choice(found)
        count = dice.randrange(1, 6) if first[0] == "events" else 1
        same = [k for k in found if k[:2] == first[:2] and k != first]
        keys = [first, *dice.sample(same, min(count - 1, len(same)))]
        names = [name for _, _, name in keys]
        self.cluster.delete(first[0], *names, namespace=first[1])

    async def _be_busy(self) -> None:
        dice = self._writer
        while True:
            await asyncio.sleep(dice.choice([0.0, 0.01, 0.3, 3.0, 20.0]))
            for _ in range(dice.choice([1, 1, 1, 5])):
                if dice.random() < 1 / 6:
                    self.delete()
                else:
                    self.write()

    async def _send_bookmarks(self) -> None:
        while True:
            await asyncio.sleep(BOOKMARK_SECONDS)
            for plural in self.cluster.kinds:
                if plural != "events":
                    self.cluster.bookmark(plural)

    # Which history a log follows.

    def followed(self) -> int:
        """Return the epoch of the cluster that the log's is a record of."""
        epoch = self.noticed()[-1]
        for rewind in self.rewinds:
            if rewind.continues == epoch:
                epoch = rewind.epoch
        return epoch

    def rewind(self, parent: int, backup: Snapshot) -> bool:
        """Restore a snapshot if that can be detected; return whether.

        Where only the number of a revision is known to lie beyond, and no
        object that has it, a history that has grown past that number is
        indistinguishable from ours.
        """
        log, followed = self.database.log, self.followed()
        common = self._common(followed, parent, backup.revision)
        heads = [
            int(head.resource_version)
            for head in log.heads.values()
            if head.epoch == log.epoch
        ]
        unseen = self._seen() <= common
        if not unseen and max(heads, default=0) <= common:
            return False
        self.cluster.rewind(backup)
        continues = followed if unseen else None
        epoch = self.cluster.epoch
        self.rewinds.append(Rewind(epoch, parent, backup, continues, common))
        return True

    def _seen(self) -> int:
        """Return the newest revision of this epoch that the log knows of."""
        log = self.database.log
        places = [
            int(version)
            for (source, _), point in log.streams.items()
            for version in (point.completed, point.pending)
            if source == WATCH and version is not None
        ]
        rows = [
            row.revision or 0
            for row in log_rows(log.entries)
            if row.epoch == log.epoch
        ]
        return max([*places, *rows], default=0)

    def _common(self, followed: int, parent: int, upto: int) -> int:
        ours = self._lineage(followed, 1 << 62)
        theirs = self._lineage(parent, upto)
        return max(
            min(limit, theirs[epoch])
            for epoch, limit in ours.items()
            if epoch in theirs
        )

    def _lineage(self, epoch: int, upto: int) -> dict[int, int]:
        """Return from which epochs a history comes, and up to where."""
        found = {epoch: upto}
        while epoch:
            rewind = self.rewinds[epoch - 1]
            epoch, upto = rewind.parent, min(upto, rewind.backup.revision)
            found[epoch] = upto
        return found

    def noticed(self) -> list[int]:
        """Return the cluster's epoch at the start of each of the log's."""
        began = {
            note.what.observed_at: note.epoch
            for note in self.notes
            if isinstance(note.what, EpochBegan)
        }
        return [0] + [
            began[draft.observed_at]
            for draft in self.database.log.drafts(Operation.EPOCH_BEGAN)
        ]
