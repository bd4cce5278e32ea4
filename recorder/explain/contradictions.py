"""Contradictions: records of which one must be wrong.

They are told, not settled: whoever is right, a verdict that rests on one of
them is no more than possible.
"""

from recorder.explain.boots import boot_named, is_explained
from recorder.explain.causes import Case
from recorder.explain.signs import Subject
from recorder.explain.verdict import Contradiction

__all__ = ["contradictions"]


def contradictions(case: Case) -> list[Contradiction]:
    """Return what the log says against itself, in the order of the log."""
    found = []
    for sign in case.chain.of(Subject.REBOOTED):
        if is_explained(sign, case.chain.boots):
            continue
        boot = case.chain.state.boot_id
        named = boot_named(sign)
        but = (
            f"the boot id of the Node is {boot}, as before"
            if named is None or named == boot
            else f"no version of the Node has the boot id {named}"
        )
        found.append(Contradiction(sign=sign, but=but))
    gone = any(s.subject == Subject.IDENTITY for s in case.chain.signs)
    for sign in case.chain.of(Subject.REMOVING)[:1]:
        if not gone:
            but = "no deletion of the Node is on record"
            found.append(Contradiction(sign=sign, but=but))
    return found
