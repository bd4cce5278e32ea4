"""What came of verifying a log."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from recorder.integrity.chain import Problem, Witnessed

__all__ = [
    "ReadDays",
    "Resumed",
    "Derived",
    "FactsMode",
    "Verification",
    "Verified",
    "VerifiedDatabase",
]

FactsMode: TypeAlias = Literal["all", "sample", "none"]
"""Of which entries the facts are derived again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedDatabase:
    """What holds the logs, and what is wrong with it."""

    revision: str | None
    """Of the schema."""

    compared: bool
    """Whether its catalog was compared: a newer release knows its own."""

    problems: Sequence[Problem]


PROBLEMS_MAX = 1_000
"""That are told one by one; more are counted."""


@dataclass(slots=True, kw_only=True)
class Derived:
    """What was derived from entries again, and compared."""

    mode: FactsMode
    entries_of: int
    """How many entries there are that facts can be derived from."""

    seed: int | None = None
    """Of the sample, if it is one."""

    entries: int = 0
    facts: int = 0
    """Those that were compared."""

    days: set[str] = field(default_factory=set)
    """Of an archive, those whose facts are derived again."""

    not_compared: list[str] = field(default_factory=list)
    """What should have been and could not, each with its reason."""


class ReadDays(NamedTuple):
    """How many days of an archive were read, and how they were chosen."""

    read: int
    of: int
    seed: int


class Resumed(NamedTuple):
    """What an interrupted run had read, and that did not change since."""

    entries: int
    begun_at: datetime


@dataclass(slots=True, kw_only=True)
class Verified:
    """A log as it stood, and what is wrong with it."""

    log: int
    cluster: str
    origin: str
    size: int
    batches: int
    dropped: int = 0
    """Up to this position entries were dropped from the database; what is
    left of them are hashes, and what was carried forward."""

    unrecorded: int = 0
    """Removals by retention of which the entry is still to be written."""

    checkpoints: Sequence[Witnessed] = ()
    """Those that counted."""

    signed: bool = False
    """Whether their signatures were checked: whether any key is trusted."""

    root: bytes | None = None
    """Of the tree over all batches; None where it cannot be computed."""

    checked_entries: int = 0
    resumed: Resumed | None = None
    """What of these an earlier run read, that was interrupted."""

    resume_refused: str | None = None
    """Why what an earlier run is said to have read was not believed."""

    derived: Derived | None = None
    """None where nothing was derived again."""

    problems: list[Problem] = field(default_factory=list)
    left_out: int = 0
    """Problems beyond those that are told."""

    sealed: int = 0
    """Batches that got their hashes now."""

    agreed: int = 0
    """The newest number of batches on which a checkpoint agrees."""

    read_days: ReadDays | None = None
    """Of an archive that was read in part."""

    unfinished: list[str] = field(default_factory=list)
    """Folders of days of an archive that have no manifest."""

    stopped: bool = False

    def note_all(self, problems: Iterable[Problem]) -> None:
        """Take note of problems."""
        for problem in problems:
            if len(self.problems) < PROBLEMS_MAX:
                self.problems.append(problem)
            else:
                self.left_out += 1

    @property
    def beyond(self) -> int:
        """How many batches behind its end a checkpoint commits to.

        Of an archive: those of days that are not archived yet, or that
        somebody removed. In a database that is a problem.
        """
        committed = (one.checkpoint.batches for one in self.checkpoints)
        return max(0, max(committed, default=0) - self.batches)

    @property
    def is_compared(self) -> bool:
        """Whether all that was to be derived again could be."""
        return self.derived is None or not self.derived.not_compared

    @property
    def ok(self) -> bool:
        """Whether everything is as it was written."""
        return not self.problems and not self.stopped


@dataclass(slots=True)
class Verification:
    """What came of verifying the logs of a database or of an archive."""

    logs: list[Verified] = field(default_factory=list)
    database: VerifiedDatabase | None = None
    """None where an archive was verified."""

    @property
    def is_altered(self) -> bool:
        """Whether something is not as it was written."""
        return any(one.problems for one in self.logs) or bool(
            self.database and self.database.problems
        )

    @property
    def is_open(self) -> bool:
        """Whether something could not be compared."""
        return bool(self.database and not self.database.compared) or not all(
            one.is_compared for one in self.logs
        )

    @property
    def ok(self) -> bool:
        """Whether everything was verified and is as it was written."""
        return not self.is_altered and all(one.ok for one in self.logs)
