"""Somebody cordoned or drained the node by hand."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.explain.signs import Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Decision

__all__ = ["CAUSE"]

GONE = frozenset({Happened.REMOVED, Happened.REJOINED, Happened.REPLACED})


def _find(case: Case) -> Found | None:
    cordon = case.first(Subject.CORDON)
    if cordon is None:
        return None
    actor = case.author(cordon)
    if actor is not None and actor.is_program:
        return None
    if case.happened in {Happened.DRAINED, Happened.CORDONED}:
        return Found(cordon, "proven", actor)
    if case.happened in GONE:
        return None  # whoever deleted it decided
    if case.happened != Happened.REBOOT and not case.is_recent(cordon):
        return None
    # Who wants to take a machine down empties it first, and not days before.
    near = case.is_recent(cordon) and case.chain.has(Subject.EVICTION)
    return Found(cordon, "likely" if near else "possible", actor)


CAUSE = DecisionCause(
    decision=Decision.MANUAL_DRAIN,
    signature=(
        "a cordon by a person or by kubectl, perhaps evictions; the node stays"
        " Ready"
    ),
    lookalikes=(
        "scale-down and auto-remediation: a controller cordons and says so",
        "node-deletion: the Node is deleted as well",
    ),
    find=_find,
)
