"""How reliably workloads ran: interruptions, time between them, time in full.

What ended a workload is judged as `recorder why` judges it. The terms are
defined, with their sources, in `docs/reliability.md`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from recorder.answers.creators import creators_of, name_of
from recorder.answers.families import Family
from recorder.answers.job_questions import JobFilter
from recorder.answers.jobs import Span, Survey, covered
from recorder.answers.node_questions import GroupBy
from recorder.answers.ports import Reading
from recorder.answers.sentences import counted, gpu_hours
from recorder.answers.text.table import Cell, Column
from recorder.explain.knowledge import Knowledge
from recorder.explain.sentences import lasted
from recorder.facts.coverage.coverage import Coverage
from recorder.facts.projections import Time, total
from recorder.model.document import Document
from recorder.model.outcomes import EndedBy
from recorder.model.window import Window

OF_WORKLOADS: Final = (
    GroupBy.WORKLOAD,
    GroupBy.USER,
    GroupBy.PRIORITY,
    GroupBy.QUEUE,
)
"""What workloads are grouped by; incidents by the others."""

STOPS: Final = frozenset(
    {EndedBy.DELETION, EndedBy.SUSPENSION, EndedBy.DEADLINE}
)
"""Endings that were requested."""

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
DIGITS: Final = 6
"""Digits of days and hours."""


class Reliability(Document, frozen=True, kw_only=True):
    """How reliably the workloads of one group ran, or all."""

    key: str | None
    """Null for workloads that have none, and for all."""

    workloads: int

    interruptions: int
    """Endings that were not requested: by a node, a drain, a preemption, an
    eviction, a container, or unexplained."""

    stops: int
    """Endings that were requested: deletion, suspension, deadline."""

    completions: int

    node_days: float
    """Time that Pods ran, once for each node that a workload was on."""

    gpu_days: float
    """Time that Pods ran, once for each GPU that they asked for."""

    node_days_between: float | None
    """Node-days for each interruption; null if there was none."""

    gpu_days_between: float | None

    ran_again: int
    """Interruptions after which the workload ran in full again."""

    mean_seconds_to_run_again: float | None
    """Mean over these."""

    hours_wanted: float
    """From the first binding of a Pod to the end, without suspensions."""

    hours_in_full: float
    """Wanted hours in which all Pods ran."""

    share_in_full: float | None
    """Null if no time was wanted."""

    gpu_hours_lost: float
    """Lower bound; work since the last checkpoint is not known."""


class GroupedReliability(Document, frozen=True, kw_only=True):
    """The workloads by one thing."""

    by: GroupBy
    totals: Reliability
    groups: Sequence[Reliability]
    """The most interruptions first."""

    coverage: Coverage


async def ask_reliability(
    reading: Reading,
    by: Sequence[GroupBy],
    window: Window,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Sequence[GroupedReliability]:
    """Return how reliably the workloads of a window ran, by each grouping."""
    survey = Survey(
        reading=reading,
        wanted=JobFilter(),
        span=Span(window),
        knowledge=knowledge,
        now=now,
    )
    await reading.reach(window.since, window.until)
    account = await survey.account()
    end = account.counted_until or account.now
    whole = _Sums()
    groups: dict[GroupBy, dict[str | None, _Sums]] = {one: {} for one in by}
    families: list[Family] = []
    async for part in survey.judged(await survey.candidates()):
        users: Mapping[str, str | None] = {}
        if GroupBy.USER in by:
            users = await creators_of(reading, part, knowledge)
        for family in part:
            sums = _sums_of(family, window, end)
            whole.add(sums)
            for one, found in groups.items():
                key = _key(one, family, users)
                found.setdefault(key, _Sums()).add(sums)
        families += part
    coverage = covered(account, families)
    return [
        GroupedReliability(
            by=one,
            totals=whole.shown(None),
            groups=sorted(
                (sums.shown(key) for key, sums in found.items()),
                key=lambda g: (
                    -g.interruptions,
                    -g.gpu_hours_lost,
                    g.key or "~",
                ),
            ),
            coverage=coverage,
        )
        for one, found in groups.items()
    ]


class _Sums(Struct):
    """What is summed up of workloads."""

    workloads: int = 0
    interruptions: int = 0
    stops: int = 0
    completions: int = 0
    nodes: timedelta = timedelta()
    gpus: timedelta = timedelta()
    ran_again: int = 0
    waited: timedelta = timedelta()
    wanted: float = 0.0
    full: float = 0.0
    lost: float = 0.0

    def add(self, more: "_Sums") -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(more, name))

    def shown(self, key: str | None) -> Reliability:
        node_days, gpu_days = self.nodes / DAY, self.gpus / DAY
        times = self.interruptions
        again = self.ran_again
        waited = (
            round(self.waited.total_seconds() / again, 3) if again else None
        )
        share = round(self.full / self.wanted, DIGITS) if self.wanted else None
        return Reliability(
            key=key,
            workloads=self.workloads,
            interruptions=times,
            stops=self.stops,
            completions=self.completions,
            node_days=round(node_days, DIGITS),
            gpu_days=round(gpu_days, DIGITS),
            node_days_between=_each(node_days, times),
            gpu_days_between=_each(gpu_days, times),
            ran_again=again,
            mean_seconds_to_run_again=waited,
            hours_wanted=round(self.wanted, DIGITS),
            hours_in_full=round(self.full, DIGITS),
            share_in_full=share,
            gpu_hours_lost=round(self.lost, 4),
        )


def _each(days: float, times: int) -> float | None:
    return round(days / times, DIGITS) if times else None


def _sums_of(family: Family, window: Window, end: datetime) -> _Sums:
    """Return what one workload adds."""
    found = _Sums(workloads=1)
    for ending in family.endings:
        found.lost += ending.gpu_hours_lost or 0.0
        if ending.ended_by is EndedBy.COMPLETION:
            found.completions += 1
        elif ending.ended_by in STOPS:
            found.stops += 1
        else:
            found.interruptions += 1
            if ending.running_again_at is not None:
                found.ran_again += 1
                found.waited += max(
                    ending.running_again_at - ending.at, timedelta()
                )
    found.wanted, found.full = family.hours(window, end)
    until = min(window.until or end, end)
    nodes: dict[str | None, list[Time]] = {}
    for pod in family.pods:
        if pod.running_at is None:
            continue
        since = max(pod.running_at, window.since or pod.running_at)
        span = since, min(pod.over_at or until, until)
        nodes.setdefault(pod.node, []).append(span)
        found.gpus += total([span]) * pod.gpus
    for spans in nodes.values():
        found.nodes += total(sorted(spans))
    return found


def _key(
    by: GroupBy, family: Family, users: Mapping[str, str | None]
) -> str | None:
    """Return the group of a workload."""
    match by:
        case GroupBy.WORKLOAD:
            return name_of(family)
        case GroupBy.USER:
            return users.get(name_of(family))
        case GroupBy.PRIORITY:
            return family.priority
        case _:
            return family.queue


def fleet_line(cluster: str, found: GroupedReliability) -> str:
    """Return the figures of all workloads in words."""
    one = found.totals
    first = (
        f"{counted(one.workloads, 'workload')} with"
        f" {counted(one.interruptions, 'interruption')} in"
        f" {one.node_days:.2f} node-days and {one.gpu_days:.2f} GPU-days"
    )
    parts = [first]
    if one.node_days_between is not None and one.gpu_days_between is not None:
        parts.append(
            f"one every {one.node_days_between:.2f} node-days or"
            f" {one.gpu_days_between:.2f} GPU-days"
        )
    if one.mean_seconds_to_run_again is not None:
        again = lasted(timedelta(seconds=one.mean_seconds_to_run_again))
        parts.append(f"ran again after {again} on average")
    if one.share_in_full is not None:
        share = int(one.share_in_full * 10000) / 100
        parts.append(
            f"ran in full for {share:g} % of {one.hours_wanted:.2f} hours"
        )
    parts.append(f"at least {gpu_hours(one.gpu_hours_lost)} lost")
    return f"{cluster}: {', '.join(parts)}"


def reliability_columns(by: GroupBy) -> Sequence[Column]:
    """Return the columns of a table of groups."""
    return (
        Column(by.value.upper()),
        Column("WORKLOADS", rank=5),
        Column("INTERRUPTIONS"),
        Column("STOPS", wide=True),
        Column("COMPLETIONS", wide=True),
        Column("NODE-DAYS", rank=4),
        Column("GPU-DAYS", rank=3),
        Column("NODE-DAYS BETWEEN", rank=2),
        Column("GPU-DAYS BETWEEN", rank=2),
        Column("RUN AGAIN AFTER", rank=1),
        Column("IN FULL", rank=1),
        Column("GPU-HOURS"),
    )


def reliability_cells(one: Reliability) -> Sequence[Cell]:
    """Return a group as a row of the table."""
    again, share = one.mean_seconds_to_run_again, one.share_in_full
    return (
        one.key,
        one.workloads,
        one.interruptions,
        one.stops,
        one.completions,
        one.node_days,
        one.gpu_days,
        one.node_days_between,
        one.gpu_days_between,
        None if again is None else lasted(timedelta(seconds=again)),
        None if share is None else f"{int(share * 1000) / 10:g} %",
        one.gpu_hours_lost,
    )
