"""What a fact has to do with its node, told as it is derived.

So that a question about a node reads what can answer it, and not the daily
life of all its Pods. No rule is asked: what rules say may change.
"""

from collections.abc import Mapping
from typing import Final

from recorder.model.fact import Fact, FactKind

__all__ = ["DAILY_REPORTERS", "TOPOLOGY", "is_evidence", "place_of"]

TOPOLOGY: Final = ("rack", "pdu", "switch", "leaf-switch", "block", "zone")
"""Ends of the keys of labels that say where a node stands."""

DAILY_REPORTERS: Final = frozenset({"kubelet", "default-scheduler"})
"""Who tells of every Pod that it was placed, and each thing it then does."""


def is_evidence(fact: Fact) -> bool:
    """Tell whether a fact may be a sign of what happened to its node.

    All may but the daily life of Pods. An Event of a daily reporter about a
    Pod is not, unless a rule names it: who has such a rule reads everything.
    """
    if fact.object is None or fact.object.kind != "Pod":
        return True
    kind, detail = fact.kind, fact.detail
    if kind is FactKind.EVENT:
        return fact.actor not in DAILY_REPORTERS
    if kind is FactKind.CONDITION_CHANGED:
        return bool(detail["type"] == "DisruptionTarget")
    if kind is FactKind.CONTAINER_ENDED:
        return detail.get("reason") == "OOMKilled"
    if kind is FactKind.APPEARED:
        return "DisruptionTarget" in detail["state"].get("conditions", {})
    return kind is FactKind.REQUESTED


def place_of(fact: Fact) -> Mapping[str, str] | None:
    """Give where a Node stands that appeared, by its labels."""
    thing = fact.object
    if (
        fact.kind is not FactKind.APPEARED
        or thing is None
        or thing.kind != "Node"
    ):
        return None
    labels: Mapping[str, str] = fact.detail["state"].get("labels", {})
    return {
        key: value
        for key, value in labels.items()
        if key.rpartition("/")[2] in TOPOLOGY
    }
