"""What a fact has to do with its node, decided when it is derived.

A question about a node then reads what can answer it, and not the daily life
of all its Pods. It does not depend on rules, which may change.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from recorder.facts.metrics import METRICS
from recorder.facts.topology import RELATION, cable_of, level_of
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import (
    Appeared,
    Claimed,
    ConditionChanged,
    ContainerEnded,
    Ended,
    EventOccurred,
    FieldChanged,
    LabelChanged,
    Requested,
)
from recorder.model.place import Place, PlaceKind


class Bearing(StrEnum):
    """What a fact may show of its node.

    Values are stored: they may be added to, never renamed or reused.
    """

    DAILY = "daily"
    """Nothing: the daily life of Pods."""

    EVIDENCE = "evidence"
    """It may be a sign of what happened to it."""

    SIGN = "sign"
    """It is about the node as such, and evidence too."""

    DISRUPTION = "disruption"
    """A Pod had to go: evidence, but around other evidence alone."""

    PORT = "port"
    """The state of a port of it was claimed: a sign; a bounded number of them
    a minute is read."""


# By names of their own: Python 3.11 takes its time for a member.
DAILY, EVIDENCE = Bearing.DAILY, Bearing.EVIDENCE
SIGN, DISRUPTION = Bearing.SIGN, Bearing.DISRUPTION
PORT = Bearing.PORT

DAILY_REPORTERS: Final = frozenset({"kubelet", "default-scheduler"})
"""Who reports of every Pod that it was placed, and what it then does."""


NO_EVICTORS: Final = DAILY_REPORTERS | {
    "device-taint-eviction-controller",
    "node-controller",
    "taint-eviction-controller",
}
"""Who reports of Pods, and evicts none but for what others decided."""

DISPLACEMENTS: Final = {
    "preempt": "PreemptionByScheduler",
    "evict": "EvictionByEvictionAPI",
}
"""By a part of the reason of an Event about a Pod: the reason of the condition
DisruptionTarget that a component of Kubernetes would have set."""


SIGNS: Final = frozenset(
    {
        FactKind.APPEARED,
        FactKind.VANISHED,
        FactKind.DELETION_REQUESTED,
        FactKind.CONDITION_CHANGED,
        FactKind.BOOT_CHANGED,
        FactKind.MACHINE_CHANGED,
        FactKind.TAINTED,
        FactKind.UNTAINTED,
        FactKind.CORDONED,
        FactKind.UNCORDONED,
        FactKind.RESOURCE_CHANGED,
        FactKind.LEASE_SILENT,
    }
)
SIGNS_OF_OTHERS: Final = frozenset({FactKind.LEASE_SILENT})
REMARKABLE: Final = frozenset(
    {"Starting", "Rebooted", "Shutdown", "NodeNotReady"}
)
"""Reasons of normal Events that report what happened to a node."""


MANAGED_BY: Final = "app.kubernetes.io/managed-by"
DEBUGGER: Final = "kubectl-debug"
"""Of the Pod by which `kubectl debug` gives a shell on a node: what was done
there is not recorded, and may be a reboot."""

HOST_COMMAND: Final = "host_command"
"""Of a Pod without an owner that may do anything to the node it is on: what it
runs. It changes when the Pod is bound, and when it goes before it ran."""

REFUSED: Final = frozenset({"UnexpectedAdmissionError"})
"""Reasons of a kubelet that could not give a Pod a device of the node."""


def bearing_of(fact: Fact) -> Bearing:
    """Return what a fact may show of its node."""
    if port_of(fact) is not None:
        return PORT
    if is_sign(fact):
        return SIGN
    if not is_evidence(fact):
        return DAILY
    detail = fact.detail
    if isinstance(detail, ConditionChanged) and (
        detail.type == "DisruptionTarget"
    ):
        return DISRUPTION
    return EVIDENCE


def is_sign(fact: Fact) -> bool:
    """Return whether a fact is about a node as such.

    By these an incident is found: what concerns its Pods follows from them.
    """
    kind = fact.kind
    if kind is FactKind.CLAIMED:
        return not _relates(fact) and (
            fact.node is not None or wide_place_of(fact) is not None
        )
    if fact.about != "Node":
        return kind in SIGNS_OF_OTHERS
    if kind in SIGNS:
        return True
    detail = fact.detail
    if isinstance(detail, LabelChanged):
        return cable_of(detail.key) is not None
    return isinstance(detail, EventOccurred) and (
        detail.type != "Normal" or detail.reason in REMARKABLE
    )


def _relates(fact: Fact) -> bool:
    """Return whether nothing happened to a node by a claim.

    It relates places, or has what was measured around an incident.
    """
    detail = fact.detail
    return isinstance(detail, Claimed) and detail.type in (RELATION, METRICS)


def wide_place_of(fact: Fact) -> Place | None:
    """Return the place that a fact claims something of, if nodes are behind.

    Ports are not: a question about a node reads those of the node alone.
    """
    detail = fact.detail
    if not isinstance(detail, Claimed):
        return None
    place = Place.read(detail.subject)
    return place if place is not None and place.is_wide else None


_PORT: Final = f"{PlaceKind.PORT}/"


class Port(NamedTuple):
    """What claims about one port of a node have in common."""

    node: str
    subject: str
    type: str
    source: str


def port_of(fact: Fact) -> Port | None:
    """Return the port of a node whose state a fact claims, if it does."""
    detail = fact.detail
    if (
        fact.node is None
        or not isinstance(detail, Claimed)
        or state_of_port(fact) is None
    ):
        return None
    if not detail.subject.startswith(_PORT):
        return None
    return Port(fact.node, detail.subject, detail.type, detail.source)


def state_of_port(fact: Fact) -> str | None:
    """Return the state that a claim names, as those of links do."""
    detail = fact.detail
    data = detail.data if isinstance(detail, Claimed) else None
    state = data.get("state") if isinstance(data, Mapping) else None
    return state if isinstance(state, str) else None


def is_evidence(fact: Fact) -> bool:
    """Return whether a fact may be a sign of what happened to its node.

    All may but the daily life of Pods. An Event of a daily reporter about a
    Pod is not, unless a rule names it: who has such a rule reads everything.
    """
    if fact.object is None or fact.object.kind != "Pod":
        return True
    detail, found = fact.detail, False
    match detail:
        case EventOccurred():
            found = fact.actor not in DAILY_REPORTERS
        case ConditionChanged():
            found = detail.type == "DisruptionTarget"
        case ContainerEnded():
            found = detail.reason == "OOMKilled"
        case Appeared():
            found = "DisruptionTarget" in detail.state.conditions
            found = found or detail.state.labels.get(MANAGED_BY) == DEBUGGER
            found = found or HOST_COMMAND in detail.state.fields
        case Ended():
            found = detail.reason in REFUSED
        case Requested() | FieldChanged(field="host_command"):
            found = True
        case _:
            pass
    return found


def displacement(fact: Fact) -> str | None:
    """Return why a Pod has to go, if an Event about it names who displaces it.

    It is the reason that the condition DisruptionTarget would have. Who
    deletes a Pod by its own request sets no such condition.
    """
    detail, thing = fact.detail, fact.object
    if (
        not isinstance(detail, EventOccurred)
        or thing is None
        or thing.kind != "Pod"
        or fact.actor in NO_EVICTORS
    ):
        return None
    reason = (detail.reason or "").lower()
    found = (why for word, why in DISPLACEMENTS.items() if word in reason)
    return next(found, None)


def place_of(fact: Fact) -> Mapping[str, str] | None:
    """Return the labels that say where a Node is, if it appeared."""
    detail = fact.detail
    if not isinstance(detail, Appeared) or fact.about != "Node":
        return None
    return {
        key: value
        for key, value in detail.state.labels.items()
        if level_of(key) is not None
    }
