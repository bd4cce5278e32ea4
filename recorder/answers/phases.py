"""Phases of an incident: started, detected, decided, mitigated, resolved.

Each phase has the time of a record, or is open. Nothing is averaged or
assumed: a time that is not recorded is null.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from recorder.answers.sentences import counted
from recorder.explain.ending import Ending
from recorder.explain.hit import Hit
from recorder.explain.signals.signal import Signal, Topic
from recorder.explain.steps import LAST_SIGN
from recorder.explain.verdict import Verdict
from recorder.model.document import Document
from recorder.model.fact import FactKind
from recorder.model.outcomes import Outcome, Role
from recorder.model.reference import EntryName


class Phase(Document, frozen=True, kw_only=True):
    """One phase of an incident, by the record that bears it out."""

    phase: str
    """`started`, `detected`, `decided`, `mitigated` or `resolved`."""

    at: datetime | None
    """Null if it is not over, or was not recorded."""

    after_seconds: float | None
    """The time since the incident started."""

    says: str
    entry: EntryName | None


_Sign = tuple[datetime | None, str, EntryName | None]
"""When it happened, a text, and the entry that proves it."""

_NOT_RECORDED: _Sign = None, "not recorded", None


def phases(
    verdicts: Sequence[Verdict], hits: Sequence[Hit]
) -> Sequence[Phase]:
    """Return the phases; none if nothing happened."""
    if not verdicts:
        return []
    started = min(map(_started, verdicts), key=lambda sign: sign[0])
    found: list[tuple[str, _Sign]] = [
        ("started", started),
        ("detected", _first(_detected(verdicts))),
    ]
    if any(verdict.decision is not None for verdict in verdicts):
        found.append(("decided", _first(_decided(verdicts))))
    resolved = _resolved(verdicts)
    if hits:
        mitigated = _mitigated(hits)
        found.append(("mitigated", mitigated))
        resolved = _after(resolved, mitigated)
    found.append(("resolved", resolved))
    return [_phase(name, sign, since=started[0]) for name, sign in found]


def phases_of_endings(endings: Sequence[Ending]) -> Sequence[Phase]:
    """Return the phases of endings that no node caused; none without any."""
    if not endings:
        return []
    first, last = endings[0], endings[-1]
    started = first.first_at or first.at
    again = last.running_again_at
    says = "running again" if again else "not running again"
    found: list[tuple[str, _Sign]] = [
        ("started", (started, first.ended_by.value, first.id))
    ]
    if last.outcome is not None:
        found.append(("mitigated", (again, says, None)))
    return [_phase(name, sign, since=started) for name, sign in found]


def _phase(name: str, sign: _Sign, *, since: datetime) -> Phase:
    at, says, entry = sign
    # The clocks of two machines may disagree on the order.
    after = None if at is None else max((at - since).total_seconds(), 0.0)
    return Phase(
        phase=name, at=at, after_seconds=after, says=says, entry=entry
    )


def _first(signs: Iterator[_Sign]) -> _Sign:
    return min(signs, key=lambda sign: str(sign[0]), default=_NOT_RECORDED)


def _started(verdict: Verdict) -> tuple[datetime, str, EntryName | None]:
    """Return the earliest recorded begin of a verdict."""
    fault, decided = verdict.fault, verdict.decision
    begun: list[tuple[datetime, str, EntryName | None]] = [
        (one.at, one.says, one.sign.stored.entry)
        for one in (fault, decided)
        if one is not None
    ]
    if (
        decided is None
        and verdict.not_before is not None
        and verdict.down is not None
    ):
        says = f"last sign of life of {verdict.node}"
        begun.append((verdict.not_before, says, _proof(verdict)))
    if not begun:
        effect = verdict.effect
        begun.append((verdict.lost_at, effect.says, effect.stored.entry))
    return min(begun, key=lambda one: one[0])


def _proof(verdict: Verdict) -> EntryName | None:
    """Return the entry of the last sign of life, if a step has one."""
    heard = (step for step in verdict.steps if step.says == LAST_SIGN)
    return next((step.entries[0] for step in heard), None)


def _detected(verdicts: Sequence[Verdict]) -> Iterator[_Sign]:
    """Yield the first report of each verdict.

    By when the report was observed, since a fault precedes its report; or by
    when someone decided, who had noticed by then.
    """
    for verdict in verdicts:
        if verdict.fault is None and verdict.mode == "planned":
            continue
        reports = [_reported(sign) for sign in _reports(verdict)]
        yield min([*reports, *_decided([verdict])], key=_when)


def _reports(verdict: Verdict) -> Sequence[Signal]:
    """Return signals that may be the first report: faults and effects."""
    found = [
        one.sign
        for role in (Role.FAULT, Role.EFFECT)
        for one in verdict.evidence
        if one.role is role
        and one.sign.stored.fact.kind is not FactKind.LEASE_SILENT
        and one.sign.topic is not Topic.LIFE
    ]
    return found or [verdict.effect]


def _reported(sign: Signal) -> _Sign:
    stored = sign.stored
    reporter = stored.fact.actor
    says = sign.says if not reporter else f"{reporter}: {sign.says}"
    return stored.observed_at, says, stored.entry


def _when(sign: _Sign) -> datetime:
    at, _, _ = sign
    assert at is not None, "a report has a time"
    return at


def _decided(verdicts: Sequence[Verdict]) -> Iterator[_Sign]:
    for verdict in verdicts:
        decided = verdict.decision
        if decided is None:
            continue
        who, says = decided.actor.name, decided.says
        if who is not None:
            says = f"{who}: {says}"
        yield decided.at, says, decided.sign.stored.entry


def _mitigated(hits: Sequence[Hit]) -> _Sign:
    """Return when the last workload was running again."""
    waiting = [
        hit
        for hit in hits
        if hit.running_again_at is None
        and hit.outcome not in {Outcome.FAILED, Outcome.COMPLETED}
    ]
    if waiting:
        return None, f"{counted(len(waiting), 'workload')} not running", None
    ended = [h for h in hits if h.running_again_at is None]
    again = [h.running_again_at for h in hits if h.running_again_at]
    if not again:
        count = counted(len(ended), "workload")
        return None, f"{count} did not run again", None
    failed = f"; {len(ended)} did not" if ended else ""
    count = counted(len(again), "workload")
    return max(again), f"{count} running again{failed}", None


def _after(resolved: _Sign, mitigated: _Sign) -> _Sign:
    """Return when an incident is resolved: not before work runs again."""
    at, _, _ = resolved
    again, says, _ = mitigated
    if at is not None and again is not None and again > at:
        return again, says, None
    return resolved


def _resolved(verdicts: Sequence[Verdict]) -> _Sign:
    lasting = [v for v in verdicts if v.over_at is None]
    if lasting:
        names = ", ".join(sorted({v.node for v in lasting}))
        out = any(v.is_out for v in lasting)
        is_not = "not back in service" if out else "still degraded"
        return None, f"{is_not}: {names}", None
    over = [v.over_at for v in verdicts if v.over_at]
    nodes = {v.node for v in verdicts}
    name = verdicts[0].node if len(nodes) == 1 else counted(len(nodes), "node")
    again = "back " * any(v.back_in_service_at for v in verdicts)
    return max(over), f"{name} {again}in service", None
