"""Answers of `recorder stats`: what happened in a window, counted.

The unit is a verdict: what happened to one node. It is in one group, except by
namespace, since the affected workloads may be in several. A loss counts in the
group that it is charged to, so that groups add up to the total.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from recorder.answers.clusters import Away
from recorder.answers.incidents import (
    Incident,
    ask_incidents,
    controller_of,
    whereabouts,
)
from recorder.answers.loading.nodes import reads_nodes
from recorder.answers.loading.places import Whereabouts
from recorder.answers.node_questions import (
    GroupBy,
    IncidentsQuestion,
    StatsQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.reliability import (
    OF_WORKLOADS,
    GroupedReliability,
    ask_reliability,
    fleet_line,
    reliability_cells,
    reliability_columns,
)
from recorder.answers.sentences import counted, gpu_hours
from recorder.answers.text.shown import Item, Listing
from recorder.answers.text.table import Cell, Column
from recorder.explain.hit import Hit
from recorder.explain.knowledge import Knowledge
from recorder.explain.sentences import lasted
from recorder.explain.verdict import Verdict
from recorder.facts.coverage.coverage import Coverage
from recorder.facts.coverage.ports import Log
from recorder.facts.coverage.share import vouched_share
from recorder.model.document import Document
from recorder.model.outcomes import Happened

DIGITS = 4
"""Digits of GPU-hours, as in charges."""


class Count(Document, frozen=True, kw_only=True):
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


class GroupedCounts(Document, frozen=True, kw_only=True):
    """The groups by one thing."""

    by: GroupBy
    groups: Sequence[Count]
    """By GPU-hours lost, the most first; days in order."""


class StatsSubject(Document, frozen=True, kw_only=True):
    """Which log, when, and what to count by."""

    cluster: str
    log: int | None
    """Null where the log is not known."""

    since: datetime | None
    until: datetime | None
    by: GroupBy | None


class Stats(Document, frozen=True, kw_only=True):
    """What happened in one log, counted."""

    question: StatsSubject
    totals: Count
    counts: Sequence[GroupedCounts] = field(name="_counts")
    """One for each value of `by`."""

    vouched: float | None
    """The share of the window for which nothing may be missing; null if it is
    not known."""

    groups: Sequence[Count]
    """Empty if it is workloads that are grouped."""

    reliability: Sequence[GroupedReliability] | UnsetType = UNSET
    """How workloads ran, by each value of `by` that groups workloads."""

    coverage: Coverage


async def ask_stats(
    reading: Reading,
    question: StatsQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Stats:
    """Count the incidents of all nodes in a window."""
    found = await ask_incidents(
        reading,
        IncidentsQuestion(window=question.window),
        knowledge,
        now=now,
    )
    by_rack = found.incidents if GroupBy.RACK in question.by else ()
    places = await whereabouts(reading, by_rack, knowledge)
    window, coverage = question.window, found.coverage
    counts = [
        _counted_by(found.incidents, by, places)
        for by in question.by
        if by not in OF_WORKLOADS
    ]
    of_workloads = [by for by in question.by if by in OF_WORKLOADS]
    reliability: Sequence[GroupedReliability] | UnsetType = UNSET
    if of_workloads:
        reliability = await ask_reliability(
            reading, of_workloads, window, knowledge, now=now
        )
        if coverage.complete or not counts:
            coverage = reliability[0].coverage
    return Stats(
        question=StatsSubject(
            cluster=reading.log.cluster_name,
            log=reading.log.id,
            since=window.since,
            until=window.until,
            by=question.by[0] if question.by else None,
        ),
        totals=count(found.incidents),
        counts=counts,
        vouched=vouched_share(
            found.coverage,
            (
                stream.began_at
                for stream in reading.streams
                if reads_nodes(stream.source, stream.resource)
            ),
        ),
        groups=counts[0].groups if counts else (),
        reliability=reliability,
        coverage=coverage,
    )


class _Group(Struct):
    """What is counted in one group."""

    incidents: set[str] = set()
    verdicts: dict[str, Verdict] = {}
    workloads: set[str] = set()
    hours: float = 0.0

    def add(self, incident: Incident, verdict: Verdict) -> None:
        self.incidents.add(incident.first.id)
        self.verdicts[verdict.id] = verdict

    def charge(self, hit: Hit, hours: float) -> None:
        workload = hit.workload
        self.workloads.add(workload.uid or str(workload))
        self.hours += hours

    def counted(self, key: str | None) -> Count:
        verdicts = list(self.verdicts.values())
        down = [v.down.length for v in verdicts if v.down is not None]
        away = [v.away.length for v in verdicts if v.away is not None]
        return Count(
            key=key,
            incidents=len(self.incidents),
            verdicts=len(verdicts),
            nodes=len({verdict.node for verdict in verdicts}),
            reboots=sum(v.happened is Happened.REBOOT for v in verdicts),
            workloads=len(self.workloads),
            gpu_hours_lost=round(self.hours, DIGITS),
            mean_down_seconds=_seconds(_mean(down)),
            longest_down_seconds=_seconds(max(down, default=None)),
            mean_away_seconds=_seconds(_mean(away)),
            longest_away_seconds=_seconds(max(away, default=None)),
            not_back=sum(v.is_out for v in verdicts),
        )


def _mean(lengths: Sequence[timedelta]) -> timedelta | None:
    return sum(lengths, timedelta()) / len(lengths) if lengths else None


def _seconds(length: timedelta | None) -> float | None:
    return None if length is None else round(length.total_seconds(), 3)


Key = Callable[[Verdict], str | None]


def count(incidents: Iterable[Incident]) -> Count:
    """Return the totals."""
    (whole,) = _grouped(incidents, lambda _: None).values() or [_Group()]
    return whole.counted(None)


def _counted_by(
    incidents: Sequence[Incident],
    by: GroupBy,
    places: Whereabouts,
) -> GroupedCounts:
    """Count by groups: the largest loss first, days in order."""
    if by is GroupBy.NAMESPACE:
        groups = _by_namespace(incidents)
    else:
        groups = _grouped(incidents, _key(by, places))
    found = [group.counted(key) for key, group in groups.items()]
    if by is GroupBy.DAY:
        found.sort(key=lambda one: one.key or "")
    else:
        found.sort(
            key=lambda one: (
                -one.gpu_hours_lost,
                -one.verdicts,
                one.key or "~",
            )
        )
    return GroupedCounts(by=by, groups=found)


def _key(by: GroupBy, places: Whereabouts) -> Key:
    keys: dict[GroupBy, Key] = {
        GroupBy.CAUSE: lambda verdict: verdict.cause.value,
        GroupBy.HAPPENED: lambda verdict: verdict.happened.value,
        GroupBy.NODE: lambda verdict: verdict.node,
        GroupBy.RACK: lambda verdict: places.rack(
            verdict.node, verdict.began_at
        ),
        GroupBy.CONTROLLER: controller_of,
        GroupBy.DAY: lambda verdict: f"{verdict.began_at:%Y-%m-%d}",
    }
    return keys[by]


def _grouped(
    incidents: Iterable[Incident], key: Key
) -> dict[str | None, _Group]:
    groups: dict[str | None, _Group] = {}
    for incident in incidents:
        keys = {verdict.id: key(verdict) for verdict in incident.judged}
        for verdict in incident.judged:
            group = groups.setdefault(keys[verdict.id], _Group())
            group.add(incident, verdict)
        for hit in incident.hits:
            for charge in hit.charges:
                group = groups[keys[charge.verdict or ""]]
                group.charge(hit, charge.gpu_hours)
    return groups


def _by_namespace(
    incidents: Iterable[Incident],
) -> dict[str | None, _Group]:
    groups: dict[str | None, _Group] = {}
    for incident in incidents:
        known = {verdict.id: verdict for verdict in incident.judged}
        alone = set(known)
        for hit in incident.hits:
            for charge in hit.charges:
                name = charge.verdict or ""
                group = groups.setdefault(hit.workload.namespace, _Group())
                group.add(incident, known[name])
                group.charge(hit, charge.gpu_hours)
                alone.discard(name)
        for name in sorted(alone):
            groups.setdefault(None, _Group()).add(incident, known[name])
    return groups


def totals_line(stats: Stats) -> str:
    """Return the totals in words."""
    total = stats.totals
    nodes = counted(total.nodes, "node")
    parts = [
        f"{counted(total.incidents, 'incident')} on {nodes}",
        counted(total.reboots, "reboot"),
    ]
    for kind, mean, longest in (
        ("down", total.mean_down_seconds, total.longest_down_seconds),
        ("away", total.mean_away_seconds, total.longest_away_seconds),
    ):
        if mean is not None and longest is not None:
            parts.append(
                f"{kind} {_duration(mean)} on average and"
                f" {_duration(longest)} at most"
            )
    if total.not_back:
        parts.append(f"{counted(total.not_back, 'node')} not back in service")
    parts.append(f"at least {gpu_hours(total.gpu_hours_lost)} lost")
    if stats.vouched is not None:
        # Truncated, so that only a complete record has 100 %.
        share = int(stats.vouched * 10000) / 100
        parts.append(f"{share:g} % of the time vouched for")
    return f"{stats.question.cluster}: {', '.join(parts)}"


def count_columns(by: GroupBy) -> Sequence[Column]:
    """Return the columns of a table of counts."""
    return (
        Column(by.value.upper()),
        Column("INCIDENTS"),
        Column("NODES", rank=2),
        Column("REBOOTS", rank=1),
        Column("WORKLOADS", rank=3),
        Column("GPU-HOURS"),
        Column("MEAN DOWN", rank=4),
        Column("LONGEST DOWN", rank=5),
        Column("MEAN AWAY", rank=4),
        Column("LONGEST AWAY", rank=5),
        Column("NOT BACK", rank=6),
    )


def count_cells(count: Count) -> Sequence[Cell]:
    """Return a count as a row of the table."""
    return (
        count.key,
        count.incidents,
        count.nodes,
        count.reboots,
        count.workloads,
        count.gpu_hours_lost,
        _duration(count.mean_down_seconds),
        _duration(count.longest_down_seconds),
        _duration(count.mean_away_seconds),
        _duration(count.longest_away_seconds),
        count.not_back,
    )


def _duration(seconds: float | None) -> str | None:
    return None if seconds is None else lasted(timedelta(seconds=seconds))


def shown(answer: Stats, question: StatsQuestion, *, verbose: bool) -> Listing:
    """Return an answer as `recorder stats` prints it."""
    del verbose
    (by,) = question.by
    is_of_work = by in OF_WORKLOADS
    return Listing(
        columns=_columns(by),
        items=[Item(*row) for row in _rows(answer)],
        whole=lambda groups: (
            answer if is_of_work else replace(answer, groups=groups)
        ),
        nothing=_nothing(by),
        text_notes=[_totals(answer)],
    )


def _columns(by: GroupBy) -> Sequence[Column]:
    if by in OF_WORKLOADS:
        return reliability_columns(by)
    return count_columns(by)


def _rows(
    answer: Stats,
) -> Iterator[tuple[str, Sequence[Cell], Document]]:
    """Yield the name of each group, its cells and its document."""
    for one in answer.groups:
        yield one.key or "", count_cells(one), one
    for grouped in answer.reliability or ():
        for each in grouped.groups:
            yield each.key or "", reliability_cells(each), each


def _nothing(by: GroupBy) -> str:
    what = "workloads" if by in OF_WORKLOADS else "incidents"
    return f"no {what} recorded"


def _totals(answer: Stats) -> str:
    cluster = answer.question.cluster
    of_work = [fleet_line(cluster, one) for one in answer.reliability or ()]
    return of_work[0] if of_work else totals_line(answer)


def shown_each(
    answers: Sequence[tuple[Log, Stats]],
    question: StatsQuestion,
    away: Sequence[Away],
    *,
    verbose: bool,
) -> Listing:
    """Return the answers of several logs as one list."""
    del verbose
    (by,) = question.by
    return Listing(
        columns=[Column("CLUSTER"), *_columns(by)],
        items=[
            Item(name, (log.cluster_name, *cells), one)
            for log, answer in answers
            for name, cells, one in _rows(answer)
        ],
        whole=lambda _: {
            "clusters": [answer for _, answer in answers],
            "away": [{"cluster": one.cluster, "why": one.why} for one in away],
        },
        nothing=_nothing(by),
        text_notes=[_totals(answer) for _, answer in answers],
    )
