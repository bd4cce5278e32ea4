"""Coverage: what may be missing from an answer."""

from datetime import datetime
from typing import Self

import strawberry

from api.describing import described
from api.types.words import SourceName, SourceState
from recorder.coverage import coverage as answered
from recorder.coverage import hole as known
from recorder.coverage.hole import Hole
from recorder.questions.clusters import Away
from recorder.render.coverage import coverage_lines

__all__ = ["AwayCluster", "Coverage", "Gap", "SourceCoverage", "Window"]


@described
class Window:
    """A half-open time span; null means unbounded."""

    since: datetime | None
    """Inclusive."""

    until: datetime | None
    """Exclusive."""


@described
class Gap:
    """A time span in which the log may be incomplete.

    A gap with an ID is an entry of the log. One without an ID was not
    recorded, or is not confirmed complete yet.
    """

    id: strawberry.ID | None
    """The entry that opened it, `LOG/POSITION`."""

    source: SourceName

    resource: str | None
    """For example `v1/pods`; null for all resources."""

    from_: datetime | None = strawberry.field(
        name="from", description="The last proof before it."
    )

    to: datetime | None
    """The first proof after it; null while it is open."""

    reason: str

    resource_version_before: str | None

    resource_version_after: str | None

    proved: str
    """What the list that closed it showed."""

    possible: list[str]
    """What may be missing; empty if nothing can be."""

    healed: bool
    """Whether it is closed and nothing is missing."""

    cluster: str | None = None
    """Set where the answer is of several clusters."""

    @classmethod
    def of(cls, gap: known.Gap) -> Self:
        """Take it from an entry."""
        return cls(
            id=strawberry.ID(str(gap.opened)),
            source=SourceName(gap.source),
            resource=gap.resource,
            from_=gap.since,
            to=gap.until,
            reason=gap.reason,
            resource_version_before=gap.resource_version_before,
            resource_version_after=gap.resource_version_after,
            proved=gap.proved,
            possible=list(gap.possible),
            healed=gap.healed,
        )

    @classmethod
    def of_hole(cls, hole: Hole) -> Self:
        """Take it from where there is no entry."""
        return cls(
            id=None,
            source=SourceName(hole.source),
            resource=hole.resource,
            from_=hole.since,
            to=hole.until,
            reason=hole.reason,
            resource_version_before=None,
            resource_version_after=None,
            proved="nothing",
            possible=["anything"],
            healed=False,
        )


@described
class SourceCoverage:
    """Whether one source was recorded."""

    source: SourceName

    state: SourceState


@described
class AwayCluster:
    """A cluster of which nothing can be read now."""

    cluster: str

    why: str

    @classmethod
    def of(cls, away: Away) -> Self:
        """Take it from what is known of a registry."""
        return cls(cluster=away.cluster, why=away.why)


@described
class Coverage:
    """What may be missing from an answer, and why."""

    complete: bool
    """Whether the answer is complete."""

    since: datetime | None
    """Start of the window."""

    until: datetime | None
    """End of the window: as given, or the end of a tape, or now for a live
    log."""

    recorded_until: datetime | None
    """The end of the record: when its last entry was observed."""

    proven_until: datetime | None
    """Until when everything that was read is confirmed complete."""

    now: datetime | None
    """Time of the query; null where it does not matter."""

    gaps: list[Gap]
    """Gaps and holes that overlap the window, the first 1000."""

    more_gaps: int
    """How many more exist."""

    sources: list[SourceCoverage]

    says: list[str]
    """The same as readable text."""

    away: list[AwayCluster] = strawberry.field(
        default_factory=list,
        description="Clusters of a fleet of which nothing is in the answer;"
        " each is a gap too.",
    )

    @classmethod
    def of(cls, coverage: answered.Coverage) -> Self:
        """Take it from an answer."""
        return cls(
            complete=coverage.complete,
            since=coverage.window.since,
            until=coverage.window.until,
            recorded_until=coverage.recorded_until,
            proven_until=coverage.proven_until,
            now=coverage.now,
            gaps=[
                *map(Gap.of_hole, coverage.holes),
                *map(Gap.of, coverage.opened),
            ],
            more_gaps=coverage.more_gaps or 0,
            sources=[
                SourceCoverage(
                    source=SourceName(source), state=SourceState(state)
                )
                for source, state in coverage.sources.items()
            ],
            says=coverage_lines(coverage),
        )
