"""Schedules on a real cluster, and those that together hold every fault.

A schedule is determined by its seed; when each process notices what is broken
is the machine's affair, and the log must be right whenever that is.
"""

import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recorder.embedded.server import EmbeddedServer
from recorder.model.entry import Draft
from recorder.wiring.database import roles_sql
from tests.cluster.comparison import Version
from tests.cluster.waiting import until
from tests.faults.schedule import Fault, Outcome, Step, Strike, run
from tests.support.log_rows import compared, count_gaps
from tests.support.read_log import WholeLog, read_log
from tests.survival.coverage import judge_coverage
from tests.survival.database import Point
from tests.survival.faults import FAULTS
from tests.survival.judging import judge_gaps
from tests.survival.site import UNREADABLE, Site, made

__all__ = ["CHOSEN", "Schedule"]

STEPS = 5
TOGETHER = 0.5
"""How often two faults strike at once."""

GONE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Schedule:
    """What strikes, step by step."""

    seed: int
    shared: bool
    steps: tuple[Step, ...]

    @classmethod
    def of_seed(cls, seed: int) -> "Schedule":
        """Let a seed choose."""
        chooser = random.Random(seed)
        shared = chooser.random() < 0.5
        possible = [f for f in FAULTS if f.shared in {None, shared}]
        steps = tuple(_chosen(chooser, possible) for _ in range(STEPS))
        return cls(seed, shared, steps)

    async def run(
        self, *, keep_in: Path, say: Callable[[str], None] = lambda _: None
    ) -> Outcome:
        """Play it, and keep what is needed to understand a failure."""
        database = "15, standby" if self.shared else "embedded"
        outcome = Outcome(seed=self.seed, database=database)
        async with made(self.seed, shared=self.shared) as site:
            world = RealWorld(site, self)
            await run(world, outcome, say=say, keep_in=keep_in)
        return outcome


def _chosen(chooser: random.Random, possible: Sequence[Fault]) -> Step:
    first = chooser.choice(possible)
    beside = [f for f in possible if not f.parts & first.parts]
    if beside and chooser.random() < TOGETHER:
        return first, chooser.choice(beside)
    return (first,)


def _written(seed: int, *steps: str, shared: bool) -> Schedule:
    """Return a schedule whose steps name their faults."""
    named = {fault.name: fault for fault in FAULTS}
    return Schedule(
        seed,
        shared,
        tuple(tuple(named[one] for one in s.split(" + ")) for s in steps),
    )


CHOSEN = (
    _written(
        1,
        "recorder killed + api server frozen long",
        "postgresql killed twice + wire cut",
        "disk full + etcd frozen",
        "compacted",
        "clock a day ahead + api server upgraded",
        shared=False,
    ),
    _written(
        2,
        "standby while frozen + etcd killed",
        "database wire hung + wire slow",
        "database clock back",
        "token late",
        "database wire cut + api server frozen",
        shared=True,
    ),
    _written(
        3,
        "postgresql frozen long + wire hung",
        "recorder frozen long + api server killed",
        "clock a day back + postgresql killed",
        "restored",
        shared=False,
    ),
    _written(
        4,
        "standby after kill",
        "postgresql frozen + recorder frozen",
        "kind made again",
        "database clock ahead + token rotated",
        "recorder stopped + api server killed",
        "database wire slow",
        shared=True,
    ),
)
"""Together they hold every kind of fault: playing all misses none."""


class RealWorld:
    """A real cluster as the engine of schedules plays in it."""

    def __init__(self, site: Site, schedule: Schedule) -> None:
        self._site = site
        self._schedule = schedule
        self._chooser = random.Random(schedule.seed)
        self._epoch = 1
        self._revision = 0
        """Up to which the log must be whole."""
        self._seen = 0
        """Entries that were judged before."""
        self._before: dict[str, Point] = {}
        self._log: WholeLog | None = None

    def alive(self) -> AbstractAsyncContextManager[None]:
        self._site.start_recorders()
        return self._site.written_to()

    def steps(self) -> Sequence[Step]:
        return self._schedule.steps

    def seconds(self) -> float:
        return time.monotonic()

    async def settle(self) -> None:
        self._revision = await self._site.settled(epoch=self._epoch)
        self._seen = (await self._site.head()).size

    async def prepare(self, step: Step) -> list[Strike[Any]]:
        dice = [random.Random(self._chooser.random()) for _ in step]
        self._before = await self._site.points()
        self._site.traffic.go_on()
        return [Strike(self._site, one) for one in dice]

    async def judge_step(self, strikes: Sequence[Strike[Any]]) -> list[str]:
        """Let the log catch up, and judge each gap by itself."""
        site = self._site
        self._epoch += sum(strike.epochs for strike in strikes)
        self._revision = await site.settled(epoch=self._epoch)
        log = self._log = await read_log(site.database.dsn("reader"))
        wrong = await judge_gaps(site, log, self._seen, self._before, strikes)
        self._seen = len(log.entries)
        return wrong + [
            f"{recorder.name} ended by itself: {recorder.last_words()}"
            for recorder in site.recorders
            if recorder.pid is None
        ]

    async def stop(self) -> list[str]:
        wrong = []
        for recorder in self._site.recorders:
            status = await recorder.stop()
            if status != 0:
                said = recorder.last_words()
                wrong.append(f"{recorder.name} ended {status}: {said}")
        return wrong

    async def judge(self, outcome: Outcome) -> list[str]:
        site = self._site
        async with AsyncExitStack() as stack:
            if not site.is_shared:
                await self._until_gone("the recorder")
                await stack.enter_async_context(
                    EmbeddedServer.open(site.data, roles_sql=roles_sql())
                )
            log = self._log = await read_log(site.database.dsn("reader"))
            await site.cluster.oracle.caught_up()
            # Events go on expiring when nothing else is written.
            wrong = compared(
                site.cluster.oracle.versions(),
                log.entries,
                log.recovered.streams,
                through=self._revision,
            )
            wrong += self._left_open(log)
            wrong += await judge_coverage(site, log)
        if not site.is_shared:
            await self._until_gone("the last command")
        outcome.entries = len(log.entries)
        outcome.takeovers = site.takeovers
        outcome.healed = count_gaps(log.entries, outcome.gaps)
        return wrong + list(_orphans(site))

    async def evidence(
        self, folder: Path
    ) -> tuple[Sequence[tuple[int, Draft]], Sequence[Version]]:
        site, log = self._site, self._log
        # TypeError: no recorder ever came to write.
        with suppress(TypeError, *UNREADABLE):
            log = await read_log(site.database.dsn("reader"))
        places = (site.folder, site.data, site.folder / "server")
        for place in (*places, site.folder / "cluster"):
            for pattern in ("*.said", "*.log"):
                for said in place.glob(pattern):
                    shutil.copy(said, folder / said.name)
        return log.entries if log else [], site.cluster.oracle.versions()

    async def _until_gone(self, last: str) -> None:
        await until(
            self._site.database.is_gone,
            f"PostgreSQL stopped with {last}",
            seconds=GONE_SECONDS,
        )

    def _left_open(self, log: WholeLog) -> list[str]:
        now = self._site.clock.now()
        streams = log.recovered.streams.items()
        return [
            f"{name} is vouched for until {point.vouched_until}, now is {now}"
            for (_, name), point in streams
            if point.vouched_until is not None and point.vouched_until > now
        ] + [
            f"{name} is {point.state}, its gap {point.gap}"
            for (_, name), point in streams
            if point.gap is not None
            or point.state not in {"stopped", "absent"}
        ]


def _orphans(site: Site) -> Iterator[str]:
    """Yield the processes that are left and name the data folder."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        text = b" ".join(words).decode(errors="replace")
        if str(site.data) in text:
            yield f"an orphan: {entry.name} {text}"
