"""Facts as they are written: what they say as JSON, and how they are found.

They are put so as soon as they are derived: what waits for its batch to be
committed leaves the processor's cache, and of a text that costs less.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from recorder.facts.marks import NO_FAMILY, Marks, marks_of
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import Appeared, Detail, Vanished
from recorder.model.reference import ObjectIdentity
from recorder.model.state import controller

Value = TypeVar("Value")

_encode = msgspec.json.Encoder().encode
# By names of their own: Python 3.11 takes its time for a member.
APPEARED, REQUESTED = FactKind.APPEARED, FactKind.REQUESTED

IN_ITS_ENTRY = b"{}"
"""What is written of a request: its detail is read from its entry, because it
is larger than the rest of the fact."""


class WrittenFact(msgspec.Struct, frozen=True, gc=False):
    """A fact to be written; its members are those of `Fact`, and these."""

    kind: FactKind
    node: str | None
    object: ObjectIdentity | None
    occurred_at: datetime | None
    seen_at: datetime | None
    actor: str | None
    detail: bytes
    """As JSON."""

    marks: Marks
    owner: ObjectIdentity | None = None
    """The controller of an object that appeared, or its only owner."""

    place: str | None = None
    """The labels that say where a Node is, if it appeared, as JSON."""


def written(fact: Fact) -> WrittenFact:
    """Return a fact as it is written."""
    owner = place = None
    marks = marks_of(fact)
    if fact.kind is APPEARED:
        owner = owner_of(fact)
        if marks.place is not None:
            place = _json(marks.place).decode()
    return WrittenFact(
        fact.kind,
        fact.node,
        fact.object,
        fact.occurred_at,
        fact.seen_at,
        fact.actor,
        _detail(fact),
        marks,
        owner,
        place,
    )


def owner_of(fact: Fact) -> ObjectIdentity | None:
    """Return the controller of an object that appeared, or its only owner."""
    detail = fact.detail
    if not isinstance(detail, Appeared) or fact.object is None:
        return None
    owner = controller(detail.state.owners)
    if owner is None or not owner.name:
        return None
    if not owner.controller and owner.kind in NO_FAMILY:
        return None
    group, stroke, _ = (owner.api_version or "").partition("/")
    return ObjectIdentity(
        group if stroke else "",
        owner.kind or "",
        fact.object.namespace,
        owner.name,
        owner.uid,
    )


def _detail(fact: Fact) -> bytes:
    if fact.kind is REQUESTED:
        return IN_ITS_ENTRY
    return _json(_in_order(fact.detail))


def _in_order(detail: Detail) -> Detail:
    """Return a detail with the members of its mappings in their order.

    The shorter name comes first, so that equal states are written equally
    whatever the order in their documents.
    """
    if not isinstance(detail, Appeared | Vanished):
        return detail
    state = detail.state
    ordered = replace(
        state,
        labels=_by_length(state.labels),
        annotations=_by_length(state.annotations),
        conditions=_by_length(state.conditions),
        fields=_by_length(state.fields),
        resources=_by_length(state.resources),
        ends=_by_length(state.ends),
    )
    return replace(detail, state=ordered)


def _by_length(members: Mapping[str, Value]) -> Mapping[str, Value]:
    if len(members) < 2:  # noqa: PLR2004 - one is in order
        return members
    # Of the same length in the order of their characters, as of their bytes.
    names = sorted(sorted(members), key=_length)
    return {name: members[name] for name in names}


def _length(name: str) -> int:
    return len(name) if name.isascii() else len(name.encode())


def _json(value: Detail | Mapping[str, str]) -> bytes:
    # PostgreSQL keeps no NUL in a text; nothing that we look for has one.
    return _encode(value).replace(rb"\u0000", rb"\ufffd")
