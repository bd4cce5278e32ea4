"""What was said of a node already when it was first seen.

A log may begin in the middle of something. A condition says since when it is
as it is; of labels and taints nobody knows.
"""

from recorder.explain.signs import Sign, signs_of
from recorder.explain.unfolding import unfolded
from recorder.knowledge import Knowledge, Role
from recorder.model.fact import StoredFact

__all__ = ["standing"]

TELLING = frozenset({Role.FAULT, Role.DECISION})


def standing(
    seen: StoredFact, knowledge: Knowledge, *, node: str
) -> list[Sign]:
    """Return the faults and decisions in a node that is seen first.

    Args:
        seen: that it appeared.
        knowledge: the rules.
        node: its name.
    """
    return [
        sign
        for fact in unfolded(seen)
        for sign in signs_of(fact, knowledge, node=node)
        if sign.role in TELLING and not sign.over
    ]
