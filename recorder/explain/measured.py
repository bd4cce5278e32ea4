"""What kept metrics say of a fault: they support it, or speak against it.

A value is never a fault by itself: a GPU may be hot for a day. It is compared
where another source reports a fault of the class of its metric.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec.structs import replace

from recorder.explain.knowledge.rules import MetricRule
from recorder.explain.signals import Signal, Subject, Topic
from recorder.explain.signals.metrics import Measurement
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import (
    Contradiction,
    Faulted,
    Judged,
    SignalEvidence,
    Step,
)
from recorder.model.fact import StoredFact
from recorder.model.outcomes import Role
from recorder.model.reference import EntryName

__all__ = ["measured"]

SUPPORTING_MAX: Final = 3
"""Series that a step names."""


def measured(transition: Transition, verdict: Judged) -> Judged:
    """Return a verdict with what kept metrics say of its fault."""
    if verdict.fault is None:
        return verdict
    at = transition.effect.stored.at
    lines = [
        one
        for one in transition.episode.measurements()
        if one.rule.fault is verdict.fault.fault
        and one.kept.begin <= at <= one.kept.end
    ]
    supporting = [line for line in lines if _supports(line, at)]
    if not supporting:
        against = _against(lines, verdict.fault)
        return replace(
            verdict, contradictions=[*verdict.contradictions, *against]
        )
    shown = supporting[:SUPPORTING_MAX]
    claims = {line.stored.entry: line.stored for line in shown}
    return replace(
        verdict,
        steps=_backed(
            verdict.steps, [_said(line, lines) for line in shown], claims
        ),
        evidence=[*verdict.evidence, *map(_evidence, claims.values())],
    )


def _backed(
    steps: Sequence[Step], says: Sequence[str], entries: Iterable[EntryName]
) -> Sequence[Step]:
    """Return the path, its fault with what supports it."""
    for place, step in enumerate(steps):
        if step.role is Role.FAULT:
            backed = replace(
                step,
                says="; ".join([step.says, *says]),
                entries=(*step.entries, *entries),
            )
            return [*steps[:place], backed, *steps[place + 1 :]]
    return steps


def _supports(line: Measurement, at: datetime) -> bool:
    rule, series = line.rule, line.series
    if rule.changes:
        return (
            series.changed_at is not None
            and series.changed_at <= at.timestamp()
        )
    return (
        rule.above is not None
        and series.highest >= rule.above
        and series.high_at <= at.timestamp()
    )


def _against(
    lines: Sequence[Measurement], faulted: Faulted
) -> Iterator[Contradiction]:
    """Yield that every series of a metric was low until the loss."""
    limits = {
        line.rule.name: line.rule
        for line in lines
        if line.rule.below is not None
    }
    for name, rule in limits.items():
        of_metric = [line for line in lines if line.rule.name == name]
        assert rule.below is not None
        if all(line.series.highest < rule.below for line in of_metric):
            highest = max(line.series.highest for line in of_metric)
            yield Contradiction(
                entry=of_metric[0].stored.entry,
                says=f"no {rule.thing or name} was above"
                f" {_value(highest, rule)} by {name}",
                but=f"{faulted.says} says otherwise",
            )


def _said(line: Measurement, lines: Sequence[Measurement]) -> str:
    rule, series = line.rule, line.series
    thing = " ".join(filter(None, [rule.thing or rule.name, series.thing]))
    if rule.changes:
        assert series.changed_at is not None
        return (
            f"{thing} changed from {_value(series.first, rule)} to"
            f" {_value(series.changed_to, rule)} at"
            f" {_clock(series.changed_at)}"
        )
    text = (
        f"{thing} at {_value(series.highest, rule)} from"
        f" {_clock(series.high_at)}"
    )
    peers = [
        other.series.highest
        for other in lines
        if other.rule is rule and other.series is not series
    ]
    if not peers:
        return text
    return f"{text}, its peers at {_value(max(peers), rule)}"


def _value(value: float, rule: MetricRule) -> str:
    return f"{value:.10g}{rule.unit}"


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%H:%M")


def _evidence(stored: StoredFact) -> SignalEvidence:
    sign = Signal(Role.FAULT, Subject(Topic.CLAIM, "metrics"), stored)
    return SignalEvidence.of(Role.FAULT, sign)
