"""Metrics that were kept with incidents: the samples in the log.

They were asked of a metrics store once and posted as claims, so that an answer
has them as long as the log has, also from the archive.
"""

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from math import isfinite
from typing import Final

import msgspec
from msgspec import field

from recorder.answers.charts import Chart, MetricSeries, drawn
from recorder.answers.entry import ask_entry
from recorder.answers.loading.nodes import reads_causes
from recorder.answers.node_questions import MetricsQuestion
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import FactListQuery
from recorder.explain.knowledge import Knowledge
from recorder.explain.knowledge.rules import MetricRule
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.facts.metrics import Kept, Series, kept_of
from recorder.model.document import Document
from recorder.model.fact import FactKind
from recorder.model.facts import Claimed
from recorder.model.observation import CLOUDEVENTS
from recorder.model.outcomes import Fault
from recorder.model.reference import EntryName
from recorder.model.window import Window

KEPT_MAX: Final = 20
"""Of one answer, the newest: each has up to 200 KB."""

UNRULED: Final = MetricRule(name="")
Wanted = Callable[[str], bool]


class LackingMetric(Document, frozen=True, kw_only=True):
    """A metric that has no samples."""

    name: str
    because: str


class KeptMetrics(Document, frozen=True, kw_only=True):
    """What a metrics store knew of a node around an incident."""

    entry: EntryName
    """The entry that has the samples."""

    incident: str
    node: str

    peer_of: str | None
    """The node of the incident that it is compared with; null for one of the
    incident itself."""

    since: datetime = field(name="from")
    until: datetime = field(name="to")
    series: Sequence[MetricSeries]
    lacking: Sequence[LackingMetric]

    trouble: str | None
    """Why nothing was kept; null if the store answered."""

    @property
    def charts(self) -> Sequence[Chart]:
        """The series of each metric, drawn together."""
        about = self.node
        if self.peer_of is not None:
            about += f" (healthy peer of {self.peer_of})"
        return drawn(self.series, self.since, self.until, about)


class MetricsSubject(Document, frozen=True, kw_only=True):
    """Which nodes, and when."""

    cluster: str
    nodes: Sequence[str]
    since: datetime | None
    until: datetime | None


class Metrics(Document, frozen=True, kw_only=True):
    """Metrics that were kept of nodes."""

    question: MetricsSubject
    kept: Sequence[KeptMetrics]
    """In the order of the log."""

    coverage: Coverage


async def ask_metrics(
    reading: Reading,
    question: MetricsQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Metrics:
    """Return the metrics whose windows overlap that of the question."""
    window, names = question.window, question.metrics
    # What was kept of a window was posted after it.
    await reading.reach(window.since, None)
    wanted = bearing_on(knowledge, frozenset(Fault))
    if names:
        wanted = partial(_is_named, names)
    kept = await kept_metrics(
        reading, question.nodes, window, knowledge, wanted
    )
    return Metrics(
        question=MetricsSubject(
            cluster=reading.log.cluster_name,
            nodes=[*question.nodes],
            since=window.since,
            until=window.until,
        ),
        kept=kept if names else peers_last(kept),
        coverage=await covered(
            reading, window, now=now, reads=reads_causes, facts=True
        ),
    )


def _is_named(patterns: Iterable[str], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


async def kept_metrics(
    reading: Reading,
    nodes: Iterable[str],
    window: Window,
    knowledge: Knowledge,
    wanted: Wanted,
) -> Sequence[KeptMetrics]:
    """Return what was kept of nodes in a window, in the order of the log.

    Args:
        reading: the log.
        nodes: their names; their peers are included.
        window: the windows of the samples overlap it.
        knowledge: the metrics, by their rules.
        wanted: selects metrics by their names.
    """
    names = [*dict.fromkeys(nodes)]
    found: dict[EntryName, Kept] = {}
    selection = Selection(
        source=CLOUDEVENTS, kinds=(FactKind.CLAIMED,), since=window.since
    )
    for node in names:
        query = FactListQuery(replace(selection, node=node))
        async for page in reading.pages(query, after=0):
            for stored in page:
                claim = stored.fact.detail
                kept = kept_of(claim) if isinstance(claim, Claimed) else None
                if kept is not None and _overlaps(kept, window):
                    found[stored.entry] = kept
                    if kept.peer is not None and kept.peer not in names:
                        names.append(kept.peer)
    newest = sorted(found, key=lambda name: name.position)[-KEPT_MAX:]
    return [
        _kept(
            name,
            found[name],
            [
                one
                for one in _series_of((await ask_entry(reading, name)).raw)
                if wanted(one.name)
            ],
            knowledge.metrics,
        )
        for name in newest
    ]


def bearing_on(knowledge: Knowledge, faults: Collection[Fault]) -> Wanted:
    """Select the metrics that speak for or against faults."""
    return lambda name: knowledge.metrics.get(name, UNRULED).fault in faults


def peers_last(kept: Iterable[KeptMetrics]) -> Sequence[KeptMetrics]:
    """Return what was kept, that of the nodes of the incident first."""
    return sorted(kept, key=lambda one: one.peer_of is not None)


def _overlaps(kept: Kept, window: Window) -> bool:
    return (window.until is None or kept.begin < window.until) and (
        window.since is None or kept.end >= window.since
    )


class _Data(msgspec.Struct):
    series: list[Series] = []


class _Document(msgspec.Struct):
    data: _Data


def _series_of(raw: bytes) -> Sequence[Series]:
    """Return the samples of a document; none if it is malformed."""
    try:
        return msgspec.json.decode(raw, type=_Document).data.series
    except msgspec.MsgspecError:
        return ()


def _kept(
    entry: EntryName,
    kept: Kept,
    series: Sequence[Series],
    rules: Mapping[str, MetricRule],
) -> KeptMetrics:
    return KeptMetrics(
        entry=entry,
        incident=kept.incident,
        node=kept.node,
        peer_of=kept.peer_of,
        since=kept.begin,
        until=kept.end,
        series=[
            shown
            for one in series
            if (shown := _series(one, kept, rules.get(one.name, UNRULED)))
        ],
        lacking=[
            LackingMetric(name=name, because=why)
            for name, why in kept.lacking.items()
        ],
        trouble=kept.trouble,
    )


def _series(one: Series, kept: Kept, rule: MetricRule) -> MetricSeries | None:
    """Return the samples that are in the window; None if there are none."""
    begin, end = kept.begin.timestamp(), kept.end.timestamp()
    try:
        samples = [
            (at, value)
            for at, value in one.samples()
            if begin <= at <= end and isfinite(value)
        ]
        first = samples[0][0]
        since = datetime.fromtimestamp(first, UTC)
    except (ValueError, IndexError, OverflowError, OSError):
        return None
    things = " ".join(one.labels.values())
    return MetricSeries(
        name=one.name,
        thing=" ".join(filter(None, [rule.thing, things])) or one.name,
        unit=rule.unit,
        since=since,
        offsets=[round(at - first, 3) for at, _ in samples],
        values=[value for _, value in samples],
    )
