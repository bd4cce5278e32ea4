"""Verdicts as the public interface shows them, and as people read them."""

from collections.abc import Iterator
from typing import Any

from recorder.explain.verdict import Decided, Evidence, Faulted, Verdict
from recorder.model.moment import written
from recorder.report.window import optional_time

__all__ = ["document", "lines"]


def document(verdict: Verdict) -> dict[str, Any]:
    """Give a verdict as JSON."""
    last, first = verdict.between
    return {
        "id": verdict.id,
        "node": verdict.node,
        "node_uid": verdict.node_uid,
        "happened": verdict.happened,
        "boot_id_before": verdict.boot_id_before,
        "boot_id_after": verdict.boot_id_after,
        "between": [optional_time(last), written(first)],
        "back_in_service_at": optional_time(verdict.back_in_service_at),
        "mode": verdict.mode,
        "cause": verdict.cause,
        "fault": _fault(verdict.fault),
        "decision": _decision(verdict.decision),
        "sentence": verdict.sentence,
        "confidence": verdict.confidence,
        "evidence": [_evidence(e) for e in verdict.evidence],
        "rivals": [
            {
                "cause": rival.cause,
                "excluded": rival.excluded,
                "because": rival.because,
            }
            for rival in verdict.rivals
        ],
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
    actor = decided.actor
    return {
        "class": decided.decision.value,
        "actor": {
            "kind": "unknown" if actor is None else actor.kind,
            "name": None if actor is None else actor.name,
            **({"tool": actor.tool} if actor and actor.tool else {}),
        },
        "says": decided.sign.says,
        "at": written(decided.sign.stored.at),
    }


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
    """Give a verdict as text: the sentence, then the chain."""
    yield verdict.sentence
    yield ""
    yield from _facts_of(verdict)
    yield ""
    width = max(
        (len(str(e.sign.stored.entry)) for e in verdict.evidence), default=0
    )
    day = None
    for evidence in verdict.evidence:
        stored = evidence.sign.stored
        if stored.at.date() != day:
            day = stored.at.date()
            yield f"  {day:%Y-%m-%d}"
        name = str(stored.entry).ljust(width)
        clock = stored.at.strftime("%H:%M:%S")
        yield f"  {clock}  {evidence.role:8}  {name}  {evidence.sign.says}"
    if verdict.rivals:
        yield ""
        for rival in verdict.rivals:
            word = "not" if rival.excluded else "perhaps"
            yield f"  {word:8} {rival.cause}: {rival.because}"
    for one in verdict.missing:
        yield f"  missing  {one.evidence}: would tell {one.would_tell}"


def _facts_of(verdict: Verdict) -> Iterator[str]:
    rows = [
        ("happened", f"{verdict.happened}, {verdict.mode}"),
        ("cause", f"{verdict.cause} ({verdict.confidence})"),
    ]
    decided = verdict.decision
    if decided is not None:
        actor = decided.actor
        who = "unknown" if actor is None or actor.name is None else actor.name
        if actor is not None and actor.tool is not None:
            who = f"unknown, with {actor.tool}"
        rows.append(("decided", f"{decided.decision.value} by {who}"))
    if verdict.boot_id_before != verdict.boot_id_after:
        boots = f"{verdict.boot_id_before} -> {verdict.boot_id_after}"
        rows.append(("boot id", boots))
    back = verdict.back_in_service_at
    if back is not None:
        rows.append(("back", written(back)))
    for name, value in rows:
        yield f"  {name:8} {value}"
