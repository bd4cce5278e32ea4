"""What happened, counted, as the public interface shows it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Self

from recorder.documents.coverage import CoverageDocument
from recorder.model.document import Document
from recorder.questions.counting import Count, GroupBy
from recorder.questions.stats import Stats

__all__ = ["CountDocument", "StatsDocument"]


class CountDocument(Document, frozen=True, kw_only=True):
    """What happened in one group, or in all."""

    key: str | None
    incidents: int
    verdicts: int
    nodes: int
    reboots: int
    workloads: int
    gpu_hours_lost: float
    mean_down_seconds: float | None
    longest_down_seconds: float | None
    mean_away_seconds: float | None
    longest_away_seconds: float | None
    not_back: int

    @classmethod
    def of(cls, count: Count) -> Self:
        """Return the document of a count."""
        return cls(
            key=count.key,
            incidents=count.incidents,
            verdicts=count.verdicts,
            nodes=count.nodes,
            reboots=count.reboots,
            workloads=count.workloads,
            gpu_hours_lost=count.gpu_hours_lost,
            mean_down_seconds=_seconds(count.mean_down),
            longest_down_seconds=_seconds(count.longest_down),
            mean_away_seconds=_seconds(count.mean_away),
            longest_away_seconds=_seconds(count.longest_away),
            not_back=count.not_back,
        )


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else round(duration.total_seconds(), 3)


class StatsQuestionDocument(Document, frozen=True, kw_only=True):
    """Of which log, when, and counted by what."""

    cluster: str
    log: int
    since: datetime | None
    until: datetime | None
    by: str


class StatsDocument(Document, frozen=True, kw_only=True):
    """What happened in one log, counted."""

    question: StatsQuestionDocument
    totals: CountDocument
    vouched: float | None
    groups: Sequence[CountDocument]
    coverage: CoverageDocument

    @classmethod
    def of(cls, stats: Stats, by: GroupBy) -> Self:
        """Return the document of an answer, counted by one thing."""
        return cls(
            question=StatsQuestionDocument(
                cluster=stats.cluster,
                log=stats.log,
                since=stats.window.since,
                until=stats.window.until,
                by=by,
            ),
            totals=CountDocument.of(stats.totals),
            vouched=stats.vouched,
            groups=[CountDocument.of(one) for one in stats.groups[by]],
            coverage=CoverageDocument.of(stats.coverage),
        )
