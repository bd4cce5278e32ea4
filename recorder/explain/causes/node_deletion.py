"""Somebody deleted the Node."""

from recorder.explain.actors import Actor
from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.explain.signs import Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Decision

__all__ = ["CAUSE"]


def _find(case: Case) -> Found | None:
    if case.happened not in {
        Happened.REMOVED,
        Happened.REJOINED,
        Happened.REPLACED,
    }:
        return None
    for sign in case.chain.signs:
        if sign.subject == Subject.IDENTITY and sign.over:
            asked = case.asked_to_go
            if asked is not None:
                return Found(asked, "proven", case.author(asked))
            actor = case.author(sign) or _announced_by(case)
            hint = next((s for s in case.decisions if s.vague), None)
            if hint is not None:
                # It was meant to go, and nothing says what for.
                return Found(hint, "possible", actor)
            inferred = sign.stored.fact.detail.get("inferred")
            strength = "likely" if inferred else "proven"
            if _is_cleaned_up(case):
                strength = "possible"
            return Found(sign, strength, actor)
    return None


def _is_cleaned_up(case: Case) -> bool:
    """Return whether a Node went that another program had put out of service.

    The cloud deletes a Node whose machine is no more; that program knows
    why, and no record says it.
    """
    cordon = case.first(Subject.CORDON)
    if cordon is None or cordon.actor is None or not cordon.actor.is_program:
        return False
    return any(
        sign.decision is Decision.NODE_DELETION
        and sign.subject == "event DeletingNode"
        for sign in case.decisions
    )


def _announced_by(case: Case) -> Actor | None:
    """Return who said that it would delete the Node."""
    for sign in case.decisions:
        if sign.decision is Decision.NODE_DELETION:
            return sign.actor
    return None


CAUSE = DecisionCause(
    decision=Decision.NODE_DELETION,
    signature=(
        "the Node is deleted; no notice and no autoscaler came before, or a"
        " person deletes what a controller left for more than an hour"
    ),
    lookalikes=(
        "scale-down, preemption and host-maintenance: announced before",
    ),
    find=_find,
)
