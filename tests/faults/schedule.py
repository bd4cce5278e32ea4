"""Schedules of faults: a seed decides which faults happen, and when.

A schedule is played in a world: a fake cluster, where an hour of timeouts
takes a second (`tests.faults.world`), or a real one (`tests.survival.site`).
Schedules, the order of a run and the files kept of a failure are the same for
both; each world has its own faults, and its own rules for the log after them.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import orjson

from recorder.model.entry import Draft
from tests.cluster.comparison import Version

__all__ = ["Fault", "Faults", "Outcome", "Step", "Strike", "World", "run"]


W = TypeVar("W")


@dataclass(slots=True)
class Strike(Generic[W]):
    """One fault at work, and what it reports about itself."""

    world: W
    random: random.Random
    epochs: int = 0
    """How often history was rewound."""

    reasons: set[str] = field(default_factory=set)
    """Why gaps may be opened, beside an expiry that the server confirms."""

    blind_at: datetime | None = None
    """After it nothing can have proved what is lost."""

    dim: bool = False
    """Whether a proof may be dated later than what it proves: a process was
    frozen or slow between the server and the recorder's clock, or the clock
    itself was moved."""

    detail: str = ""

    def note(self, detail: str) -> None:
        """Add a detail of the fault."""
        self.detail = f"{self.detail} {detail}".strip()


Breaking = Callable[..., Coroutine[Any, Any, bool | None]]
"""Returns False where the fault is not possible at the moment."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way of breaking something and of mending it again."""

    name: str
    strike: Breaking

    parts: frozenset[str]
    """What it breaks; a fault that breaks something else may go with it."""

    shared: bool | None = None
    """The database that it needs; None if any will do."""


Step = tuple[Fault, ...]
"""The faults that strike at once."""


class Faults(list[Fault]):
    """The faults of a world, in the order of their definition."""

    def __call__(
        self, *parts: str, shared: bool | None = None
    ) -> Callable[[Breaking], Breaking]:
        """Register the function that is decorated as a fault of its name."""

        def register(strike: Breaking) -> Breaking:
            name = strike.__name__.replace("_", " ")
            self.append(Fault(name, strike, frozenset(parts), shared))
            return strike

        return register


@dataclass(kw_only=True)
class Outcome:
    """What became of a schedule."""

    seed: int
    database: str = "in memory"
    wrong: list[str] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)
    """What happened, step by step."""

    faults: Counter[str] = field(default_factory=Counter)
    gaps: Counter[str] = field(default_factory=Counter)
    """How many gaps were closed, by their reason."""

    healed: int = 0
    entries: int = 0
    takeovers: list[float] = field(default_factory=list)
    seconds: float = 0.0
    kept: str = ""
    """The folder with what is needed to understand a failure."""


class World(Protocol):
    """What a schedule is played in."""

    def alive(self) -> AbstractAsyncContextManager[None]:
        """Let the cluster be written to while entered."""

    async def settle(self) -> None:
        """Wait until the log has caught up with the cluster.

        Raises:
            TimeoutError: It did not; the message names what is missing.
        """

    def steps(self) -> Sequence[Step]:
        """Return what strikes, one step after another."""

    async def prepare(self, step: Step) -> list[Strike[Any]]:
        """Return a strike for each fault of the next step."""

    def seconds(self) -> float:
        """Return the seconds of this world."""

    async def judge_step(self, strikes: Sequence[Strike[Any]]) -> list[str]:
        """Return what the log must not say after a step."""

    async def stop(self) -> list[str]:
        """Stop as an operator would; return what is left that must not be."""

    async def judge(self, outcome: Outcome) -> list[str]:
        """Compare the whole log with the truth; count its entries."""

    async def evidence(
        self, folder: Path
    ) -> tuple[Sequence[tuple[int, Draft]], Sequence[Version]]:
        """Return entries and truth; copy other files into a folder."""


async def run(
    world: World,
    outcome: Outcome,
    *,
    say: Callable[[str], None],
    keep_in: Path | None,
) -> None:
    """Play a schedule to its judgement, and keep what explains a failure."""
    began = time.monotonic()
    try:
        async with world.alive():
            await _play(world, outcome, say)
    except* Exception as failures:  # noqa: BLE001 - each is a finding
        outcome.wrong += _messages(failures)
    outcome.seconds = time.monotonic() - began
    if outcome.wrong and keep_in is not None:
        folder = keep_in / f"seed-{outcome.seed}"
        folder.mkdir(parents=True, exist_ok=True)
        outcome.kept = str(folder)
        _keep(outcome, folder, *await world.evidence(folder))


async def _play(
    world: World, outcome: Outcome, say: Callable[[str], None]
) -> None:
    await world.settle()
    began = world.seconds()
    for step in world.steps():
        strikes = await world.prepare(step)
        at = world.seconds() - began
        possible = await _strike(step, strikes)
        outcome.faults.update(
            one.name
            for one, struck in zip(step, possible, strict=True)
            if struck
        )
        what = " + ".join(
            f"{one.name} {strike.detail}".strip()
            for one, strike in zip(step, strikes, strict=True)
        )
        outcome.struck.append(f"{at:9.3f} {what}")
        wrong = await world.judge_step(strikes)
        say(f"  {outcome.struck[-1]}, {world.seconds() - began - at:.1f} s")
        outcome.wrong += [f"{what}: {one}" for one in wrong]
    outcome.wrong += await world.stop()
    outcome.wrong += await world.judge(outcome)


async def _strike(step: Step, strikes: Sequence[Strike[Any]]) -> list[bool]:
    if len(step) == 1:
        return [await _possible(step[0], strikes[0])]
    tasks = []
    async with asyncio.TaskGroup() as group:
        for one, strike in zip(step, strikes, strict=True):
            # The second strikes while the first does its work.
            tasks.append(group.create_task(_possible(one, strike)))
            await asyncio.sleep(strike.random.uniform(0.0, 0.8))
    return [task.result() for task in tasks]


async def _possible(fault: Fault, strike: Strike[Any]) -> bool:
    if await fault.strike(strike) is False:
        strike.note("(not possible now)")
        return False
    return True


def _messages(failures: BaseExceptionGroup[Exception]) -> list[str]:
    found = []
    for failure in failures.exceptions:
        if isinstance(failure, BaseExceptionGroup):
            found += _messages(failure)
        else:
            found.append(f"{type(failure).__name__}: {failure}")
    return found


def _keep(
    outcome: Outcome,
    folder: Path,
    entries: Sequence[tuple[int, Draft]],
    truth: Sequence[Version],
) -> None:
    """Write story, log and truth, a line for each entry and each version."""
    story = ["what is wrong:", *outcome.wrong, "", "what happened:"]
    text = "\n".join([*story, *outcome.struck, ""])
    (folder / "story.txt").write_text(text)
    with (folder / "log.ndjson").open("wb") as log:
        for position, (epoch, draft) in enumerate(entries, 1):
            line = {
                "position": position,
                "epoch": epoch,
                "operation": draft.operation.value,
                "source": draft.source,
                "resource": draft.resource,
                "observed_at": draft.observed_at,
                "document": draft.raw.decode(errors="replace"),
            }
            log.write(orjson.dumps(line) + b"\n")
    with (folder / "oracle.ndjson").open("wb") as oracle:
        for version in truth:
            oracle.write(orjson.dumps(asdict(version)) + b"\n")
