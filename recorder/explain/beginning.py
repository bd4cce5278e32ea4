"""Where chains can begin: most facts of a node are of no trouble.

So that who asks looks no further where there is nothing to be found.
"""

from collections.abc import Iterable

from recorder.explain.chain import ATTACHED
from recorder.explain.signs import Sign, Subject, signs_of
from recorder.knowledge import Knowledge, Role
from recorder.model.fact import StoredFact

__all__ = ["may_begin", "never_opens"]


def may_begin(
    node: str, facts: Iterable[StoredFact], knowledge: Knowledge
) -> bool:
    """Return whether facts can make a chain, however the node was before."""
    return any(
        sign.subject == Subject.IDENTITY or not never_opens(sign)
        for stored in facts
        for sign in signs_of(stored, knowledge, node=node)
    )


def never_opens(sign: Sign) -> bool:
    """Return whether a sign only ever belongs to a chain of others."""
    thing = sign.stored.fact.object
    return (
        sign.over
        or sign.role is Role.RECOVERY
        or (sign.subject in ATTACHED and sign.subject != Subject.REBOOTED)
        or sign.subject.startswith("request/")
        or (
            sign.role is Role.ACT
            and thing is not None
            and thing.kind not in {"Node", ""}
            and not sign.subject.startswith("event ")
        )
    )
