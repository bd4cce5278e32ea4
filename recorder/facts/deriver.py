"""Deriving: one entry, and the state before it, to facts and the state after.

A pure function of the two. `DERIVATION` names its rules: facts of one number
were all made by the same ones, and no answer mixes two.

An Event whose count rises is another occurrence: each version is a fact with
its count. The end of an Event is its expiry, and no fact.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from recorder.facts import audits
from recorder.facts.bearing import HOST_COMMAND
from recorder.facts.changes import Change, changes, held, snapshot
from recorder.facts.claims import claimed
from recorder.facts.classify import lease_renewed_at
from recorder.facts.classify.audit_record import AuditRecord, read_audit
from recorder.facts.classify.shapes import (
    AnyObject,
    Event,
    Naming,
    Series,
    Shape,
    read_event,
)
from recorder.facts.classify.times import moment
from recorder.facts.devices import relations_between
from recorder.facts.slurm import run_facts
from recorder.facts.state import (
    State,
    Wire,
    named_as_node,
    read_state,
    read_wire,
)
from recorder.facts.texts import TEXT_CHARACTERS_MAX
from recorder.model.entry import VERSIONS, Draft, Operation
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import (
    Appeared,
    EventOccurred,
    FieldChanged,
    LeaseSilent,
    Unreadable,
    Vanished,
    Writer,
)
from recorder.model.reference import ObjectIdentity, Resource
from recorder.model.state import Scalar

DERIVATION = 16
"""To be raised with every change of what facts are derived, and of what is
put beside them."""

# By names of their own: Python 3.11 takes its time for a member.
ABSENT = Operation.ABSENT
AUDIT = Operation.AUDIT
CLOUDEVENT = Operation.CLOUDEVENT

UNCOMPARED = frozenset(
    {
        "coordination.k8s.io/v1/leases",
        "v1/events",
        "events.k8s.io/v1/events",
    }
)
"""Resources whose versions are complete in themselves."""

EVENTS = frozenset({"v1/events", "events.k8s.io/v1/events"})
GOING = frozenset({Operation.DELETED, Operation.ABSENT})
AFTERWARDS = frozenset({Operation.RECOVERED, Operation.ABSENT})
"""Operations whose versions may have been read long after they existed."""


class Derived(NamedTuple):
    """What is derived from an entry."""

    facts: list[Fact]
    state: State | None
    """Of the object after the entry; None if it is not compared or gone."""


Document = Shape | AuditRecord
"""A document as it was decoded."""

Read = Wire | list[Fact]
"""The document of an entry, or its facts where they need no other."""

_NOTHING = AnyObject()


def is_compared(draft: Draft) -> bool:
    """Return whether facts of an entry need the state before it."""
    return (
        draft.operation in VERSIONS or draft.operation in GOING
    ) and draft.resource not in UNCOMPARED


def state_of(raw: bytes, resource: str) -> State | None:
    """Return the state of a document; None if it has not its kind's shape."""
    try:
        of = _resource(resource)
        return read_state(read_wire(raw, of, None), of, None)
    except (ValueError, RecursionError):
        return None


def appearance(raw: bytes, resource: str) -> Appeared | None:
    """Return the fact of an object that appeared as in a document."""
    state = state_of(raw, resource)
    if state is None:
        return None
    return Appeared(created=False, state=snapshot(state))


def read_entry(draft: Draft, wire: Document | None = None) -> Read:
    """Read from an entry what its facts are derived from.

    ``wire`` is its document as it was decoded, if it was.
    """
    if not is_compared(draft):
        return _alone(draft, wire)
    if draft.operation is ABSENT:
        return _NOTHING
    try:
        shape = None if isinstance(wire, AuditRecord) else wire
        return read_wire(draft.raw, _resource(draft.resource or ""), shape)
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
    try:
        return _compared(draft, before, read)
    except (ValueError, RecursionError) as exc:
        return Derived([_unreadable(draft, exc)], None)


def _compared(draft: Draft, before: State | None, read: Wire) -> Derived:
    derived = _derived(draft, before, read)
    if draft.operation in AFTERWARDS and draft.occurred_at is not None:
        seen_at = draft.occurred_at
        facts = [replace(fact, seen_at=seen_at) for fact in derived.facts]
        return Derived(facts, derived.state)
    return derived


def _derived(draft: Draft, before: State | None, read: Wire) -> Derived:
    now = read_state(read, _resource(draft.resource or ""), before)
    if draft.operation in GOING:
        inferred = draft.operation is ABSENT
        last = before or now if inferred else now
        ended = _relations(draft, last, last.fields, {})
        unrun = _never_ran(draft, last)
        return Derived([_gone(draft, last), *unrun, *ended], None)
    metadata = read.metadata
    managed = (metadata.managed_fields if metadata else None) or ()
    if before is None:
        begun = _relations(draft, now, {}, now.fields)
        return Derived([_appeared(draft, now, managed), *begun], now)
    found = changes(before, now, managed, is_pod=draft.resource == "v1/pods")
    facts = [_changed(draft, change, now) for change in found]
    if before.fields != now.fields:
        facts += _relations(draft, now, before.fields, now.fields)
    return Derived(facts, now)


def _relations(
    draft: Draft,
    state: State,
    before: Mapping[str, Scalar],
    now: Mapping[str, Scalar],
) -> Iterator[Fact]:
    """Yield what devices of a node say of the places that it is behind."""
    if draft.identity is None:
        return
    at = (draft.occurred_at or draft.observed_at).isoformat()
    name = draft.identity.name
    for said in relations_between(name, state.node, before, now, at):
        yield Fact(
            kind=FactKind.CLAIMED,
            node=state.node,
            object=draft.identity,
            detail=said,
        )


def _alone(draft: Draft, wire: Document | None) -> list[Fact]:
    """Return the facts of an entry that no other entry is needed for."""
    operation = draft.operation
    try:
        if operation is AUDIT:
            known = wire if isinstance(wire, AuditRecord) else None
            record = known or read_audit(draft.raw)
            return [audits.request(record)] if record.is_one else []
        if operation is CLOUDEVENT:
            return [claimed(draft), *run_facts(draft)]
        if draft.resource in EVENTS and operation in VERSIONS:
            event = wire if isinstance(wire, Event) else read_event(draft.raw)
            return [occurrence(event, draft)]
    except (ValueError, RecursionError) as exc:
        return [_unreadable(draft, exc)]
    if operation is Operation.RENEWED:
        return [
            Fact(
                kind=FactKind.LEASE_SILENT,
                node=draft.node,
                object=draft.identity,
                occurred_at=lease_renewed_at(draft.raw),
                detail=LeaseSilent(),
            )
        ]
    return []


def _appeared(
    draft: Draft, now: State, managed: Sequence[msgspec.Raw]
) -> Fact:
    created = draft.operation is Operation.ADDED
    state = snapshot(now)
    if not created and draft.resource == "v1/nodes":
        with suppress(ValueError):  # an odd entry has no author
            state = replace(state, held=held(now, managed))
    return Fact(
        kind=FactKind.APPEARED,
        node=now.node or draft.node,
        object=draft.identity,
        occurred_at=moment(now.created_at) if created else None,
        detail=Appeared(created, state),
    )


def _gone(draft: Draft, last: State) -> Fact:
    inferred = draft.operation is ABSENT
    return Fact(
        kind=FactKind.VANISHED,
        node=last.node or draft.node,
        object=draft.identity,
        detail=Vanished(inferred, snapshot(last)),
    )


def _never_ran(draft: Draft, last: State) -> Iterator[Fact]:
    """Yield that a Pod does nothing to its node, if it went before it ran.

    One that is only absent may have run while nothing was recorded.
    """
    command = last.fields.get(HOST_COMMAND)
    if command is None or last.fields.get("phase") != "Pending":
        return
    if draft.operation is Operation.DELETED:
        yield Fact(
            kind=FactKind.FIELD_CHANGED,
            node=last.node,
            object=draft.identity,
            detail=FieldChanged(HOST_COMMAND, command, None),
        )


def _changed(draft: Draft, change: Change, now: State) -> Fact:
    detail = change.detail
    author = change.author
    if author is not None:
        writer = Writer(
            author.manager or "",
            author.operation or "",
            author.subresource or "",
            author.time or "",
        )
        detail = replace(detail, by=writer)
    return Fact(
        kind=change.kind,
        node=now.node or draft.node,
        object=draft.identity,
        occurred_at=change.occurred_at,
        actor=None if author is None else author.manager or None,
        detail=detail,
    )


def _unreadable(draft: Draft, exc: Exception) -> Fact:
    return Fact(
        kind=FactKind.UNREADABLE,
        node=draft.node,
        object=draft.identity,
        detail=Unreadable(str(exc)),
    )


@lru_cache(4096)
def _resource(name: str) -> Resource:
    return Resource.parse(name)


EVENT = FactKind.EVENT
_UNNAMED = Naming()
_NO_SERIES = Series()


def _node_of(thing: ObjectIdentity | None) -> str | None:
    """Return the node that an object is called as, if its kind is."""
    if thing is None or not named_as_node(thing.group, thing.kind):
        return None
    return thing.name or None


def occurrence(event: Event, draft: Draft) -> Fact:
    """Return the fact that one version of an Event is."""
    metadata = event.metadata or _UNNAMED
    series = event.series or _NO_SERIES
    reporter = event.source or event.deprecated_source
    message = event.message or event.note or ""
    host = reporter.host if reporter is not None else None
    detail = EventOccurred(
        type=event.type or None,
        reason=event.reason or None,
        message=message[:TEXT_CHARACTERS_MAX] or None,
        count=event.count or event.deprecated_count or series.count or 1,
        event=metadata.uid or metadata.name or None,
        action=event.action or None,
        host=host or None,
        first=event.first_timestamp or None,
    )
    return Fact(
        kind=EVENT,
        node=draft.node or _node_of(draft.identity),
        object=draft.identity,
        occurred_at=draft.occurred_at,
        actor=draft.actor,
        detail=detail,
    )
