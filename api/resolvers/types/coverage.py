"""Coverage: what may be missing from an answer."""

from collections.abc import Sequence

import strawberry

from api.resolvers.types.describing import described
from api.resolvers.types.publishing import publish
from api.resolvers.types.words import SourceName, SourceState
from recorder.answers.audit_coverage import AuditCoverage, AuditedResource
from recorder.answers.clusters import Away
from recorder.answers.coverage import coverage_lines
from recorder.answers.gaps import Gaps
from recorder.facts.coverage.coverage import Coverage
from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.outages import Outage, OutageChange
from recorder.model.window import Window

__all__ = [
    "ClusterGap",
    "Coverage",
    "FleetCoverage",
    "Gaps",
    "Hole",
    "SourceCoverage",
    "Window",
]


class _Gap:
    """Fields of a gap that GraphQL changes or adds."""

    healed: bool
    """Whether it is closed and nothing is missing."""

    @strawberry.field
    @staticmethod
    def source(gap: strawberry.Parent[Hole]) -> SourceName:
        return SourceName(gap.source)

    @strawberry.field
    @staticmethod
    def possible(gap: strawberry.Parent[Hole]) -> list[str]:
        """What may be missing; empty if nothing can be."""
        return ["anything"] if gap.opened is None else [*(gap.possible or ())]

    @strawberry.field
    @staticmethod
    def cluster(gap: strawberry.Parent[Hole]) -> str | None:
        """Set if the answer is of several clusters."""
        return getattr(gap, "cluster", None)


class ClusterGap(Hole, frozen=True, kw_only=True):
    """A gap of one of several clusters."""

    cluster: str


@described
class SourceCoverage:
    """Whether one source was recorded."""

    source: SourceName

    state: SourceState


class _Coverage:
    """Fields of a coverage that GraphQL changes or adds."""

    @strawberry.field
    @staticmethod
    def more_gaps(coverage: strawberry.Parent[Coverage]) -> int:
        """How many more exist."""
        return coverage.more_gaps or 0

    @strawberry.field
    @staticmethod
    def sources(
        coverage: strawberry.Parent[Coverage],
    ) -> list[SourceCoverage]:
        return [
            SourceCoverage(source=SourceName(source), state=SourceState(state))
            for source, state in coverage.sources.items()
        ]

    @strawberry.field
    @staticmethod
    def says(coverage: strawberry.Parent[Coverage]) -> list[str]:
        """The same as readable text."""
        if isinstance(coverage, FleetCoverage):
            return list(coverage.says)
        return coverage_lines(coverage)

    @strawberry.field
    @staticmethod
    def away(coverage: strawberry.Parent[Coverage]) -> list[Away]:
        """Clusters of a fleet that are missing from the answer; each is a gap
        too."""  # noqa: D205, D209 - one sentence
        if not isinstance(coverage, FleetCoverage):
            return []
        return [*coverage.away]


class FleetCoverage(Coverage, frozen=True, kw_only=True):
    """What may be missing from an answer of several clusters."""

    says: Sequence[str]
    away: Sequence[Away]


publish(Window)
publish(Away, name="AwayCluster")
publish(Hole, name="Gap", adds=_Gap)
publish(
    Coverage,
    adds=_Coverage,
    without=("archived",),
    order=("more_gaps", "sources", "says", "away"),
)


class _Audited:
    @strawberry.field
    @staticmethod
    def share(found: strawberry.Parent[AuditedResource]) -> float | None:
        # JSON has it with four digits.
        return found.authored / found.versions


publish(AuditedResource, adds=_Audited)
publish(AuditCoverage)


publish(OutageChange)
publish(Outage)


class _Gaps:
    gaps: list[Hole]


publish(Gaps, adds=_Gaps, shows=["more"])
