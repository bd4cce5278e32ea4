"""Stats of one cluster, or of several in one request."""

from collections.abc import Sequence
from datetime import datetime

from api.resolvers.answers.fleet import ask_each, merged_coverage
from api.resolvers.answers.windows import bounded
from api.resolvers.context import RequestContext
from api.resolvers.types.words import GroupBy
from recorder.answers.clusters import Away
from recorder.answers.node_questions import StatsQuestion
from recorder.answers.ports import Reading
from recorder.answers.reliability import OF_WORKLOADS
from recorder.answers.stats import (
    GroupedCounts,
    Stats,
    StatsSubject,
    ask_stats,
    count,
)


async def stats(
    asked: RequestContext,
    by: Sequence[GroupBy],
    span: tuple[datetime | None, datetime | None],
    *,
    clusters: Sequence[str] | None,
    one: tuple[str | None, str | None],
) -> list[Stats]:
    """Count what happened in each cluster.

    Args:
        asked: the request.
        by: what to count by, each once.
        span: the window; without a beginning the last day of each record.
        clusters: names or UIDs; ``*`` is every log. None: only `one`. A
            cluster that is away has zero counts and a hole.
        one: cluster and log, if `clusters` is None.

    Raises:
        ConfigError: more than one request may query.
    """
    by = list(dict.fromkeys(by))

    async def ask(reading: Reading) -> Stats:
        question = StatsQuestion(window=bounded(reading, *span), by=by)
        return await ask_stats(
            reading, question, asked.knowledge, now=asked.now
        )

    logs = await asked.reading(*one) if clusters is None else clusters
    found = await ask_each(asked, logs, ask)
    return [
        *(answer for _, answer in found.answers),
        *(_unknown(asked, by, span, away) for away in found.away),
    ]


def _unknown(
    asked: RequestContext,
    by: Sequence[GroupBy],
    span: tuple[datetime | None, datetime | None],
    away: Away,
) -> Stats:
    """Return zero counts of a cluster that is away, with nothing vouched."""
    since, until = span
    return Stats(
        question=StatsSubject(
            cluster=away.cluster, log=None, since=since, until=until, by=None
        ),
        totals=count([]),
        counts=[
            GroupedCounts(by=one, groups=[])
            for one in by
            if one not in OF_WORKLOADS
        ],
        vouched=0.0,
        groups=(),
        coverage=merged_coverage(
            [], [away], now=asked.now, since=since, until=until
        ),
    )
