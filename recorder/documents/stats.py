"""What happened, counted, as the public interface shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from recorder.coverage.coverage import Coverage
from recorder.model.document import Document
from recorder.questions.counting import Count, GroupBy
from recorder.questions.stats import Stats

__all__ = ["StatsDocument"]


class StatsQuestionDocument(Document, frozen=True, kw_only=True):
    """Of which log, when, and counted by what."""

    cluster: str
    log: int
    since: datetime | None
    until: datetime | None
    by: GroupBy


class StatsDocument(Document, frozen=True, kw_only=True):
    """What happened in one log, counted."""

    question: StatsQuestionDocument
    totals: Count
    vouched: float | None
    groups: Sequence[Count]
    coverage: Coverage

    @classmethod
    def of(cls, stats: Stats) -> Self:
        """Return the document of an answer, counted by one thing."""
        (counted,) = stats.counts
        return cls(
            question=StatsQuestionDocument(
                cluster=stats.cluster,
                log=stats.log,
                since=stats.window.since,
                until=stats.window.until,
                by=counted.by,
            ),
            totals=stats.totals,
            vouched=stats.vouched,
            groups=counted.groups,
            coverage=stats.coverage,
        )
