"""Facts as lines: for `recorder log --facts` and `recorder replay`."""

from typing import Any

from recorder.facts import says
from recorder.model.fact import StoredFact
from recorder.model.moment import written
from recorder.projections import NodeState
from recorder.report.text import counted
from recorder.report.window import optional_time

__all__ = ["COLUMNS", "document", "row", "state_document", "state_words"]

COLUMNS = ("AT", "ENTRY", "NODE", "OBJECT", "FACT", "ACTOR", "WHAT")


def document(stored: StoredFact) -> dict[str, Any]:
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
        "detail": dict(fact.detail),
    }


def row(stored: StoredFact) -> tuple[str, ...]:
    """Return a fact as the cells of a table."""
    fact = stored.fact
    return (
        written(stored.at),
        str(stored.entry),
        fact.node or "-",
        _named(stored),
        fact.kind.value,
        fact.actor or "-",
        says(fact),
    )


def _named(stored: StoredFact) -> str:
    thing = stored.fact.object
    if thing is None:
        return "-"
    middle = f"{thing.namespace}/" if thing.namespace else ""
    return f"{thing.kind.lower()}/{middle}{thing.name}"


def state_document(state: NodeState) -> dict[str, Any]:
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
            name: condition.get("status")
            for name, condition in sorted(state.conditions.items())
        },
    }


def state_words(state: NodeState) -> str:
    """Return the state of a node in a few words."""
    if not state.present:
        return "absent"
    if state.in_service:
        return "in service"
    words = [f"Ready={state.ready}"]
    if state.cordoned:
        words.append("cordoned")
    taints = len(state.blocked_by)
    if taints:
        words.append(counted(taints, "taint"))
    return ", ".join(words)
