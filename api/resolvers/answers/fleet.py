"""Asks one log, or several clusters in one request, in bounded time.

If the database of one of several clusters is away, or does not respond in
time, the coverage of the answer has a hole with the name of the cluster.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from api.resolvers.context import RequestContext
from api.resolvers.types.coverage import ClusterGap, Coverage, FleetCoverage
from recorder.answers.clusters import Away
from recorder.answers.coverage import coverage_lines
from recorder.answers.ports import Reading
from recorder.facts.coverage.hole import Hole
from recorder.model.errors import (
    ConfigError,
    LogError,
    NotFoundError,
    RecorderError,
)
from recorder.model.reads import is_of_reads
from recorder.model.window import Window

CLUSTERS_MAX = 50
"""Clusters of one request: each costs as much as a request of its own."""

EVERY = "*"

AT_ONCE = 4
"""Clusters that are asked at the same time."""

ALL_SECONDS = 20.0
"""For all of them together; a cluster that is slower is a hole."""

SILENT = "its database does not respond"
LATE = f"it did not answer within {ALL_SECONDS:g} s"
GAPS_MAX = 1000

Answer = TypeVar("Answer")
Ask = Callable[[Reading], Awaitable[Answer]]
Name = tuple[str | None, str | None]
"""A cluster, or a log."""

_Found = tuple[Reading, Answer | RecorderError] | Away | RecorderError


@dataclass(frozen=True, slots=True)
class Each(Generic[Answer]):
    """The answer of each log, and the clusters without one."""

    answers: Sequence[tuple[Reading, Answer]]
    away: Sequence[Away] = ()
    fleet: bool = True

    @property
    def clusters(self) -> Mapping[str, str]:
        """The name of the cluster of each log."""
        return {str(r.log.id): r.log.cluster_name for r, _ in self.answers}

    def coverage(
        self,
        parts: Sequence[Coverage],
        span: tuple[datetime | None, datetime | None],
        *,
        now: datetime,
    ) -> Coverage:
        """Return what may be missing from all answers together."""
        if not self.fleet:
            return parts[0]
        named = zip(self.clusters.values(), parts, strict=True)
        return merged_coverage(
            [*named], self.away, now=now, since=span[0], until=span[1]
        )


async def ask_each(
    asked: RequestContext, logs: Reading | Sequence[str], ask: Ask[Answer]
) -> Each[Answer]:
    """Ask one log, or clusters by name; ``*`` is every log, tapes included.

    Raises:
        ConfigError: more than one request may query.
        NotFoundError: there is no such cluster, or none has the object.
        ConfigError: the question is invalid.
    """
    if not isinstance(logs, Sequence):
        return Each([(logs, await ask(logs))], fleet=False)
    return await _ask_clusters(asked, logs, ask)


async def _ask_clusters(
    asked: RequestContext, clusters: Sequence[str], ask: Ask[Answer]
) -> Each[Answer]:
    named, away = await _named(asked, clusters)
    if len(named) + len(away) > CLUSTERS_MAX:
        msg = (
            f"{len(named) + len(away)} clusters are more than one request may"
            " ask"
        )
        raise ConfigError(
            msg,
            advice=f"name at most {CLUSTERS_MAX} in `clusters`",
            code="question.clusters",
        )
    turn = asyncio.Semaphore(AT_ONCE)
    deadline = asyncio.get_running_loop().time() + ALL_SECONDS

    found: dict[Name, _Found[Answer]] = {}

    async def one(name: Name, cluster: str) -> None:
        try:
            async with asyncio.timeout_at(deadline), turn:
                reading = await asked.reading(*name)
                try:
                    found[name] = reading, await ask(reading)
                except NotFoundError as exc:
                    found[name] = reading, exc
                await asked.logs.leave(reading.log.id)
        except TimeoutError:
            found[name] = Away(cluster=cluster, why=LATE)
        except LogError as exc:
            found[name] = Away(cluster=cluster, why=_why(exc))
        except RecorderError as exc:
            found[name] = exc

    async with asyncio.TaskGroup() as group:
        for name, cluster in named:
            group.create_task(one(name, cluster))
    return _sorted_out([found[name] for name, _ in named], away)


def _sorted_out(
    found: Sequence["_Found[Answer]"],
    away: Sequence[Away],
) -> Each[Answer]:
    lost = [*away]
    answers: dict[int, tuple[Reading, Answer]] = {}
    without: list[RecorderError] = []
    for one in found:
        if isinstance(one, RecorderError):
            raise one
        if isinstance(one, Away):
            lost.append(one)
            continue
        reading, answer = one
        if isinstance(answer, RecorderError):
            without.append(answer)
        else:
            # A cluster may be named twice, by its name and its UID.
            answers.setdefault(reading.log.id, (reading, answer))
    if without and not answers and not lost:
        raise without[0]
    return Each([*answers.values()], lost)


async def _named(
    asked: RequestContext, clusters: Sequence[str]
) -> tuple[list[tuple[Name, str]], Sequence[Away]]:
    """Return the logs to ask, with their clusters, and those away."""
    if EVERY not in clusters:
        names = dict.fromkeys(clusters)
        return [((cluster, None), cluster) for cluster in names], ()
    known = await asked.logs.known()
    return [
        ((None, str(log.id)), log.cluster_name)
        for log in known.logs
        if not is_of_reads(log.cluster_uid)
    ], known.away


def _why(error: LogError) -> str:
    too_large = error.code == "log.question_too_large"
    return str(error) if too_large else SILENT


def away_hole(away: Away, window: Window) -> Hole:
    """Return the hole for a cluster that is away."""
    return Hole(
        since=window.since,
        until=window.until,
        source="recorder",
        reason=f'cluster "{away.cluster}" is away: {away.why}',
    )


def merged_coverage(
    parts: Sequence[tuple[str, Coverage]],
    away: Sequence[Away],
    *,
    now: datetime,
    since: datetime | None,
    until: datetime | None,
) -> Coverage:
    """Return what may be missing from the answer of a fleet."""
    window = Window(since, until or now)
    lacks = [away_hole(one, window) for one in away]
    gaps = [
        *map(_gap_of, (one.cluster for one in away), lacks),
        *(_gap_of(name, gap) for name, part in parts for gap in part.gaps),
    ]
    sources: dict[str, str] = {}
    for _, part in parts:
        for source, state in part.sources.items():
            # A source that one cluster lacks is absent.
            if state == "absent" or source not in sources:
                sources[source] = state
    more = max(0, len(gaps) - GAPS_MAX)
    return FleetCoverage(
        complete=not away and all(part.complete for _, part in parts),
        since=_least([since, *(part.since for _, part in parts)]),
        until=_most([until, *(part.until for _, part in parts)]),
        recorded_until=_all_least([p.recorded_until for _, p in parts], away),
        proven_until=_all_least([p.proven_until for _, p in parts], away),
        now=now,
        gaps=gaps[:GAPS_MAX],
        more_gaps=more + sum(part.more_gaps or 0 for _, part in parts),
        sources=sources,
        says=[
            *(f"INCOMPLETE: {hole.reason}" for hole in lacks),
            *(
                f"{name}: {line}"
                for name, part in parts
                for line in coverage_lines(part)
            ),
        ],
        away=away,
    )


def _gap_of(cluster: str, gap: Hole) -> ClusterGap:
    """Return a gap with its cluster."""
    shown = {name: getattr(gap, name) for name in Hole.__struct_fields__}
    return ClusterGap(cluster=cluster, **shown)


def _least(times: Sequence[datetime | None]) -> datetime | None:
    return min((at for at in times if at is not None), default=None)


def _most(times: Sequence[datetime | None]) -> datetime | None:
    return max((at for at in times if at is not None), default=None)


def _all_least(
    times: Sequence[datetime | None], away: Sequence[Away]
) -> datetime | None:
    """Return the earliest time; None if a cluster is away."""
    return None if away else _least(times)
