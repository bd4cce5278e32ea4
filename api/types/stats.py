"""Stats: what happened in a window, counted."""

from typing import Self

import strawberry

from api.describing import described
from api.publishing import publish
from api.types.coverage import Coverage, Window
from recorder.questions.counting import Count, GroupedCounts
from recorder.questions.stats import Stats as Answered

__all__ = ["Stats"]


publish(Count, name="CountedGroup")
publish(GroupedCounts)


@described
class Stats:
    """What happened in one log, counted."""

    cluster: str

    log: strawberry.ID

    window: Window

    totals: Count

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
            totals=stats.totals,
            counts=[*stats.counts],
            vouched=stats.vouched,
            coverage=stats.coverage,
        )
