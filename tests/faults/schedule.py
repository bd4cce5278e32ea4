"""Fault schedules: a seed decides what breaks, when, and for how long.

Each injects every fault once and some of them again, in an order of its own,
while the cluster goes on; then everything is mended, and the log is compared
with what really happened. Source, intake and HTTP are the real ones. Time is
not, so that an hour of timeouts takes a second.
"""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from recorder.intake.state import ResumePoint, StreamState
from recorder.model.entry import Draft
from recorder.model.observation import WATCH
from tests.cluster.comparison import Version, differences
from tests.faults.covering import wrong_coverage
from tests.faults.faults import Faults
from tests.faults.gaps import told_gaps, wrong_gaps
from tests.faults.truth import Truth, truth_of
from tests.faults.unseen import unseen_events
from tests.faults.world import World
from tests.support import fake_time
from tests.support.log_rows import gap_spans, log_rows, over_rewinds

__all__ = ["Outcome", "play"]

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
"""From the last fault to the end: whatever is still to be told is."""

SETTLE_SECONDS = 1800.0
"""Of the test's own time; the longest wait in life is two minutes."""


@dataclass
class Outcome:
    """What became of one schedule."""

    seed: int
    wrong: list[str] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)
    injected: Counter[str] = field(default_factory=Counter)
    gaps: Counter[str] = field(default_factory=Counter)
    healed: int = 0
    entries: list[tuple[int, Draft]] = field(default_factory=list)
    truth: list[Version] = field(default_factory=list)


def play(seed: int) -> Outcome:
    """Play a schedule from its beginning to its judgement."""
    random.seed(seed)  # for the jitter of commits
    outcome = Outcome(seed)
    descriptors = _descriptors()
    with TemporaryDirectory() as folder:
        fake_time.run(
            lambda: _play(outcome, Path(folder)), complaints=outcome.wrong
        )
    left = _descriptors() - descriptors
    if left:
        outcome.wrong.append(f"{left} descriptors are still open")
    return outcome


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def _play(outcome: Outcome, folder: Path) -> None:
    world = World(outcome.seed, folder)
    faults = Faults(world)
    try:
        async with world.alive():
            async with asyncio.timeout(SETTLE_SECONDS):
                await _settled(world)
            await _break(world, faults, outcome)
            await faults.mend()
            async with asyncio.timeout(SETTLE_SECONDS):
                await _settled(world)
            await asyncio.sleep(CALM_SECONDS)
            async with asyncio.timeout(SETTLE_SECONDS):
                await _settled(world)
            outcome.wrong += _open_at_the_end(world)
            await _stop(world, outcome)
    except* TimeoutError:
        outcome.wrong.append(f"it never settled: {_unsettled(world)}")
    outcome.injected = faults.injected
    outcome.entries = world.database.log.entries
    outcome.wrong += world.failed
    await _judge(world, outcome)


async def _break(world: World, faults: Faults, outcome: Outcome) -> None:
    dice = world.dice
    bag = [*faults.every, *dice.choices(faults.every, k=MORE)]
    dice.shuffle(bag)
    began = world.steady()
    for fault in bag:
        snapshot = world.cluster.epoch, world.cluster.snapshot()
        world.backups = [*world.backups, snapshot][-BACKUPS:]
        await asyncio.sleep(dice.choice([0.0, 0.005, 0.2, 1.5, 8.0, 30.0]))
        at = world.steady() - began
        said = await faults.inject(fault)
        outcome.happened.append(f"{at:9.3f} {said}")


async def _settled(world: World) -> None:
    """Wait until the log has caught up with a cluster that pauses."""
    while _unsettled(world):
        world.cluster.bookmark()
        await asyncio.sleep(1)


def _unsettled(world: World) -> list[str]:
    log = world.database.log
    found = []
    if world.followed() != world.cluster.epoch:
        found.append("another history")
    for name in FOLLOWED:
        point = log.streams.get((WATCH, name))
        if point is None:
            found.append(f"{name} is unknown")
        elif point.gap is not None or not _is_near(world, point):
            found.append(f"{name} is at {point}")
    return found


def _is_near(world: World, point: ResumePoint) -> bool:
    return (
        point.state is StreamState.LIVE
        and int(point.completed or 0) >= world.cluster.revision - 50
        and world.processes != []
    )


def _open_at_the_end(world: World) -> list[str]:
    watches = Counter(stream.kind.plural for stream in world.cluster.streams)
    writers = [p.name for p in world.processes if p.is_recording]
    wrong = [
        f"{count} watches of {plural} are open"
        for plural, count in watches.items()
        if count > 1
    ]
    if len(writers) != 1:
        wrong.append(f"{writers} write")
    return wrong


async def _stop(world: World, outcome: Outcome) -> None:
    """End as an operator would, and look for what is left."""
    for process in list(world.processes):
        world.processes.remove(process)
        await process.stop()
    await asyncio.sleep(1)
    log = world.database.log
    if log.holder is not None:
        outcome.wrong.append(f"{log.holder} still holds the lease")
    if world.cluster.streams:
        outcome.wrong.append(f"{len(world.cluster.streams)} watches are left")
    outcome.wrong += [
        f"{key} is {point.state.value} after a stop"
        for key, point in log.streams.items()
        if point.state is not StreamState.STOPPED
    ]


async def _judge(world: World, outcome: Outcome) -> None:
    log = world.database.log
    truth = truth_of(world)
    for version in unseen_events(world, truth):
        del truth[version]
    outcome.truth = list(truth)
    rows, wrong = over_rewinds(log_rows(log.entries), outcome.truth)
    outcome.wrong += _wrong_epochs(world)
    outcome.wrong += wrong
    outcome.wrong += differences(
        outcome.truth,
        rows,
        gap_spans(log.entries, log.streams),
        resources=COMPARED,
        through=_committed(world),
    )
    outcome.wrong += list(wrong_gaps(world))
    outcome.wrong += await wrong_coverage(world, truth, _held(truth, world))
    for gap in told_gaps(log.entries):
        if gap.possible:
            outcome.gaps[gap.reason] += 1
        else:
            outcome.healed += 1


def _committed(world: World) -> int:
    """Return up to where the log must hold everything: what is lost in the
    last moment, before a stop, comes with the next start."""
    return min(
        int(point.completed or 0)
        for point in world.database.log.streams.values()
    )


def _held(truth: Truth, world: World) -> set[Version]:
    rows = {
        (row.epoch, row.resource, row.uid, row.revision)
        for row in log_rows(world.database.log.entries)
    }
    last = _committed(world)
    final = world.database.log.epoch
    return {
        version
        for version in truth
        if (version.epoch, version.resource, version.uid, version.revision)
        in rows
        or (version.epoch == final and version.revision > last)
    }


def _wrong_epochs(world: World) -> list[str]:
    noticed = world.noticed()
    return [
        f"an epoch began, and nothing was rewound: {noticed}"
        for before, after in pairwise(noticed)
        if after <= before
    ]
