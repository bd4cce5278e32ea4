"""Facts, and the state of a node, as the public interface shows them."""

from typing import Any

from msgspec import to_builtins

from recorder.facts import says
from recorder.model.fact import StoredFact
from recorder.model.moment import optional_time, written
from recorder.projections import NodeState
from recorder.questions.replay import Step

__all__ = ["fact_document", "step_document"]


def fact_document(stored: StoredFact) -> dict[str, Any]:
    """Return a fact as JSON."""
    fact = stored.fact
    thing = fact.object
    return {
        "entry": str(stored.entry),
        "index": stored.index,
        "fact": fact.kind.value,
        "node": fact.node,
        "object": None
        if thing is None
        else {
            "group": thing.group,
            "kind": thing.kind,
            "namespace": thing.namespace,
            "name": thing.name,
            "uid": thing.uid,
        },
        "occurred_at": optional_time(fact.occurred_at),
        "observed_at": written(stored.observed_at),
        "actor": fact.actor,
        "says": says(fact),
        "detail": to_builtins(fact.detail),
    }


def step_document(step: Step) -> dict[str, Any]:
    """Return a fact and the node after it as JSON."""
    return {**fact_document(step.stored), "state": _state(step.state)}


def _state(state: NodeState) -> dict[str, Any]:
    """Return the state of a node as JSON."""
    return {
        "present": state.present,
        "uid": state.uid,
        "boot_id": state.boot_id,
        "ready": state.ready,
        "cordoned": state.cordoned,
        "in_service": state.in_service,
        "taints": sorted(state.taints),
        "conditions": {
            name: condition.status
            for name, condition in sorted(state.conditions.items())
        },
    }
