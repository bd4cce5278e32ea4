"""What kept metrics say of a fault: they support it, or speak against it.

Claims keep what metrics of a node did around an incident.
A value is never a fault by itself: a GPU may be hot for a day. It is compared
where another source reports a fault of the class of its metric.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import inf, isfinite
from typing import Final, NamedTuple

from msgspec.structs import replace

from recorder.explain.knowledge.rules import MetricRule
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.explain.tracks.episode import Episode
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Contradiction, Evidence, Faulted, Verdict
from recorder.facts.metrics import Kept, Summary, kept_of, summaries_of
from recorder.model.fact import StoredFact
from recorder.model.facts import Claimed
from recorder.model.outcomes import Fault, Role

SUPPORTING_MAX: Final = 3
"""Series that a step names."""


class Measurement(NamedTuple):
    """A series of a node, with the rule of its metric and its claim."""

    rule: MetricRule
    series: Summary
    kept: Kept
    stored: StoredFact


def measured(transition: Transition, verdict: Verdict) -> Verdict:
    """Return a verdict with what kept metrics say of its fault."""
    if verdict.fault is None:
        return verdict
    at = transition.effect.stored.at
    lines = [*_measurements(transition.episode, verdict.fault.fault, at)]
    shown = [one for one in lines if _supports(one, at)][:SUPPORTING_MAX]
    if not shown:
        against = _against(lines, verdict.fault)
        return replace(
            verdict, contradictions=[*verdict.contradictions, *against]
        )
    says = "; ".join(_said(one, lines) for one in shown)
    claims = {one.stored.entry: one.stored for one in shown}
    steps = list(verdict.steps)
    for place, step in enumerate(steps):
        if step.role is Role.FAULT:
            steps[place] = replace(
                step,
                says=f"{step.says}; {says}",
                entries=(*step.entries, *claims),
            )
            break
    subject = Subject(Topic.CLAIM, "metrics")
    signs = [Signal(Role.FAULT, subject, one) for one in claims.values()]
    evidence = [Evidence.of(Role.FAULT, sign) for sign in signs]
    return replace(
        verdict, steps=steps, evidence=[*verdict.evidence, *evidence]
    )


def _measurements(
    episode: Episode, fault: Fault, at: datetime
) -> Iterator[Measurement]:
    """Yield the series of a node around a time that speak of a fault."""
    rules = {
        name: rule
        for name, rule in episode.metrics.items()
        if rule.fault is fault
    }
    for stored in episode.claims:
        claim = stored.fact.detail
        assert isinstance(claim, Claimed), "others claim nothing"
        kept = kept_of(claim)
        if kept is None or kept.node != episode.node or kept.peer_of:
            continue
        if not kept.begin <= at <= kept.end:
            continue
        for series in summaries_of(claim, rules):
            if _is_within(series, kept):
                yield Measurement(rules[series.name], series, kept, stored)


def _is_within(series: Summary, kept: Kept) -> bool:
    """Return whether the times of a series are in the window."""
    since, until = kept.begin.timestamp(), kept.end.timestamp()
    times = series.high_at, series.ended_at, series.changed_at or since
    return since <= min(times) and max(times) <= until


def _supports(line: Measurement, at: datetime) -> bool:
    rule, series = line.rule, line.series
    since = series.changed_at if rule.changes else series.high_at
    high = rule.changes or (
        rule.above is not None
        and series.highest >= rule.above > _peer(line, -inf)
    )
    return high and since is not None and since <= at.timestamp()


def _peer(line: Measurement, otherwise: float) -> float:
    """Return the highest value on a healthy node, which a fault exceeds."""
    return line.kept.peer_highest.get(line.rule.name, otherwise)


def _against(
    lines: Sequence[Measurement], faulted: Faulted
) -> Iterator[Contradiction]:
    """Yield that every series of a metric was low until the loss."""
    for name, rule in {one.rule.name: one.rule for one in lines}.items():
        of_metric = [one for one in lines if one.rule is rule]
        highest = max(one.series.highest for one in of_metric)
        if rule.below is not None and highest < rule.below:
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
    highest, since = _value(series.highest, rule), _clock(series.high_at)
    others = [one.series for one in lines if one.rule is rule]
    peers = [other.highest for other in others if other is not series]
    beside = f", its peers at {_value(max(peers), rule)}" if peers else ""
    if isfinite(healthy := _peer(line, inf)):
        beside += f", those of {line.kept.peer} at {_value(healthy, rule)}"
    return f"{thing} at {highest} from {since}{beside}"


def _value(value: float, rule: MetricRule) -> str:
    return f"{value:.10g}{rule.unit}"


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%H:%M")
