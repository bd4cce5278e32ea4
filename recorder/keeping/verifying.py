"""A log verified, wherever it is: in the database or in an archive.

Each has a reader of its own (`verifying_database`, `verifying_archive`); this
is what happens to both, in this order. Entries are hashed and compared with
the roots of their batches; the headers of all batches are followed to the
tree of the log, which is compared with the checkpoints; facts are derived
again from the entries; then the reader looks at what it keeps beside them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Protocol

from recorder.integrity.chain import Chain, Problem, Witnessed
from recorder.integrity.verified import FactsMode, Verified
from recorder.keeping.checking import ResumeFile

ALL_MAX = 1_000_000
"""Entries that are all derived again where nothing is asked for: of more, a
sample of as many, which takes minutes on two cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proving:
    """Options for verifying facts."""

    mode: FactsMode | None = None
    """None for all of a log that is not large, else a sample."""

    seed: int = 0
    """Of a sample."""

    processes: int = 0
    """0 for one for each core."""

    all_max: int = ALL_MAX
    on_progress: Callable[[int, int], None] | None = None
    """Receives the number of entries derived, and their total."""

    def mode_of(self, size: int) -> FactsMode:
        """Return which of a number of entries are derived again."""
        return self.mode or ("all" if size <= self.all_max else "sample")


ALL_OR_SAMPLE = Proving()


@dataclass(frozen=True, slots=True)
class Sample:
    """Which days of an archive are read: the newest, and a part of others."""

    part: int
    """One in so many."""

    seed: int

    def of(self, days: Sequence[str]) -> set[str]:
        """Choose among days, oldest first; the same by the same seed."""
        count = -(-len(days[:-1]) // self.part)
        # Not secret: who knows the seed is to choose the same again.
        others = Random(self.seed).sample(days[:-1], count)  # noqa: S311
        return {*others, *days[-1:]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifying:
    """Options for verifying a log."""

    checkpoints: Sequence[Witnessed] = ()
    signed: bool = False
    """Whether the signatures of these were checked."""

    facts: Proving = ALL_OR_SAMPLE
    on_progress: Callable[[int, int], None] | None = None
    """Receives the number of entries checked, and their total."""

    since: datetime | None = None
    until: datetime | None = None
    """In a database, whose rows are read; headers are always followed from
    the first."""

    resume: ResumeFile | None = None
    """Of a database, a file that holds how far an interrupted run was."""

    sealing_dsn: str | None = None
    """The address of the role that may seal batches; None for that of the
    reader."""

    processes: int = 0
    """That read a database; 0 for one for each core."""

    sample: Sample | None = None
    """Which days of an archive are read; None for all. Of the others it is
    checked that their files are there, and their manifests give the tree."""


class KeptLog(Protocol):
    """A log as a database or an archive keeps it."""

    def begun(self) -> Verified:
        """Return what verifying it fills in."""

    async def check_entries(
        self, found: Verified, stop: asyncio.Event
    ) -> None:
        """Compare its entries with the roots of their batches."""

    def follow(
        self, chain: Chain, found: Verified
    ) -> AsyncIterator[Iterable[Problem]]:
        """Feed a chain with the headers of its batches, from the first.

        What is wrong comes step by step, and is read before the next step.
        """

    async def check_facts(self, found: Verified, stop: asyncio.Event) -> None:
        """Derive facts from its entries, and compare them with its own."""

    async def check_beside(self, found: Verified) -> None:
        """Check what it keeps beside entries and facts."""


async def verify_kept(
    kept: KeptLog, how: Verifying, stop: asyncio.Event
) -> Verified:
    """Verify a log against its checkpoints, until it is to be stopped."""
    found = kept.begun()
    found.compare_with(how.checkpoints)
    await kept.check_entries(found, stop)
    if stop.is_set():
        found.stopped = True
        return found
    chain = Chain.against(how.checkpoints)
    async for problems in kept.follow(chain, found):
        found.note_all(problems)
    if not chain.broken:
        found.root = chain.tree.root().hex()
    found.agreed = chain.agreed
    await kept.check_facts(found, stop)
    await kept.check_beside(found)
    return found
