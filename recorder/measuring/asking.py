"""What is asked of a metrics store: about which nodes, in which window."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgspec

from recorder.answers.incidents import Incident
from recorder.explain.knowledge import Knowledge
from recorder.explain.knowledge.rules import MetricOf, MetricRule
from recorder.explain.verdict import Verdict
from recorder.facts.metrics import (
    METRICS,
    SPAN_MAX,
    Kept,
    Series,
    data_of,
    series_of,
)
from recorder.measuring.ports import Sampled, Store
from recorder.measuring.store_file import MetricsStore
from recorder.model.moment import shifted, written
from recorder.model.outcomes import Cause, Happened
from recorder.model.place import PlaceKind

BEFORE: Final = timedelta(minutes=30)
"""Before the first sign of an incident."""

AFTER: Final = timedelta(minutes=10)
"""After the first proof of the new state."""

BEFORE_LOSS_MAX: Final = timedelta(minutes=90)
LAG: Final = timedelta(minutes=2)
"""Until samples of a window are in the store: a scrape and a remote write."""

PATIENCE: Final = timedelta(minutes=15)
"""Until a target that is down is taken as such."""

NODES_MAX: Final = 4
"""Nodes of one incident; of a gang the first that failed are enough."""

SOURCE: Final = "recorder/metrics"
UP: Final = "up"

EVENT_BYTES_MAX: Final = 224 << 10
"""Less than the door takes of one event."""

NO_TARGET = "no target of this node is scraped"
TARGET_DOWN = "the target did not answer"
NO_SERIES = "the store has no such series"
NOTHING_THEN = "the store has nothing of it then"
TOO_LARGE = "left out, because the others fill the event"


class Asked(NamedTuple):
    """One question: the metrics of a node around an incident."""

    incident: str
    node: str
    begin: datetime
    end: datetime
    peer_of: str | None = None
    peer: str | None = None
    of: MetricOf = MetricOf.NODE

    @property
    def name(self) -> tuple[str, str]:
        """What is asked for once, whatever its window is later."""
        return self.incident, self.node

    @property
    def key(self) -> str:
        """The id of its event."""
        window = f"{written(self.begin)}/{written(self.end)}"
        text = "\n".join([*self.name, window])
        return sha256(text.encode()).hexdigest()


def asked_about(
    incident: Incident, peers: Sequence[str] = ()
) -> Iterator[Asked]:
    """Yield what to ask about an incident, node by node.

    Args:
        incident: the incident, with its verdicts in the order of the log.
        peers: healthy nodes of a gang that it hit; one is asked about.
    """
    if incident.happened is Happened.JOINED:
        return
    others = sorted({*peers} - {*incident.nodes})
    peer = others[0] if others else None
    for verdict in incident.judged[:NODES_MAX]:
        asked = Asked(incident.id, verdict.node, *_window(verdict))
        if verdict.cause is Cause.CONTROL_PLANE_OUTAGE:
            yield asked._replace(of=MetricOf.CONTROL_PLANE)
            return
        yield asked._replace(peer=peer)
        peer = None


def _window(verdict: Verdict) -> tuple[datetime, datetime]:
    """Return the window of a verdict; the loss of the node is within it.

    What fails may have been reported for days, and a node may stay away for
    days, without samples.
    """
    begin = max(
        shifted(verdict.began_at, -BEFORE),
        shifted(verdict.lost_at, -BEFORE_LOSS_MAX),
    )
    end = min(shifted(verdict.not_after, AFTER), shifted(begin, SPAN_MAX))
    return begin, end


async def taken(
    asked: Asked,
    description: MetricsStore,
    store: Store,
    knowledge: Knowledge,
    *,
    patient: bool,
) -> Sequence[Mapping[str, Any]] | None:
    """Ask a store; return the events to post, or None to ask once more later.

    That of the node is the last one: if the log has it, it has all.

    Args:
        asked: the question.
        description: the store's file.
        store: the store.
        knowledge: the metrics, by their rules.
        patient: whether a target that seems down may still be scraped.

    Raises:
        StoreError: the store gave no usable answer.
        MetricsError: a file of the store's description cannot be used.
    """
    names = description.names(knowledge, asked.of)
    rules = [knowledge.metrics[name] for name in names]
    series = await _asked(asked, description, store, rules)
    if patient and asked.of is MetricOf.NODE and not _is_scraped(series):
        return None
    kept, events = await _kept(asked, series, store, names), []
    if asked.peer is not None:
        beside = asked._replace(node=asked.peer, peer_of=asked.node, peer=None)
        others = await _asked(beside, description, store, rules)
        also = await _kept(beside, others, store, names)
        events.append(event_of(beside, also, others))
        kept = msgspec.structs.replace(kept, peer_highest=_highest(others))
    return [*events, event_of(asked, kept, series)]


async def _asked(
    asked: Asked,
    description: MetricsStore,
    store: Store,
    rules: Iterable[MetricRule],
) -> Sequence[Series]:
    """Return the series that a store has of a node."""
    span, found = asked.end - asked.begin, list[Series]()
    for rule in rules:
        selector = (
            rule.name
            if asked.of is MetricOf.CONTROL_PLANE
            else description.selector(rule.name, asked.node)
        )
        samples = await store.samples(selector, end=asked.end, span=span)
        found += _series(rule, samples)
    return found


async def _kept(
    asked: Asked, series: Sequence[Series], store: Store, names: Iterable[str]
) -> Kept:
    """Return what was asked, and why metrics have no samples."""
    having = {one.name for one in series}
    return Kept(
        incident=asked.incident,
        node=asked.node,
        begin=asked.begin,
        end=asked.end,
        peer_of=asked.peer_of,
        peer=asked.peer,
        lacking={
            name: await _why(name, series, asked, store)
            for name in names
            if name not in having
        },
    )


def _highest(series: Iterable[Series]) -> dict[str, float]:
    highest: dict[str, float] = {}
    for one in series:
        found = max(value for _, value in one.samples())
        highest[one.name] = max(found, highest.get(one.name, found))
    return highest


def event_of(
    asked: Asked, kept: Kept, series: Sequence[Series]
) -> Mapping[str, Any]:
    """Return the event to post, which is not larger than the door takes."""
    lacking, whole = dict(kept.lacking), [*series]
    while True:
        event = {
            "specversion": "1.0",
            "id": asked.key,
            "source": SOURCE,
            "type": METRICS,
            "subject": f"{PlaceKind.NODE}/{asked.node}",
            "time": written(asked.end),
            "data": data_of(
                msgspec.structs.replace(kept, lacking=lacking), whole
            ),
        }
        if not whole or len(msgspec.json.encode(event)) <= EVENT_BYTES_MAX:
            return event
        name = max(
            {one.name for one in whole},
            key=lambda name: sum(
                len(one.values) for one in whole if one.name == name
            ),
        )
        whole = [one for one in whole if one.name != name]
        lacking[name] = TOO_LARGE


def _series(rule: MetricRule, found: Iterable[Sampled]) -> list[Series]:
    """Return the series of a metric, with the labels that distinguish them.

    Other labels change while a series goes on: those of a Pod on its GPU do.
    Their samples are one series.
    """
    joined: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
    for one in found:
        labels = tuple(
            (name, one.labels[name])
            for name in rule.labels
            if name in one.labels
        )
        joined.setdefault(labels, []).extend(one.samples)
    return [
        series_of(rule.name, dict(labels), sorted(dict(samples).items()))
        for labels, samples in sorted(joined.items())
    ]


def _is_scraped(series: Sequence[Series]) -> bool:
    return any(one.name == UP for one in series)


async def _why(
    name: str, series: Sequence[Series], asked: Asked, store: Store
) -> str:
    """Return why a metric of a node has no samples."""
    up = [one for one in series if one.name == UP]
    if asked.of is MetricOf.NODE and not up:
        return NO_TARGET
    if up and all(not any(one.values) for one in up):
        return TARGET_DOWN
    any_node = await store.samples(
        name, end=asked.end, span=timedelta(minutes=5)
    )
    return NOTHING_THEN if any_node else NO_SERIES
