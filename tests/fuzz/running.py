"""Running inputs: their numbers, measurements and stored failures.

An input is a number. The number and the seed decide its target, what it is
made of and all that is drawn while it is checked, so that it can be made
again by itself.
"""

import random
import resource
import time
import traceback
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.fuzz import documents, dumps, exports, streams, tapes, written

__all__ = ["Failure", "Job", "TARGETS", "Tally", "check", "run", "work"]

Make = Callable[[random.Random], bytes]
Check = Callable[[bytes, random.Random], list[str]]
"""Returns the expected refusals and exceptions."""


class Target(NamedTuple):
    """Something to put inputs through."""

    make: Make
    check: Check
    share: int
    """Of twenty-three inputs."""


TARGETS: dict[str, Target] = {
    "document": Target(documents.make_document, documents.check_document, 7),
    "stream": Target(streams.make_stream, streams.check_stream, 5),
    "tape": Target(tapes.make_tape, tapes.check_tape, 3),
    "written tape": Target(written.make_written, written.check_written, 2),
    "posted": Target(documents.make_posted, documents.check_posted, 2),
    "export": Target(exports.make_export, exports.check_export, 2),
    "dump": Target(dumps.make_dump, dumps.check_dump, 1),
    "torn head": Target(documents.make_head, documents.check_head, 1),
}
_ORDER = [
    name for name, target in TARGETS.items() for _ in range(target.share)
]

MEASURED_ONE_IN = 251
"""Inputs whose memory is measured, which takes four times as long; a prime,
so that every target has its turn."""

SECONDS_FREE = 1.0
SECONDS_A_BYTE = 40e-6
"""Of processor time, all checks of ours included: fifty times what is usual,
on a machine with others, and far below the square of anything."""

MEMORY_FREE = 24 << 20
MEMORY_A_BYTE = 150


@dataclass(slots=True)
class Failure:
    """An input that broke a rule."""

    number: int
    target: str
    error: str
    """Name of the exception."""

    report: str
    data: bytes


def _no_seconds() -> defaultdict[str, float]:
    return defaultdict(float)


@dataclass(slots=True)
class Tally:
    """What a run of inputs came to."""

    inputs: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    met: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Refusals and exceptions, by target."""

    seconds: defaultdict[str, float] = field(default_factory=_no_seconds)
    slowest: dict[str, float] = field(default_factory=dict)
    largest: dict[str, int] = field(default_factory=dict)
    """The most memory that one input took."""

    failures: list[Failure] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Take in what another run came to."""
        self.inputs += other.inputs
        self.bytes += other.bytes
        self.met += other.met
        for name, seconds in other.seconds.items():
            self.seconds[name] += seconds
        for name, slowest in other.slowest.items():
            self.slowest[name] = max(slowest, self.slowest.get(name, 0.0))
        for name, largest in other.largest.items():
            self.largest[name] = max(largest, self.largest.get(name, 0))
        self.failures += other.failures


def target_of(number: int) -> str:
    return _ORDER[number % len(_ORDER)]


def made(seed: int, number: int) -> tuple[bytes, random.Random]:
    """Make an input; return it with the generator to continue with."""
    chance = random.Random((seed << 40) + number)
    return TARGETS[target_of(number)].make(chance), chance


def check(seed: int, number: int, tally: Tally) -> None:
    """Check one input and count it.

    Raises:
        Exception: whatever it should not have met.
    """
    name = target_of(number)
    data, chance = made(seed, number)
    tally.inputs[name] += 1
    tally.bytes[name] += len(data)
    measured = number % MEASURED_ONE_IN == 0
    if measured:
        tracemalloc.start()
    began = time.process_time()
    try:
        met = TARGETS[name].check(data, chance)
    finally:
        spent = time.process_time() - began
        peak = 0
        if measured:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    tally.met.update((name, kind) for kind in met)
    tally.largest[name] = max(peak, tally.largest.get(name, 0))
    assert peak <= MEMORY_FREE + MEMORY_A_BYTE * len(data), (
        f"{peak} bytes of memory for {len(data)}"
    )
    if not measured:
        tally.seconds[name] += spent
        tally.slowest[name] = max(spent, tally.slowest.get(name, 0.0))
        assert spent <= SECONDS_FREE + SECONDS_A_BYTE * len(data), (
            f"{spent:.1f} s for {len(data)} bytes"
        )


def run(
    seed: int, numbers: Iterable[int], *, keep: Path | None = None
) -> Tally:
    """Check inputs; a failure is kept and the next one taken."""
    tally = Tally()
    for number in numbers:
        try:
            check(seed, number, tally)
        except Exception as exc:  # noqa: BLE001 - it is what is looked for
            failure = Failure(
                number,
                target_of(number),
                type(exc).__name__,
                traceback.format_exc(),
                made(seed, number)[0],
            )
            tally.failures.append(failure)
            if keep is not None:
                _keep(seed, failure, keep)
    return tally


class Job(NamedTuple):
    """Inputs for a process of its own."""

    seed: int
    start: int
    end: int
    keep: Path


def work(job: Job) -> tuple[Tally, int]:
    """Do a job; return its result, and the process's peak in KiB."""
    tally = run(job.seed, range(job.start, job.end), keep=job.keep)
    return tally, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _keep(seed: int, failure: Failure, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{seed}-{failure.number}-{failure.target.replace(' ', '-')}"
    (folder / name).write_bytes(failure.data)
    (folder / f"{name}.txt").write_text(
        f"python -m tests.fuzz --seed {seed} --only {failure.number}\n\n"
        f"{failure.report}",
        errors="backslashreplace",
    )
