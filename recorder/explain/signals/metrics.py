"""What metrics of a node did around an incident, by claims that keep them."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from math import isfinite
from typing import NamedTuple

from recorder.explain.knowledge import Knowledge
from recorder.explain.knowledge.rules import MetricRule
from recorder.facts.metrics import (
    METRICS,
    Kept,
    Summary,
    kept_of,
    summaries_of,
)
from recorder.model.fact import Fact, StoredFact
from recorder.model.facts import Claimed
from recorder.model.outcomes import Fault

__all__ = ["Measurement", "is_of_metrics", "measurements_of"]


class Measurement(NamedTuple):
    """A series of a node, with the rule of its metric and its claim."""

    rule: MetricRule
    series: Summary
    kept: Kept
    stored: StoredFact


def is_of_metrics(fact: Fact) -> bool:
    """Return whether a fact is a claim that keeps metrics."""
    detail = fact.detail
    return isinstance(detail, Claimed) and detail.type == METRICS


def measurements_of(
    node: str,
    facts: Iterable[StoredFact],
    knowledge: Knowledge,
    fault: Fault,
    at: datetime,
) -> Iterator[Measurement]:
    """Yield the series of a node around a time that speak of a fault.

    What was kept of it as the healthy peer of another node is left out.
    """
    rules = {
        name: rule
        for name, rule in knowledge.metrics.items()
        if rule.fault is fault
    }
    for stored in facts:
        claim = stored.fact.detail
        if not isinstance(claim, Claimed):
            continue
        kept = kept_of(claim)
        if kept is None or kept.node != node or kept.peer_of is not None:
            continue
        if not kept.begin <= at <= kept.end:
            continue
        for series in summaries_of(claim, rules):
            if _is_sound(series, kept):
                yield Measurement(rules[series.name], series, kept, stored)


def _is_sound(series: Summary, kept: Kept) -> bool:
    """Return whether its values are numbers, and its times in the window."""
    begin, end = kept.begin.timestamp(), kept.end.timestamp()
    values = (
        series.first,
        series.last,
        series.lowest,
        series.highest,
        series.changed_to,
    )
    times = (series.high_at, series.ended_at, series.changed_at or begin)
    return all(map(isfinite, values)) and all(
        begin <= at <= end for at in times
    )
