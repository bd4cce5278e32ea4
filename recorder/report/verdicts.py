"""Verdicts as the public interface shows them, and as people read them."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from textwrap import wrap
from typing import Any

from recorder.explain.evidence import most_telling
from recorder.explain.signals import Actor
from recorder.explain.verdict import (
    Decided,
    Evidence,
    Faulted,
    Step,
    Verdict,
)
from recorder.model.moment import written
from recorder.report.text import counted, plain
from recorder.report.window import optional_time

__all__ = ["boots", "decider", "document", "lines", "without"]

WIDTH = 100
"""Columns of a text that people read."""

SAYS_MAX = 100
"""Characters of what one sign says; an Event may hold a thousand."""

EVIDENCE_SHOWN = 24
"""Signs shown as text, so that a verdict fits on a screen."""


def document(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON."""
    last, first = verdict.between
    return {
        "id": verdict.id,
        "node": verdict.node,
        "node_uid": verdict.node_uid,
        "happened": verdict.happened,
        "boot_id_before": verdict.boot_id_before,
        "boot_id_after": verdict.boot_id_after,
        "between": [optional_time(last), written(first)],
        "not_before": optional_time(last),
        "not_after": written(first),
        "down_seconds": _seconds(verdict.down),
        "away_seconds": _seconds(verdict.away),
        "back_in_service_at": optional_time(verdict.back_in_service_at),
        "mode": verdict.mode,
        "cause": verdict.cause,
        "fault": _fault(verdict.fault),
        "decision": _decision(verdict.decision),
        "because": _because(verdict),
        "intervention": _intervention(verdict.decision),
        "sentence": verdict.sentence,
        "confidence": verdict.confidence,
        "steps": [_step(step) for step in verdict.steps],
        "evidence": [_evidence(e) for e in verdict.evidence],
        "evidence_left_out": verdict.left_out,
        "rivals": [
            {
                "cause": rival.cause,
                "excluded": rival.excluded,
                "because": rival.because,
            }
            for rival in verdict.rivals
        ],
        "contradictions": [
            {
                "entry": str(one.sign.stored.entry),
                "says": one.sign.says,
                "but": one.but,
            }
            for one in verdict.contradictions
        ],
        "gaps": [str(gap) for gap in verdict.gaps],
        "missing": [
            {"evidence": one.evidence, "would_tell": one.would_tell}
            for one in verdict.missing
        ],
    }


def _fault(faulted: Faulted | None) -> dict[str, Any] | None:
    if faulted is None:
        return None
    return {
        "class": faulted.fault.value,
        "says": faulted.sign.says,
        "at": written(faulted.sign.stored.at),
    }


def _decision(decided: Decided | None) -> dict[str, Any] | None:
    if decided is None:
        return None
    return {
        "class": decided.decision.value,
        "actor": _actor(decided.actor),
        "carried_out_by": (
            None
            if decided.carried_out_by is None
            else _actor(decided.carried_out_by)
        ),
        "says": decided.sign.says,
        "at": written(decided.sign.stored.at),
    }


def _actor(actor: Actor | None) -> dict[str, Any]:
    return {
        "kind": "unknown" if actor is None else actor.kind,
        "name": None if actor is None else actor.name,
        **({"tool": actor.tool} if actor and actor.tool else {}),
    }


def _because(verdict: Verdict) -> dict[str, Any] | None:
    because = verdict.because
    if because is None:
        return None
    return {
        "entry": str(because.sign.stored.entry),
        "says": because.sign.says,
        "confidence": because.strength,
    }


def _intervention(decided: Decided | None) -> dict[str, Any] | None:
    if decided is None:
        return None
    return {
        "actor": _actor(decided.actor),
        "since": optional_time(decided.since),
        "entries": [str(entry) for entry in decided.entries],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "role": step.role,
        "at": written(step.at),
        "says": step.says,
        "actor": None if step.actor is None else _actor(step.actor),
        "entries": [str(entry) for entry in step.entries],
    }


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else round(duration.total_seconds(), 3)


def _evidence(evidence: Evidence) -> dict[str, Any]:
    stored = evidence.sign.stored
    source = "audit" if stored.fact.kind.value == "requested" else "watch"
    return {
        "entry": str(stored.entry),
        "role": evidence.role,
        "source": source,
        "occurred_at": optional_time(stored.fact.occurred_at),
        "observed_at": written(stored.observed_at),
        "says": evidence.sign.says,
    }


def lines(verdict: Verdict) -> Iterator[str]:
    """Yield a verdict as text: the sentence, then the chain.

    It is what fits on a screen; the JSON has all that the verdict names.
    """
    yield from wrap(plain(verdict.sentence), WIDTH)
    yield ""
    yield from _facts_of(verdict)
    yield ""
    yield from _chain(verdict)
    if verdict.rivals or verdict.gaps or verdict.missing:
        yield ""
    for rival in verdict.rivals:
        word = "not" if rival.excluded else "perhaps"
        yield from _row(word, f"{rival.cause}: {rival.because}")
    for against in verdict.contradictions:
        entry = against.sign.stored.entry
        text = f"{entry} {against.sign.says}: {against.but}"
        yield from _row("but", text)
    if verdict.gaps:
        named = ", ".join(map(str, verdict.gaps))
        yield from _row(
            "gap", f"{named}: nobody watched for a part of this time"
        )
    for one in verdict.missing:
        yield from _row(
            "missing", f"{one.evidence}, which would tell {one.would_tell}"
        )


def _chain(verdict: Verdict) -> Iterator[str]:
    every = verdict.evidence
    deciding = [verdict.effect]
    parts = (verdict.fault, verdict.decision)
    deciding += [part.sign for part in parts if part is not None]
    shown = most_telling(every, deciding, EVIDENCE_SHOWN)
    width = max(
        (len(str(every[n].sign.stored.entry)) for n in shown), default=0
    )
    day = None
    for before, place in pairwise([-1, *shown]):
        left = place - before - 1
        if left:
            yield f"  ... {counted(left, 'more sign')}: see -o json"
        stored = every[place].sign.stored
        if stored.at.date() != day:
            day = stored.at.date()
            yield f"  {day:%Y-%m-%d}"
        name = str(stored.entry).ljust(width)
        clock = stored.at.strftime("%H:%M:%S")
        role = every[place].role.ljust(8)
        said = plain(every[place].sign.says)
        if len(said) > SAYS_MAX:
            said = f"{said[: SAYS_MAX - 3]}..."
        yield f"  {clock}  {role}  {name}  {said}"
    if verdict.left_out:
        yield from _row("...", without(verdict))


def _row(name: str, value: str) -> Iterator[str]:
    first = f"  {name:8} "
    yield from wrap(
        plain(value),
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
    )


def without(verdict: Verdict) -> str:
    """Say what the evidence of a verdict leaves out, and how it is read."""
    first, last = (verdict.evidence[n].sign.stored.at for n in (0, -1))
    until = last + timedelta(seconds=1)
    return (
        f"{counted(verdict.left_out, 'more sign')}: recorder log --facts "
        f"--node {verdict.node} --since {written(first)} "
        f"--until {written(until)} --limit all"
    )


def decider(decided: Decided) -> str:
    """Name who decided, as far as it is known."""
    actor = decided.actor
    if actor is None:
        return "unknown"
    if actor.tool is not None:
        return f"unknown, with {actor.tool}"
    return actor.name or "unknown"


def boots(verdict: Verdict) -> tuple[str, str] | None:
    """Return the boot before and the boot after, where they differ."""
    before, after = verdict.boot_id_before, verdict.boot_id_after
    return None if before == after else (before or "none", after or "none")


def _facts_of(verdict: Verdict) -> Iterator[str]:
    rows = [
        ("happened", f"{verdict.happened}, {verdict.mode}"),
        ("cause", f"{verdict.cause} ({verdict.confidence})"),
    ]
    decided = verdict.decision
    if decided is not None:
        who = decider(decided)
        rows.append(("decided", f"{decided.decision.value} by {who}"))
    booted = boots(verdict)
    if booted is not None:
        rows.append(("boot id", " -> ".join(booted)))
    rows.append(("at", written(verdict.effect.stored.at)))
    back = verdict.back_in_service_at
    if back is not None:
        rows.append(("back", written(back)))
    for name, value in rows:
        yield from _row(name, value)
