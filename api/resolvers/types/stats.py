"""Stats: counts of what happened in a window."""

import strawberry

from api.resolvers.types.coverage import Window
from api.resolvers.types.publishing import publish
from recorder.answers.reliability import GroupedReliability, Reliability
from recorder.answers.stats import Count, GroupedCounts, Stats

__all__ = ["Stats"]


class _StatsFields:
    @strawberry.field
    @staticmethod
    def cluster(stats: strawberry.Parent[Stats]) -> str:
        return stats.question.cluster

    @strawberry.field
    @staticmethod
    def log(stats: strawberry.Parent[Stats]) -> strawberry.ID:
        return strawberry.ID(str(stats.question.log or ""))

    @strawberry.field
    @staticmethod
    def window(stats: strawberry.Parent[Stats]) -> Window:
        asked = stats.question
        return Window(since=asked.since, until=asked.until)


publish(Count, name="CountedGroup")
publish(GroupedCounts)
publish(Reliability)
publish(GroupedReliability)
publish(
    Stats,
    adds=_StatsFields,
    shows=["counts"],
    without=("question", "groups"),
    order=(
        "cluster",
        "log",
        "window",
        "totals",
        "counts",
        "reliability",
        "vouched",
        "coverage",
    ),
)
