"""Where episodes begin: most facts of a node are of no trouble.

So that a question looks no further where there is nothing to be found. A log
may begin in the middle of something: a condition says since when it is as it
is; of labels and taints nobody knows.
"""

from collections.abc import Iterable

from recorder.explain.knowledge import Knowledge
from recorder.explain.signals import Signal, Topic, signals_of
from recorder.explain.signals.listed import unfolded
from recorder.explain.tracks.episode import ATTACHED, TELLING
from recorder.facts.projections import NodeState
from recorder.model.fact import StoredFact
from recorder.model.facts import (
    AnnotationChanged,
    Appeared,
    ConditionChanged,
    Detail,
    LabelChanged,
)
from recorder.model.outcomes import Role

__all__ = [
    "is_first_sight",
    "is_removed",
    "may_begin",
    "never_opens",
    "standing",
]


def may_begin(
    node: str, facts: Iterable[StoredFact], knowledge: Knowledge
) -> bool:
    """Return whether facts can make a chain, however the node was before."""
    return any(
        sign.topic is Topic.IDENTITY or not never_opens(sign)
        for stored in facts
        for sign in signals_of(stored, knowledge, node=node)
    )


def never_opens(sign: Signal) -> bool:
    """Return whether a sign only ever belongs to a chain of others."""
    thing = sign.stored.fact.object
    return (
        sign.over
        or sign.role is Role.RECOVERY
        or (sign.topic in ATTACHED and sign.topic is not Topic.REBOOTED)
        or sign.topic is Topic.REQUEST
        or (
            sign.role is Role.ACT
            and thing is not None
            and thing.kind not in {"Node", ""}
            and sign.topic is not Topic.EVENT
        )
    )


def is_first_sight(sign: Signal, before: NodeState) -> bool:
    """Whether a Node is listed for the first time: it did not join."""
    detail = sign.stored.fact.detail
    return (
        isinstance(detail, Appeared)
        and sign.topic is Topic.IDENTITY
        and before.uid is None
        and not detail.created
    )


def is_removed(sign: Signal, before: NodeState) -> bool:
    """Whether the Node itself goes, well as it may have been."""
    thing = sign.stored.fact.object
    return (
        sign.topic is Topic.IDENTITY
        and sign.over
        and thing is not None
        and thing.uid == before.uid
    )


def standing(
    seen: StoredFact, knowledge: Knowledge, *, node: str
) -> list[Signal]:
    """Return the faults and decisions in a node that is seen first.

    Args:
        seen: that it appeared.
        knowledge: the rules.
        node: its name.
    """

    def may_tell(detail: Detail) -> bool:
        match detail:
            case ConditionChanged(type=name):
                return knowledge.condition(name) is not None
            case LabelChanged(key=key, new=new):
                return knowledge.label(key, new or "") is not None
            case AnnotationChanged(key=key, new=new):
                return knowledge.annotation(key, new or "") is not None
            case _:
                return True

    return [
        sign
        for fact in unfolded(seen, may_tell)
        for sign in signals_of(fact, knowledge, node=node)
        if sign.role in TELLING and not sign.over
    ]
