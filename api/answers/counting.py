"""Stats of one cluster, or of several in one request."""

from collections.abc import Sequence
from datetime import datetime

from api.answers.incidents import bounded
from api.context import RequestContext
from api.errors import TooManyClustersError
from api.ports import LogReading
from api.types.stats import Stats
from api.types.words import GroupBy
from recorder.questions.stats import StatsQuestion, ask_stats

__all__ = ["stats"]

CLUSTERS_MAX = 50
"""That one request may ask: each costs as much as its incidents do."""


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
        clusters: names or UIDs; ``*`` is every log. None is the one below.
        one: cluster and log, where not several are meant.

    Raises:
        TooManyClustersError: there are more than one request may ask.
    """
    by = list(dict.fromkeys(by))
    return [
        Stats.of(
            await ask_stats(
                reading,
                StatsQuestion(window=bounded(reading, *span), by=by),
                asked.knowledge,
                now=asked.now,
            )
        )
        for reading in await _readings(asked, clusters, one)
    ]


async def _readings(
    asked: RequestContext,
    clusters: Sequence[str] | None,
    one: tuple[str | None, str | None],
) -> list[LogReading]:
    if clusters is None:
        return [await asked.reading(*one)]
    if "*" in clusters:
        logs = [str(log.id) for log in await asked.logs.every()]
        named: list[tuple[str | None, str | None]] = [
            (None, log) for log in logs
        ]
    else:
        named = [(cluster, None) for cluster in dict.fromkeys(clusters)]
    if len(named) > CLUSTERS_MAX:
        msg = f"{len(named)} clusters are more than one request may ask"
        raise TooManyClustersError(
            msg, advice=f"name at most {CLUSTERS_MAX} in `clusters`"
        )
    return [await asked.reading(*name) for name in named]
