"""Somebody cordoned or drained the node by hand."""

from datetime import timedelta
from typing import Final

from recorder.explain.causes.case import Case, is_barred
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.explain.signs import Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Decision

__all__ = ["CAUSE"]

SET_ASIDE: Final = timedelta(days=7)
"""After which a node that somebody cordoned is not about to be taken down."""

GONE = frozenset({Happened.REMOVED, Happened.REJOINED, Happened.REPLACED})


def _find(case: Case) -> Found | None:
    cordon = case.first(Subject.CORDON)
    if cordon is None:
        return _by_taint(case)
    actor = case.author(cordon)
    if actor is not None and actor.is_program:
        return None
    hidden = actor is not None and actor.library
    if case.happened in {Happened.DRAINED, Happened.CORDONED}:
        return Found(cordon, "possible" if hidden else "proven", actor)
    if case.happened in GONE:
        return None  # whoever deleted it decided
    long_ago = case.lost_at - cordon.stored.at > SET_ASIDE
    waits = case.happened == Happened.REBOOT and not long_ago
    if not (waits or case.is_recent(cordon)):
        return None
    # Who wants to take a machine down empties it first, and not days before.
    near = case.is_recent(cordon) and case.chain.has(Subject.EVICTION)
    near = near and not hidden
    return Found(cordon, "likely" if near else "possible", actor)


def _by_taint(case: Case) -> Found | None:
    """A taint by hand drives Pods away as well, and bars the node."""
    if case.happened != Happened.REBOOT:
        return None
    for sign in case.chain.signs:
        if is_barred(sign) and case.precedes(sign) and case.is_recent(sign):
            driven = case.first(Subject.TAINT_EVICTION)
            near = driven is not None and driven.stored.at < case.lost_at
            strength = "likely" if near else "possible"
            return Found(sign, strength, case.author(sign))
    return None


CAUSE = DecisionCause(
    decision=Decision.MANUAL_DRAIN,
    signature=(
        "a cordon or a taint by a person or by kubectl, perhaps evictions;"
        " the node stays Ready"
    ),
    lookalikes=(
        "scale-down and auto-remediation: a controller cordons and says so",
        "node-deletion: the Node is deleted as well",
    ),
    find=_find,
)
