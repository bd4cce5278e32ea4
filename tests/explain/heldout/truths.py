"""Words for what is true: who decided, and what else may be said."""

from collections.abc import Sequence
from typing import Any

__all__ = [
    "ANYBODY",
    "OR_FAILED",
    "PROVIDER",
    "By",
    "cloud",
    "controller",
    "or_decision",
    "or_fault",
    "user",
]

By = tuple[Sequence[Any], str | None]
"""Kinds of actor, and the name of the actor if it can be known."""

ANYBODY: By = ["unknown"], None
"""Whoever had the tool in hand."""

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
