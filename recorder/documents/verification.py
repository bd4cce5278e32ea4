"""What came of verifying logs, as the public interface shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from recorder.integrity.chain import Problem, Witnessed
from recorder.integrity.verified import (
    Derived,
    ReadDays,
    Verification,
    Verified,
    VerifiedDatabase,
)
from recorder.model.document import Document

__all__ = ["VerificationDocument"]


class ProblemDocument(Document, frozen=True, kw_only=True):
    """One thing that is not as it was written."""

    kind: str
    batch: int | None
    entry: str | None
    says: str

    @classmethod
    def of(cls, log: int, problem: Problem) -> Self:
        """Return the document of a problem of a log."""
        entry = problem.entry
        return cls(
            kind=problem.kind,
            batch=problem.batch,
            entry=None if entry is None else f"{log}/{entry}",
            says=problem.says,
        )


class CheckpointDocument(Document, frozen=True, kw_only=True):
    """A checkpoint that the log was compared with."""

    batches: int
    root: str
    place: str

    @classmethod
    def of(cls, found: Witnessed) -> Self:
        """Return the document of a checkpoint."""
        checkpoint = found.checkpoint
        return cls(
            batches=checkpoint.batches,
            root=checkpoint.root.hex(),
            place=found.place,
        )


class DerivedDocument(Document, frozen=True, kw_only=True):
    """What was derived from entries again, and compared."""

    mode: str
    """`all`, `sample` or `none`."""

    seed: int | None
    """Of the sample, if it is one."""

    entries: int
    entries_of: int
    facts: int
    not_compared: Sequence[str]
    """What could not be, each with its reason."""

    @classmethod
    def of(cls, found: Derived | None) -> Self:
        """Return the document of what was derived again."""
        found = found or Derived(mode="none", entries_of=0)
        return cls(
            mode=found.mode,
            seed=found.seed,
            entries=found.entries,
            entries_of=found.entries_of,
            facts=found.facts,
            not_compared=found.not_compared,
        )


class ReadDaysDocument(Document, frozen=True, kw_only=True):
    """How many days of an archive were read, and how they were chosen."""

    read: int
    of: int
    seed: int

    @classmethod
    def of_days(cls, found: ReadDays | None) -> Self | None:
        """Return the document of a sample."""
        return None if found is None else cls(**found._asdict())


class VerifiedDocument(Document, frozen=True, kw_only=True):
    """A log, and what is wrong with it."""

    log: int
    cluster: str
    origin: str
    size: int
    batches: int
    dropped_entries: int
    unrecorded_removals: int
    """By retention, of which the entry is still to be written."""

    root: str | None
    checked_entries: int
    resumed_entries: int
    """Those of them that an earlier run read, which was interrupted."""

    resumed_from: datetime | None
    """When that run began."""

    resume_refused: str | None
    """Why a file that says how far a run was is not believed."""

    derived: DerivedDocument
    sealed_batches: int
    agreed_batches: int
    batches_beyond: int
    """That checkpoints commit to, and that an archive does not hold."""

    read_days: ReadDaysDocument | None
    """Of an archive that was read in part."""

    unfinished_days: Sequence[str]
    """Of an archive: folders without a manifest."""

    signatures_checked: bool
    checkpoints: Sequence[CheckpointDocument]
    """The newest of each place."""

    problems: Sequence[ProblemDocument]
    problems_left_out: int

    @classmethod
    def of(cls, found: Verified) -> Self:
        """Return the document of a log."""
        newest = {
            one.place: one
            for one in sorted(
                found.checkpoints, key=lambda one: one.checkpoint.batches
            )
        }
        return cls(
            log=found.log,
            cluster=found.cluster,
            origin=found.origin,
            size=found.size,
            batches=found.batches,
            dropped_entries=found.dropped,
            unrecorded_removals=found.unrecorded,
            root=None if found.root is None else found.root.hex(),
            checked_entries=found.checked_entries,
            resumed_entries=found.resumed.entries if found.resumed else 0,
            resumed_from=found.resumed and found.resumed.begun_at,
            resume_refused=found.resume_refused,
            derived=DerivedDocument.of(found.derived),
            sealed_batches=found.sealed,
            agreed_batches=found.agreed,
            batches_beyond=found.beyond,
            read_days=ReadDaysDocument.of_days(found.read_days),
            unfinished_days=found.unfinished,
            signatures_checked=found.signed,
            checkpoints=[
                CheckpointDocument.of(newest[place])
                for place in sorted(newest)
            ],
            problems=[
                ProblemDocument.of(found.log, problem)
                for problem in found.problems
            ],
            problems_left_out=found.left_out,
        )


class AlteredDocument(Document, frozen=True, kw_only=True):
    """One thing of the database that is not as the migrations make it."""

    kind: str
    says: str


class DatabaseDocument(Document, frozen=True, kw_only=True):
    """What holds the logs, and what is wrong with it."""

    schema_revision: str | None
    catalog_compared: bool
    """False where the schema is of a newer release, which knows its own."""

    problems: Sequence[AlteredDocument]

    @classmethod
    def of(cls, found: VerifiedDatabase) -> Self:
        """Return the document of a database."""
        return cls(
            schema_revision=found.revision,
            catalog_compared=found.compared,
            problems=[
                AlteredDocument(kind=problem.kind, says=problem.says)
                for problem in found.problems
            ],
        )


class VerificationDocument(Document, frozen=True, kw_only=True):
    """What came of verifying logs."""

    ok: bool
    database: DatabaseDocument | None
    """Null where an archive was verified."""

    logs: Sequence[VerifiedDocument]

    @classmethod
    def of(cls, found: Verification) -> Self:
        """Return the document of several logs, and of what holds them."""
        around = found.database
        return cls(
            ok=found.ok,
            database=None if around is None else DatabaseDocument.of(around),
            logs=[VerifiedDocument.of(one) for one in found.logs],
        )
