"""Playing schedules on the fake cluster, each in a process of its own.

Source, intake and HTTP are the real ones. Time is not, so that an hour of
timeouts takes a second. Each schedule injects every fault once and some of
them again, in an order of its own, while the cluster goes on; then everything
is mended, and the log is compared with what really happened.

The processes are forked from one that has imported everything, so that each
costs what it does and not what it needs. One that hangs is killed and counts
as failed; what one leaves behind, no other finds.
"""

import asyncio
import json
import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from recorder.intake.state import ResumePoint, StreamState
from recorder.model.entry import Draft
from recorder.model.observation import WATCH
from tests.cluster.comparison import Version
from tests.faults.covering import wrong_coverage
from tests.faults.faults import FAULTS
from tests.faults.gaps import wrong_gaps
from tests.faults.schedule import Outcome, Step, Strike, run
from tests.faults.truth import Truth, truth_of
from tests.faults.unseen import unseen_events
from tests.faults.world import World
from tests.support import fake_time
from tests.support.log_rows import compared, count_gaps, log_rows

__all__ = ["play_each"]

CORE = ("events", "namespaces", "nodes", "pods")
COMPARED = {
    *(("", plural) for plural in CORE),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("example.com", "widgets"),
}
FOLLOWED = [
    *(f"v1/{plural}" for plural in CORE),
    "apiextensions.k8s.io/v1/customresourcedefinitions",
    "example.com/v1/widgets",
]
BACKUPS = 4
"""Snapshots that are kept to be restored."""

MORE = 12
"""Faults that are injected once more."""

CALM_SECONDS = 30.0
"""From the last fault to the end, for what is still to be recorded."""

SETTLE_SECONDS = 1800.0
"""Of the test's own time; the longest wait in life is two minutes."""

PATIENCE_SECONDS = 240.0
"""For one schedule, on a machine that has other things to do."""

FORK = multiprocessing.get_context("fork")


class FakeWorld(World):
    """The fake world as the engine of schedules plays in it."""

    def steps(self) -> list[Step]:
        bag = [*FAULTS, *self.dice.choices(FAULTS, k=MORE)]
        self.dice.shuffle(bag)
        return [(fault,) for fault in bag]

    async def prepare(self, step: Step) -> list[Strike[Any]]:
        """Take a snapshot, and let the cluster run for a moment."""
        snapshot = self.cluster.epoch, self.cluster.snapshot()
        self.backups = [*self.backups, snapshot][-BACKUPS:]
        await asyncio.sleep(
            self.dice.choice([0.0, 0.005, 0.2, 1.5, 8.0, 30.0])
        )
        return [Strike(self, self.dice) for _ in step]

    def seconds(self) -> float:
        return self.steady()

    async def settle(self) -> None:
        """Wait until the log has caught up with a cluster that pauses."""
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                while self._unsettled():
                    self.cluster.bookmark()
                    await asyncio.sleep(1)
        except TimeoutError:
            msg = f"it never settled: {self._unsettled()}"
            raise TimeoutError(msg) from None

    async def judge_step(self, _: Sequence[Strike[Any]]) -> list[str]:
        """Judge nothing before everything is mended."""
        return []

    async def stop(self) -> list[str]:
        """Mend everything, and end as an operator would."""
        self.mend()
        await self.settle()
        await asyncio.sleep(CALM_SECONDS)
        await self.settle()
        wrong = self._open_at_the_end()
        for process in list(self.processes):
            self.processes.remove(process)
            await process.stop()
        await asyncio.sleep(1)
        self.end()
        log = self.database.log
        if log.holder is not None:
            wrong.append(f"{log.holder} still holds the lease")
        if self.cluster.streams:
            wrong.append(f"{len(self.cluster.streams)} watches are left")
        wrong += [
            f"{key} is {point.state.value} after a stop"
            for key, point in log.streams.items()
            if point.state is not StreamState.STOPPED
        ]
        return wrong + self.failed

    async def judge(self, outcome: Outcome) -> list[str]:
        log = self.database.log
        truth = self._truth()
        wrong = self._wrong_epochs()
        drafts = [draft for _, draft in log.entries]
        wrong += self.sender.judge(drafts)
        wrong += compared(
            list(truth),
            log.entries,
            log.streams,
            resources=COMPARED,
            through=self._committed(),
        )
        wrong += wrong_gaps(self)
        wrong += await wrong_coverage(self, truth, self._held(truth))
        outcome.entries = len(log.entries)
        outcome.healed = count_gaps(log.entries, outcome.gaps)
        return wrong

    async def evidence(
        self, _: Path
    ) -> tuple[list[tuple[int, Draft]], list[Version]]:
        return self.database.log.entries, list(self._truth())

    def _unsettled(self) -> list[str]:
        found = []
        if self.followed() != self.cluster.epoch:
            found.append("another history")
        for name in FOLLOWED:
            point = self.database.log.streams.get((WATCH, name))
            if point is None:
                found.append(f"{name} is unknown")
            elif point.gap is not None or not self._is_near(point):
                found.append(f"{name} is at {point}")
        return found

    def _is_near(self, point: ResumePoint) -> bool:
        return (
            point.state is StreamState.LIVE
            and int(point.completed or 0) >= self.cluster.revision - 50
            and self.processes != []
        )

    def _open_at_the_end(self) -> list[str]:
        watches = Counter(
            stream.kind.plural for stream in self.cluster.streams
        )
        writers = [p.name for p in self.processes if p.is_recording]
        wrong = [
            f"{count} watches of {plural} are open"
            for plural, count in watches.items()
            if count > 1
        ]
        if len(writers) != 1:
            wrong.append(f"{writers} write")
        return wrong

    def _truth(self) -> Truth:
        truth = truth_of(self)
        for version in unseen_events(self, truth):
            del truth[version]
        return truth

    def _committed(self) -> int:
        """Return up to where the log must hold everything: what is lost in
        the last moment, before a stop, comes with the next start."""
        return min(
            int(point.completed or 0)
            for (source, _), point in self.database.log.streams.items()
            if source == WATCH
        )

    def _held(self, truth: Truth) -> set[Version]:
        rows = {
            (row.epoch, row.resource, row.uid, row.revision)
            for row in log_rows(self.database.log.entries)
        }
        last, final = self._committed(), self.database.log.epoch
        return {
            version
            for version in truth
            if (version.epoch, version.resource, version.uid, version.revision)
            in rows
            or (version.epoch == final and version.revision > last)
        }

    def _wrong_epochs(self) -> list[str]:
        noticed = self.noticed()
        return [
            f"an epoch began, and nothing was rewound: {noticed}"
            for before, after in pairwise(noticed)
            if after <= before
        ]


def play_each(
    seeds: Iterable[int], *, at_once: int, keep: Path | None = None
) -> Iterator[Outcome]:
    """Play each seed; yield what became of it, in the order of ending."""
    waiting = iter(seeds)
    running: dict[Connection, tuple[ForkProcess, int, float]] = {}
    while True:
        while len(running) < at_once:
            seed = next(waiting, None)
            if seed is None:
                break
            ours, theirs = FORK.Pipe(duplex=False)
            process = FORK.Process(target=_report, args=(seed, theirs, keep))
            process.start()
            theirs.close()
            running[ours] = process, seed, time.monotonic()
        if not running:
            return
        for ready in wait(list(running), timeout=1):
            assert isinstance(ready, Connection)
            process, seed, _ = running.pop(ready)
            yield _ended(ready, process, seed)
        for process, _, began in running.values():
            if time.monotonic() - began > PATIENCE_SECONDS:
                process.kill()  # its end of the pipe closes with it


def _ended(pipe: Connection, process: ForkProcess, seed: int) -> Outcome:
    try:
        outcome = Outcome(**json.loads(pipe.recv_bytes()))
    except EOFError:
        process.join()
        status = process.exitcode or 0
        name = signal.Signals(-status).name if status < 0 else str(status)
        outcome = Outcome(seed=seed, wrong=[f"its process ended with {name}"])
    pipe.close()
    process.join()
    return outcome


def _report(seed: int, pipe: Connection, keep: Path | None) -> None:
    os.environ.clear()  # each request looks there for a proxy
    pipe.send_bytes(json.dumps(vars(_play(seed, keep))).encode())


def _play(seed: int, keep: Path | None) -> Outcome:
    random.seed(seed)  # for the jitter of commits
    outcome = Outcome(seed=seed)
    descriptors = _descriptors()
    with TemporaryDirectory() as folder:

        async def played() -> None:
            world = FakeWorld(seed, Path(folder))
            await run(world, outcome, say=lambda _: None, keep_in=keep)

        fake_time.run(played, complaints=outcome.wrong)
    left = _descriptors() - descriptors
    if left:
        outcome.wrong.append(f"{left} descriptors are still open")
    return outcome


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
