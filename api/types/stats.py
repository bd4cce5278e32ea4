"""Stats: what happened in a window, counted."""

from typing import Self

import strawberry

from api.describing import described
from api.types.coverage import Coverage, Window
from api.types.words import GroupBy
from recorder.documents.stats import CountDocument
from recorder.questions.counting import Count
from recorder.questions.stats import Stats as Answered

__all__ = ["CountedGroup", "GroupedCounts", "Stats"]


@described
class CountedGroup:
    """What happened in one group, or in all."""

    key: str | None
    """Null for what belongs to no group, and for the totals."""

    incidents: int
    """Incidents with a part in the group; one may be in several."""

    verdicts: int
    """What happened to single nodes. They add up to the whole, except by
    namespace."""

    nodes: int

    reboots: int

    workloads: int

    gpu_hours_lost: float
    """Lower bound, where it is attributed; the groups add up to the whole."""

    mean_down_seconds: float | None
    """Of nodes that were down and came back: upper bounds, from the last proof
    of life to the next."""

    longest_down_seconds: float | None

    mean_away_seconds: float | None
    """Of nodes that were out of service and came back."""

    longest_away_seconds: float | None

    not_back: int
    """Verdicts whose node is not back in service."""

    @classmethod
    def of(cls, count: Count) -> Self:
        """Take it from an answer."""
        told = CountDocument.of(count)
        return cls(
            key=told.key,
            incidents=told.incidents,
            verdicts=told.verdicts,
            nodes=told.nodes,
            reboots=told.reboots,
            workloads=told.workloads,
            gpu_hours_lost=told.gpu_hours_lost,
            mean_down_seconds=told.mean_down_seconds,
            longest_down_seconds=told.longest_down_seconds,
            mean_away_seconds=told.mean_away_seconds,
            longest_away_seconds=told.longest_away_seconds,
            not_back=told.not_back,
        )


@described
class GroupedCounts:
    """The groups by one thing."""

    by: GroupBy

    groups: list[CountedGroup]
    """By GPU-hours lost, the most first; days in order."""


@described
class Stats:
    """What happened in one log, counted."""

    cluster: str

    log: strawberry.ID

    window: Window

    totals: CountedGroup

    counts: list[GroupedCounts]
    """One for each value of `by`."""

    vouched: float | None
    """The share of the window for which nothing may be missing; null if it is
    not known."""

    coverage: Coverage

    @classmethod
    def of(cls, stats: Answered) -> Self:
        """Take it from an answer."""
        window = stats.window
        return cls(
            cluster=stats.cluster,
            log=strawberry.ID(str(stats.log)),
            window=Window(since=window.since, until=window.until),
            totals=CountedGroup.of(stats.totals),
            counts=[
                GroupedCounts(
                    by=by, groups=[CountedGroup.of(c) for c in groups]
                )
                for by, groups in stats.groups.items()
            ],
            vouched=stats.vouched,
            coverage=Coverage.of(stats.coverage),
        )
