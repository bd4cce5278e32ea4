"""Marks: by what questions select facts, besides their kind.

They are set when a fact is derived, so that no question reads details.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from hashlib import md5
from typing import Final

import msgspec

from recorder.facts import topology
from recorder.facts.bearing import (
    Bearing,
    Port,
    bearing_of,
    displacement,
    place_of,
    port_of,
    wide_place_of,
)
from recorder.facts.classify.text import clean
from recorder.facts.over import COMPLETES, FAILS
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import (
    AnnotationChanged,
    Appeared,
    Claimed,
    ConditionChanged,
    ContainerEnded,
    Ended,
    EventOccurred,
    FieldChanged,
    LabelChanged,
    Requested,
    Vanished,
)
from recorder.model.state import Condition, ObjectState


class Mark(StrEnum):
    """What is marked of a fact.

    Values are stored: they may be added to, never renamed or reused.
    """

    CREATED = "created"
    """What appeared began then."""

    CONTACT = "contact"
    """Ready of a Node turned Unknown, or was it."""

    OUTCOME = "outcome"
    """A condition, or a phase, that says how an object ends."""

    PREEMPTED = "preempted"
    """A Pod has to go, since the scheduler needs its place; or an Event about
    it says that it is preempted or evicted; or its kubelet refused it."""

    EVICTED = "evicted"
    """A workload has to go, since its queue needs its place."""


# By names of their own: Python 3.11 takes its time for a member.
CREATED, CONTACT, OUTCOME = Mark.CREATED, Mark.CONTACT, Mark.OUTCOME
PREEMPTED, EVICTED = Mark.PREEMPTED, Mark.EVICTED
CONDITION_CHANGED = FactKind.CONDITION_CHANGED
DAILY, DISRUPTION = Bearing.DAILY, Bearing.DISRUPTION
PORT = Bearing.PORT

OUTCOMES: Final = (
    frozenset({"DisruptionTarget", "Evicted"}) | FAILS | COMPLETES
)
"""Types of conditions that say what a Pod had to go for, or how its owner
ended."""

NO_FAMILY: Final = frozenset({"DaemonSet", "Node", "CronJob"})
"""Kinds of owners whose objects do not share a fate."""

DIGITS: Final = 16
"""Of each half of the key of a port."""

REFUSED: Final = 400
"""The least status code of an answer that refuses."""


class Marks(msgspec.Struct, frozen=True, gc=False):
    """What is put beside a fact, each for the questions that need it."""

    bearing: Bearing
    mark: Mark | None = None
    topic: str | None = None
    """Its reason; of an annotation of what is on no node its key."""

    value: str | None = None
    """What a label of a Node, or of what is about one, was changed to; of a
    Node that appeared the status of Ready; of a request that was refused the
    code; of the state of a port, the key of its claims; of a claim that names
    a node, the place it is about, if others are behind that too."""

    place: Mapping[str, str] | None = None
    """Of a Node that appeared: its labels that say where it is."""

    labels: list[str] | None = None
    """Of a Node that appeared: ``key=value`` of each label, and ``=value`` of
    those that say where it is. Of a claim that relates places: its type."""

    keys: list[str] | None = None
    """Of what a first list showed on no node: the keys of its annotations."""

    owners: list[str] | None = None
    """Of what appeared or went: the UIDs of its owners."""


_BARE: Final = {bearing: Marks(bearing) for bearing in Bearing}


def marks_of(fact: Fact) -> Marks:
    """Return what is put beside a fact."""
    bearing, detail = bearing_of(fact), fact.detail
    found = _BARE[bearing]
    match detail:
        case EventOccurred() | Ended() | ContainerEnded():
            refused = isinstance(detail, Ended) and detail.reason is not None
            mark = PREEMPTED if refused or displacement(fact) else None
            found = Marks(bearing, mark, clean(detail.reason))
        case ConditionChanged():
            mark = _of_condition(fact, detail, bearing)
            if mark is not None:
                found = Marks(bearing, mark)
        case LabelChanged(new=str(new)) if fact.node and bearing is not DAILY:
            found = Marks(bearing, value=clean(new) or "")
        case AnnotationChanged() if fact.node is None:
            found = Marks(bearing, topic=clean(detail.key))
        case Appeared():
            found = _of_appearance(fact, detail, bearing)
        case _:
            found = _of_others(fact, bearing) or found
    return found


def _of_others(fact: Fact, bearing: Bearing) -> Marks | None:
    match detail := fact.detail:
        case Claimed(type=topology.RELATION):
            return Marks(bearing, topic=detail.type, labels=[detail.type])
        case Claimed():
            port = port_of(fact) if bearing is PORT else None
            value = None if port is None else key_of_port(port)
            if fact.node and (place := wide_place_of(fact)) is not None:
                value = str(place)
            return Marks(bearing, topic=clean(detail.type), value=value)
        case Vanished():
            return Marks(bearing, owners=_owners(detail.state))
        case FieldChanged(field="phase") if bearing is not DAILY:
            return Marks(bearing, OUTCOME)
        case Requested(code=int(code)) if code >= REFUSED:
            return Marks(bearing, value=str(code))
        case _:
            return None


def key_of_port(port: Port) -> str:
    """Return by what the claims of a port are found.

    Keys of one node begin alike, so that an index of keys leads to them.
    """
    node, *named = port
    return "".join(
        md5(text.encode(), usedforsecurity=False).hexdigest()[:DIGITS]
        for text in (node, "\n".join(named))
    )


def _of_condition(
    fact: Fact, detail: ConditionChanged, bearing: Bearing
) -> Mark | None:
    reason = None if detail.new is None else detail.new.reason
    if bearing is DISRUPTION and reason == "PreemptionByScheduler":
        return PREEMPTED
    if detail.type == "Evicted" and fact.node is None:
        return EVICTED if reason == "Preempted" else OUTCOME
    if detail.type in OUTCOMES:
        return OUTCOME
    is_contact = detail.type == "Ready" and bearing is Bearing.SIGN
    if is_contact and _is_unknown(detail.old) != _is_unknown(detail.new):
        return CONTACT
    return None


def _is_unknown(condition: Condition | None) -> bool:
    return condition is not None and condition.status == "Unknown"


def _of_appearance(fact: Fact, detail: Appeared, bearing: Bearing) -> Marks:
    state, place = detail.state, place_of(fact)
    labels = keys = value = None
    if place is not None:
        ready = state.conditions.get("Ready")
        value = None if ready is None else clean(ready.status)
        labels = [f"{key}={value}" for key, value in state.labels.items()]
        labels += [f"={value}" for value in place.values()]
    elif fact.node is None and not detail.created:
        keys = state.annotations
    return Marks(
        bearing,
        CREATED if detail.created else None,
        value=value,
        place=place,
        labels=_clean(labels or ()),
        keys=_clean(keys or ()),
        owners=_owners(state),
    )


def _owners(state: ObjectState) -> list[str] | None:
    return _clean(
        owner.uid
        for owner in state.owners
        if owner.uid and owner.kind not in NO_FAMILY
    )


def _clean(texts: Iterable[str]) -> list[str] | None:
    return [clean(text) or "" for text in texts] or None
