"""Somebody asked for it by setting a condition."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.knowledge import Decision

__all__ = ["CAUSE"]


def _find(case: Case) -> Found | None:
    for sign in case.decisions:
        if sign.decision is Decision.ADMIN_REQUEST:
            author = case.author(sign)
            known = author is not None and author.name is not None
            strength = case.strength(Decision.ADMIN_REQUEST)
            return Found(sign, strength if known else "likely", author)
    return None


CAUSE = DecisionCause(
    decision=Decision.ADMIN_REQUEST,
    signature=(
        "a request condition is set by a person, or by a program that is no"
        " remediation, and no fault came first"
    ),
    lookalikes=("auto-remediation: a fault came first",),
    find=_find,
)
