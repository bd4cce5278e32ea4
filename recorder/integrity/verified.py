"""The results of verifying logs.

Verifying fills them in; JSON shows them unchanged.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import field
from msgspec.structs import replace

from recorder.integrity.chain import Problem, Witnessed
from recorder.model.document import Document
from recorder.model.reference import EntryName

FactsMode: TypeAlias = Literal["all", "sample", "none"]
"""The entries whose facts are derived again."""

PROBLEMS_MAX = 1_000
"""That are listed; more are counted."""


class Altered(Document, frozen=True, kw_only=True):
    """One thing of the database that is not as the migrations make it."""

    kind: str
    says: str


class VerifiedDatabase(Document, frozen=True, kw_only=True):
    """What holds the logs, and what is wrong with it."""

    revision: str | None = field(name="schema_revision")
    compared: bool = field(name="catalog_compared")
    """False where the schema is of a newer release, which knows its own."""

    problems: Sequence[Altered]


class Committed(Document, frozen=True, kw_only=True):
    """A checkpoint that the log was compared with."""

    batches: int
    root: str
    place: str


class Derived(Document, frozen=False, kw_only=True):  # type: ignore[misc]
    """What was derived from entries again, and compared."""

    mode: FactsMode = "none"
    seed: int | None = None
    """Of the sample, if it is one."""

    entries: int = 0
    entries_of: int = 0
    """How many entries there are that facts can be derived from."""

    facts: int = 0
    """Those that were compared."""

    not_compared: list[str] = field(default_factory=list)
    """What should have been and could not, each with its reason."""

    days: set[str] = field(default_factory=set, name="_days")
    """Of an archive, those whose facts are derived again."""


class ReadDays(Document, frozen=True, kw_only=True):
    """How many days of an archive were read, and how they were chosen."""

    read: int
    of: int
    seed: int


class Verified(Document, frozen=False, kw_only=True):  # type: ignore[misc]
    """A log at one moment, and what is wrong with it."""

    log: int
    cluster: str
    origin: str
    size: int
    batches: int
    dropped: int = field(default=0, name="dropped_entries")
    """Up to this position entries were dropped from the database; what is
    left of them are hashes, and what was carried forward."""

    unrecorded: int = field(default=0, name="unrecorded_removals")
    """Removals by retention whose entry is still to be written."""

    root: str | None = None
    """Of the tree over all batches; None where it cannot be computed."""

    checked_entries: int = 0
    resumed_entries: int = 0
    """Those of them that an earlier run read, which was interrupted."""

    resumed_from: datetime | None = None
    """When that run began."""

    resume_refused: str | None = None
    """Why what an earlier run is said to have read was not believed."""

    derived: Derived = field(default_factory=Derived)
    sealed: int = field(default=0, name="sealed_batches")
    """Batches that got their hashes now."""

    agreed: int = field(default=0, name="agreed_batches")
    """The newest number of batches on which a checkpoint agrees."""

    beyond: int = field(default=0, name="batches_beyond")
    """How many batches behind its end a checkpoint commits to.

    Of an archive: those of days that are not archived yet, or that were
    removed. In a database that is a problem.
    """

    read_days: ReadDays | None = None
    """Of an archive that was read in part."""

    unfinished: list[str] = field(default_factory=list, name="unfinished_days")
    """Folders of days of an archive that have no manifest."""

    signed: bool = field(default=False, name="signatures_checked")
    """Whether any key is trusted."""

    checkpoints: Sequence[Committed] = ()
    """The newest of each place."""

    problems: list[Problem] = field(default_factory=list)
    left_out: int = field(default=0, name="problems_left_out")
    witnessed: Sequence[Witnessed] = field(default=(), name="_witnessed")
    """The checkpoints that counted."""

    stopped: bool = field(default=False, name="_stopped")

    def compare_with(self, witnessed: Sequence[Witnessed]) -> None:
        """Take the checkpoints that count."""
        self.witnessed = witnessed
        newest: dict[str, Committed] = {}
        for one in sorted(witnessed, key=lambda one: one.checkpoint.batches):
            checkpoint = one.checkpoint
            newest[one.place] = Committed(
                batches=checkpoint.batches,
                root=checkpoint.root.hex(),
                place=one.place,
            )
        self.checkpoints = [newest[place] for place in sorted(newest)]
        self.end_with(self.size, self.batches)

    def end_with(self, size: int, batches: int) -> None:
        """Take the numbers of entries and batches that the log has."""
        self.size, self.batches = size, batches
        committed = max((one.batches for one in self.checkpoints), default=0)
        self.beyond = max(0, committed - batches)

    def note_all(self, problems: Iterable[Problem]) -> None:
        """Add problems."""
        for problem in problems:
            if len(self.problems) == PROBLEMS_MAX:
                self.left_out += 1
                continue
            if problem.position is not None:
                entry = EntryName(self.log, problem.position)
                problem = replace(problem, entry=entry)  # noqa: PLW2901
            self.problems.append(problem)

    @property
    def is_compared(self) -> bool:
        """Whether all that was to be derived again could be."""
        return not self.derived.not_compared

    @property
    def ok(self) -> bool:
        """Whether everything is as it was written."""
        return not self.problems and not self.stopped


class Verification(Document, frozen=False, kw_only=True):  # type: ignore[misc]
    """What came of verifying the logs of a database or of an archive."""

    ok: bool = True
    """Whether everything was verified and is as it was written."""

    database: VerifiedDatabase | None = None
    """Null where an archive was verified."""

    logs: list[Verified] = field(default_factory=list)

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

    def judge(self) -> None:
        """Say whether all is well, of what was verified."""
        self.ok = not self.is_altered and all(one.ok for one in self.logs)
