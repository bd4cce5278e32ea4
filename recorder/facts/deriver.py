"""Deriving: one entry, and the state before it, to facts and the state after.

A pure function of the two. `DERIVATION` names its rules: facts of one number
were all made by the same ones, and no answer mixes two.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from recorder.classify import Wire, lease_renewed_at
from recorder.classify.shapes import Event, read_event
from recorder.classify.times import moment
from recorder.facts import audits, events
from recorder.facts.changes import Change, changes, snapshot
from recorder.facts.state import Reading, State, read_state
from recorder.facts.wire import read_audit
from recorder.model.entry import Draft, Operation
from recorder.model.fact import Fact, FactKind
from recorder.model.reference import Resource

__all__ = [
    "DERIVATION",
    "Derived",
    "Read",
    "appearance",
    "derive",
    "is_compared",
    "is_sign",
    "read_entry",
    "state_of",
]

DERIVATION = 2
"""To be raised with every change of what facts are derived."""

UNCOMPARED = frozenset(
    {
        "coordination.k8s.io/v1/leases",
        "v1/events",
        "events.k8s.io/v1/events",
    }
)
"""Resources of which a version says everything by itself."""

EVENTS = frozenset({"v1/events", "events.k8s.io/v1/events"})
SIGNS = frozenset(
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
SIGNS_OF_OTHERS = frozenset({FactKind.LEASE_SILENT})
TELLING = frozenset({"Starting", "Rebooted", "Shutdown"})
"""Reasons of Events that say that all is well and something happened."""

VERSIONS = frozenset({Operation.LISTED, Operation.ADDED, Operation.MODIFIED})
GOING = frozenset({Operation.DELETED, Operation.ABSENT})


class Derived(NamedTuple):
    """What an entry gives."""

    facts: list[Fact]
    state: State | None
    """Of the object after the entry; None if it is not compared or gone."""


Read = Reading | list[Fact]
"""The state that an entry gives, or its facts where it needs no other."""

_NOTHING = Reading(State(), [])


def is_compared(draft: Draft) -> bool:
    """Tell whether facts of an entry need the state before it."""
    return (
        draft.operation in VERSIONS or draft.operation in GOING
    ) and draft.resource not in UNCOMPARED


def state_of(raw: bytes, resource: str) -> State | None:
    """Give the state of a document; None if it has not its kind's shape."""
    try:
        return read_state(raw, _resource(resource)).state
    except (ValueError, RecursionError):
        return None


def appearance(raw: bytes, resource: str) -> dict[str, Any] | None:
    """Give the detail of a fact that an object appeared as in a document."""
    state = state_of(raw, resource)
    if state is None:
        return None
    return {"created": False, "state": snapshot(state)}


def is_sign(fact: Fact) -> bool:
    """Tell whether a fact is about a node as such.

    By these an incident is found: what concerns its Pods follows from them.
    """
    kind = fact.kind
    if fact.object is None or fact.object.kind != "Node":
        return kind in SIGNS_OF_OTHERS
    if kind in SIGNS:
        return True
    return kind is FactKind.EVENT and (
        fact.detail.get("type") != "Normal"
        or fact.detail.get("reason") in TELLING
    )


def read_entry(draft: Draft, wire: Wire | None = None) -> Read:
    """Read of an entry what its facts are made of.

    ``wire`` is its document as it was decoded, if it was: to read it while
    it is at hand costs half of decoding it again later.
    """
    if not is_compared(draft):
        return _alone(draft, wire)
    if draft.operation is Operation.ABSENT:
        return _NOTHING
    try:
        return read_state(draft.raw, _resource(draft.resource or ""), wire)
    except (ValueError, RecursionError) as exc:
        return [_unreadable(draft, exc)]


def derive(
    draft: Draft, before: State | None, read: Read | None = None
) -> Derived:
    """Derive the facts of one entry.

    Args:
        draft: the entry.
        before: of the same object, after its entry before this one; None
            where the log holds none.
        read: what `read_entry` gave, if it was asked already.
    """
    if read is None:
        read = read_entry(draft)
    if isinstance(read, list):
        return Derived(read, None)
    now, managed = read
    if draft.operation in GOING:
        inferred = draft.operation is Operation.ABSENT
        last = before or now if inferred else now
        return Derived([_gone(draft, last)], None)
    if before is None:
        return Derived([_appeared(draft, now)], now)
    found = changes(before, now, managed, is_pod=draft.resource == "v1/pods")
    return Derived([_changed(draft, change, now) for change in found], now)


def _alone(draft: Draft, wire: Wire | None) -> list[Fact]:
    """Give the facts of an entry that no other entry is needed for."""
    operation = draft.operation
    try:
        if operation is Operation.AUDIT:
            return [audits.request(read_audit(draft.raw))]
        if draft.resource in EVENTS and operation in VERSIONS:
            event = wire if isinstance(wire, Event) else read_event(draft.raw)
            return [events.occurrence(event, draft)]
    except (ValueError, RecursionError) as exc:
        return [_unreadable(draft, exc)]
    if operation is Operation.RENEWED:
        return [
            Fact(
                kind=FactKind.LEASE_SILENT,
                node=draft.node,
                object=draft.identity,
                occurred_at=lease_renewed_at(draft.raw),
            )
        ]
    return []


def _appeared(draft: Draft, now: State) -> Fact:
    created = draft.operation is Operation.ADDED
    return Fact(
        kind=FactKind.APPEARED,
        node=now.node or draft.node,
        object=draft.identity,
        occurred_at=moment(now.created_at) if created else None,
        detail={"created": created, "state": snapshot(now)},
    )


def _gone(draft: Draft, last: State) -> Fact:
    inferred = draft.operation is Operation.ABSENT
    return Fact(
        kind=FactKind.VANISHED,
        node=last.node or draft.node,
        object=draft.identity,
        detail={"inferred": inferred, "state": snapshot(last)},
    )


def _changed(draft: Draft, change: Change, now: State) -> Fact:
    detail = change.detail
    writer = change.actor
    if writer is not None:
        detail["by"] = {
            "manager": writer.manager,
            "operation": writer.operation,
            "subresource": writer.subresource,
            "time": writer.time,
        }
    return Fact(
        kind=change.kind,
        node=now.node or draft.node,
        object=draft.identity,
        occurred_at=change.occurred_at,
        actor=None if writer is None else writer.manager or None,
        detail=detail,
    )


def _unreadable(draft: Draft, exc: Exception) -> Fact:
    return Fact(
        kind=FactKind.UNREADABLE,
        node=draft.node,
        object=draft.identity,
        detail={"why": str(exc)},
    )


@lru_cache(4096)
def _resource(name: str) -> Resource:
    return Resource.parse(name)
