"""How a record of a node begins: what its first facts show."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from recorder.explain.signals import Signal, Topic
from recorder.explain.thresholds import LIMITS
from recorder.facts.classify.times import moment
from recorder.facts.projections import NodeState
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import Appeared, EventOccurred

__all__ = ["created_at", "is_first_sight", "is_loss"]

NODE_CONTROLLER: Final = "node-controller"


def created_at(facts: Sequence[StoredFact]) -> datetime | None:
    """Return when the Node was created that is seen first; None if unknown.

    By its own time. If it is never seen, its first Events may show that it
    joined.
    """
    named: dict[str, datetime] = {}
    for stored in facts:
        fact = stored.fact
        if fact.object is None or fact.object.kind != "Node":
            continue
        if fact.kind is FactKind.APPEARED and isinstance(
            fact.detail, Appeared
        ):
            return moment(fact.detail.state.created_at)
        if isinstance(fact.detail, EventOccurred) and fact.detail.reason:
            named.setdefault(fact.detail.reason, stored.at)
    started, joined = named.get("Starting"), named.get("RegisteredNode")
    if started is None or joined is None or started != min(named.values()):
        return None
    return joined if joined - started <= LIMITS.moment else None


def is_loss(said: StoredFact, *, unseen: bool = True) -> bool:
    """Whether an Event alone shows that a Node was not ready.

    Args:
        said: the Event.
        unseen: whether its Node was not recorded yet; else the Event must have
            been seen late, because the Node would have shown it.
    """
    event = said.fact.detail
    return (
        isinstance(event, EventOccurred)
        and event.reason == "NodeNotReady"
        and said.fact.actor == NODE_CONTROLLER
        and (unseen or said.observed_at - said.at > LIMITS.first_lists)
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
