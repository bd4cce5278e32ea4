"""Words for what is true: who decided, and what else may be said."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "SOMEONE",
    "OR_FAILED",
    "PROVIDER",
    "By",
    "cloud",
    "controller",
    "or_decision",
    "or_lost_contact",
    "or_fault",
    "user",
]

By = tuple[Sequence[Any], str | None]
"""Kinds of actor, and the name of the actor if it can be known."""

SOMEONE: By = ["unknown"], None
"""A person or program that used a tool; not recorded which."""

PROVIDER: By = ["cloud", "controller"], None
"""The cloud, or what speaks for it in the cluster."""

OR_FAILED = {"hit_by": ["node-failure"]}
"""Of a drain that the end of the node followed at once."""


def controller(name: str | None = None) -> By:
    return ["controller"], name


def cloud(name: str | None = None) -> By:
    return ["cloud"], name


def user(name: str) -> By:
    return ["user"], name


def or_fault(*faults: str | None) -> dict[str, Sequence[str | None]]:
    """Accept other faults, each as the cause that it is."""
    return {"fault": faults, "cause": [f or "unrecorded" for f in faults]}


def or_decision(*decisions: str | None) -> dict[str, Sequence[str | None]]:
    """Accept other decisions, each as the cause that it is."""
    causes = [decision or "unrecorded" for decision in decisions]
    return {"decision": decisions, "cause": causes}


def or_lost_contact(
    accept: Mapping[str, Sequence[str | None]],
) -> dict[str, Sequence[str | None]]:
    """Accept that a controller's order answers the contact that was lost.

    It was lost before the order, and nothing else had broken: that is the
    fault; the records show that its class is the network.
    """
    network = ["network-partition"]
    causes = [*accept.get("cause", ()), *network]
    return {**accept, "fault": network, "cause": causes}
