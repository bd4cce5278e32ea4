"""A schedule: by its seed, what breaks, in which order, and what with what.

It is told from the seed alone; when each process notices is the machine's
affair, and the log must be right whenever that is.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from recorder.embedded.server import EmbeddedServer
from recorder.wiring.database import roles_sql
from tests.cluster.waiting import until
from tests.support.read_log import WholeLog, read_log
from tests.survival.coverage import judge_coverage
from tests.survival.fault import Fault, Strike
from tests.survival.faults_cluster import CLUSTER_FAULTS
from tests.survival.faults_database import DATABASE_FAULTS
from tests.survival.faults_recorder import RECORDER_FAULTS
from tests.survival.judging import closed_gaps, differences, judge_gaps
from tests.survival.keeping import keep
from tests.survival.progress import Point
from tests.survival.site import Site, made

__all__ = ["FAULTS", "Outcome", "Schedule", "fault"]

FAULTS = (*RECORDER_FAULTS, *CLUSTER_FAULTS, *DATABASE_FAULTS)

STEPS = 5
TOGETHER = 0.5
"""How often two faults strike at once."""

GONE_SECONDS = 30


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What became of a schedule."""

    seed: int
    shared: bool
    struck: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    entries: int = 0
    gaps: dict[str, int] = field(default_factory=dict)
    """How many gaps were closed, by their reason."""

    healed: int = 0
    takeovers: list[float] = field(default_factory=list)
    seconds: float = 0.0
    kept: Path | None = None


Step = tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is struck, step by step."""

    seed: int
    shared: bool
    steps: tuple[Step, ...]

    @classmethod
    def of_seed(cls, seed: int) -> "Schedule":
        """Let a seed choose."""
        chooser = random.Random(seed)
        shared = chooser.random() < 0.5
        possible = [f for f in FAULTS if f.shared in {None, shared}]
        return cls(
            seed,
            shared,
            tuple(_step(chooser, possible) for _ in range(STEPS)),
        )

    async def run(
        self, *, keep_in: Path, say: Callable[[str], None] = lambda _: None
    ) -> Outcome:
        """Play it, and keep what is needed to understand a failure."""
        outcome = Outcome(seed=self.seed, shared=self.shared)
        began = time.monotonic()
        async with made(self.seed, shared=self.shared) as site:
            log = None
            try:
                async with asyncio.TaskGroup() as group:
                    traffic = group.create_task(site.traffic.run())
                    try:
                        log = await self._play(site, outcome, say)
                    finally:
                        traffic.cancel()
            except* Exception as failures:  # noqa: BLE001 - all are told
                outcome.wrong += _told(failures, site)
            outcome.seconds = time.monotonic() - began
            if outcome.wrong:
                outcome.kept = await keep(site, self, outcome, log, keep_in)
        return outcome

    async def _play(
        self, site: Site, outcome: Outcome, say: Callable[[str], None]
    ) -> WholeLog:
        for recorder in site.recorders:
            recorder.start()
        epoch = 1
        began = time.monotonic()
        revision = await _settle(site, epoch)
        say(f"  listed in {time.monotonic() - began:.1f} s")
        seen = (await site.head()).size
        chooser = random.Random(self.seed)
        for number, step in enumerate(self.steps):
            strikes = [
                Strike(site, random.Random(chooser.random())) for _ in step
            ]
            before = await site.points()
            site.traffic.go_on()
            began = time.monotonic()
            await _strike(step, strikes)
            epoch += sum(strike.epochs for strike in strikes)
            revision = await _settle(site, epoch)
            log = await read_log(site.database.dsn("reader"))
            wrong = await _judged(site, log, seen, before, strikes)
            seen = len(log.entries)
            for one, strike in zip(step, strikes, strict=True):
                outcome.struck.append(f"{one.name} {strike.detail}".strip())
            took = time.monotonic() - began
            what = " + ".join(outcome.struck[-len(step) :])
            say(f"  {number + 1}/{len(self.steps)} {took:.1f} s  {what}")
            outcome.wrong += [f"{what}: {one}" for one in wrong]
        began = time.monotonic()
        log = await _end(site, outcome, revision)
        say(f"  judged in {time.monotonic() - began:.1f} s")
        return log


def fault(name: str) -> Fault:
    """Return a fault by its name."""
    return next(one for one in FAULTS if one.name == name)


def _step(chooser: random.Random, possible: Sequence[Fault]) -> Step:
    first = chooser.choice(possible)
    beside = [f for f in possible if not f.parts & first.parts]
    if beside and chooser.random() < TOGETHER:
        return first, chooser.choice(beside)
    return (first,)


async def _strike(step: Step, strikes: Sequence[Strike]) -> None:
    async with asyncio.TaskGroup() as group:
        for one, strike in zip(step, strikes, strict=True):
            group.create_task(one.strike(strike))
            # The second strikes while the first does its work.
            await asyncio.sleep(strike.random.uniform(0.0, 0.8))


async def _settle(site: Site, epoch: int) -> int:
    await site.traffic.stop()
    await site.traffic.everything_once()
    return await site.until_caught_up(epoch=epoch)


async def _judged(
    site: Site,
    log: WholeLog,
    seen: int,
    before: dict[str, Point],
    strikes: Sequence[Strike],
) -> list[str]:
    gaps = closed_gaps(log, after=seen)
    wrong = await judge_gaps(site, log, gaps, before, strikes)
    wrong += [
        f"{recorder.name} ended by itself: {recorder.last_words()}"
        for recorder in site.recorders
        if recorder.pid is None
    ]
    return wrong


async def _end(site: Site, outcome: Outcome, revision: int) -> WholeLog:
    """Stop everything, and judge the whole."""
    for recorder in site.recorders:
        status = await recorder.stop()
        if status != 0:
            said = recorder.last_words()
            outcome.wrong.append(f"{recorder.name} ended {status}: {said}")
    async with AsyncExitStack() as stack:
        if not site.is_shared:
            await until(
                site.database.is_gone,
                "PostgreSQL stopped with the recorder",
                seconds=GONE_SECONDS,
            )
            await stack.enter_async_context(
                EmbeddedServer.open(site.data, roles_sql=roles_sql())
            )
        log = await read_log(site.database.dsn("reader"))
        outcome.wrong += await differences(site, log, through=revision)
        outcome.wrong += _left_open(log, site.clock.now())
        outcome.wrong += await judge_coverage(site, log)
    if not site.is_shared:
        await until(
            site.database.is_gone,
            "PostgreSQL stopped with the last command",
            seconds=GONE_SECONDS,
        )
    outcome.wrong += _orphans(site)
    _count(log, site, outcome)
    return log


def _left_open(log: WholeLog, now: datetime) -> list[str]:
    return [
        f"{name} is vouched for until {point.vouched_until}, and it is {now}"
        for (_, name), point in log.recovered.streams.items()
        if point.vouched_until is not None and point.vouched_until > now
    ] + [
        f"{name} is {point.state}, its gap {point.gap}"
        for (_, name), point in log.recovered.streams.items()
        if point.gap is not None or point.state not in {"stopped", "absent"}
    ]


def _orphans(site: Site) -> list[str]:
    """Return the processes that are left and name the data folder."""
    wrong = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        text = b" ".join(words).decode(errors="replace")
        if str(site.data) in text:
            wrong.append(f"an orphan: {entry.name} {text}")
    return wrong


def _count(log: WholeLog, site: Site, outcome: Outcome) -> None:
    outcome.entries = len(log.entries)
    outcome.takeovers = site.takeovers
    for gap in closed_gaps(log):
        if gap.possible:
            outcome.gaps[gap.reason] = outcome.gaps.get(gap.reason, 0) + 1
        else:
            outcome.healed += 1


def _told(failures: BaseExceptionGroup[Exception], site: Site) -> list[str]:
    told = []
    for failure in failures.exceptions:
        if isinstance(failure, BaseExceptionGroup):
            told += _told(failure, site)
        else:
            told.append(f"{type(failure).__name__}: {failure}")
    return told
