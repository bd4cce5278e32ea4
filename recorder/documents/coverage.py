"""Coverage and gaps as the public interface shows them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self

from msgspec import UNSET, UnsetType, field

from recorder.coverage.coverage import Coverage
from recorder.coverage.hole import Gap, Hole
from recorder.coverage.ports import ArchivedSpan
from recorder.model.document import Document
from recorder.questions.gaps import GapAnswer

__all__ = ["CoverageDocument", "GapsDocument", "HoleDocument"]


class HoleDocument(Document, frozen=True, kw_only=True):
    """A hole; what only an entry can tell is left out where there is none."""

    id: str | None
    source: str
    resource: str | None
    since: datetime | None = field(name="from")
    until: datetime | None = field(name="to")
    reason: str
    resource_version_before: str | UnsetType | None = UNSET
    resource_version_after: str | UnsetType | None = UNSET
    proved: str
    possible: Sequence[str] | UnsetType = UNSET

    @classmethod
    def of(cls, hole: Hole) -> Self:
        """Return the document of a hole that no entry tells of."""
        return cls(
            id=None,
            source=hole.source,
            resource=hole.resource,
            since=hole.since,
            until=hole.until,
            reason=hole.reason,
            proved="nothing",
        )

    @classmethod
    def of_gap(cls, gap: Gap) -> Self:
        """Return the document of a gap, as its entries tell it."""
        return cls(
            id=str(gap.opened),
            source=gap.source,
            resource=gap.resource,
            since=gap.since,
            until=gap.until,
            reason=gap.reason,
            resource_version_before=gap.resource_version_before,
            resource_version_after=gap.resource_version_after,
            proved=gap.proved,
            possible=gap.possible,
        )


class CoverageDocument(Document, frozen=True, kw_only=True):
    """What may be missing from an answer."""

    complete: bool
    since: datetime | None
    until: datetime | None
    recorded_until: datetime | None
    proven_until: datetime | None
    now: datetime | None
    gaps: Sequence[HoleDocument]
    sources: Mapping[str, str]
    more_gaps: int | UnsetType = UNSET
    archived: Sequence[ArchivedSpan] | UnsetType = UNSET

    @classmethod
    def of(cls, coverage: Coverage) -> Self:
        """Return the document of a coverage."""
        return cls(
            complete=coverage.complete,
            since=coverage.window.since,
            until=coverage.window.until,
            recorded_until=coverage.recorded_until,
            proven_until=coverage.proven_until,
            now=coverage.now,
            gaps=[
                *map(HoleDocument.of, coverage.holes),
                *map(HoleDocument.of_gap, coverage.opened),
            ],
            sources=coverage.sources,
            more_gaps=coverage.more_gaps,
            archived=coverage.archived,
        )


class GapsDocument(Document, frozen=True, kw_only=True):
    """The gaps of a window, healed ones included."""

    gaps: Sequence[HoleDocument]
    coverage: CoverageDocument

    @classmethod
    def of(cls, answer: GapAnswer) -> Self:
        """Return the document of an answer."""
        return cls(
            gaps=[HoleDocument.of_gap(gap) for gap in answer.gaps],
            coverage=CoverageDocument.of(answer.coverage),
        )
