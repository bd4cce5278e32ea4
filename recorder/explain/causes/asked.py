"""Decisions that a controller or a notice puts on record by themselves."""

from collections.abc import Callable

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import Found
from recorder.knowledge import Decision

__all__ = ["on_record"]


def on_record(decision: Decision) -> Callable[[Case], Found | None]:
    """Find the earliest record of a decision before the effect."""

    def find(case: Case) -> Found | None:
        if case.is_hinted(decision):
            return None
        for sign in case.decisions:
            if sign.decision is decision:
                actor = case.author(sign)
                return Found(sign, case.strength(decision), actor)
        return None

    return find
