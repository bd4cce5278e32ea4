"""Somebody asked for it by setting a condition."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.explain.verdict import CONFIDENCES
from recorder.knowledge import Decision

__all__ = ["CAUSE"]


def _find(case: Case) -> Found | None:
    for sign in case.decisions:
        if sign.decision is Decision.ADMIN_REQUEST or case.is_by_hand(sign):
            author = case.author(sign)
            assert sign.decision is not None, "chosen by it"
            strength = case.strength(sign.decision)
            if sign.vague and case.was_prepared:
                strength = "likely"  # what may be done some day was done
            if author is None or author.name is None:
                least = min("likely", strength, key=CONFIDENCES.index)
                return Found(sign, least, author)
            if author.is_program and author.known:
                # It does not ask for itself; nobody says for whom.
                return Found(sign, "possible", author)
            return Found(sign, strength, author)
    return None


CAUSE = DecisionCause(
    decision=Decision.ADMIN_REQUEST,
    signature=(
        "a request condition, or one that is called a reboot or maintenance,"
        " is set by a person, or a request condition by a program that is no"
        " remediation, and no fault came first"
    ),
    lookalikes=("auto-remediation: a fault came first",),
    find=_find,
)
