"""Facts as they are written: what they say as JSON, and how they are found.

They are put so as soon as they are derived: what waits for its batch to be
committed leaves the processor's cache, and of a text that costs less.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from recorder.facts.bearing import is_evidence, is_sign, place_of
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import Appeared, Detail
from recorder.model.reference import ObjectIdentity

__all__ = ["WrittenFact", "owner_of", "written"]

_encode = msgspec.json.Encoder().encode
APPEARED = FactKind.APPEARED
"""By a name of its own: Python 3.11 takes its time for a member."""


class WrittenFact(msgspec.Struct, frozen=True, gc=False):
    """A fact to be written; its members are those of `Fact`, and these."""

    kind: FactKind
    node: str | None
    object: ObjectIdentity | None
    occurred_at: datetime | None
    actor: str | None
    detail: str
    """As JSON."""

    sign: bool
    """Whether it is about a node as such."""

    evidence: bool
    """Whether it may be a sign of what happened to its node."""

    owner: ObjectIdentity | None = None
    """The controller of an object that appeared."""

    place: str | None = None
    """Where a Node stands that appeared, as JSON."""


def written(fact: Fact) -> WrittenFact:
    """Return a fact as it is written."""
    owner = place = None
    if fact.kind is APPEARED:
        owner, place = owner_of(fact), place_of(fact)
    return WrittenFact(
        fact.kind,
        fact.node,
        fact.object,
        fact.occurred_at,
        fact.actor,
        _json(fact.detail),
        is_sign(fact),
        is_evidence(fact),
        owner,
        None if place is None else _json(place),
    )


def owner_of(fact: Fact) -> ObjectIdentity | None:
    """Return the controller of an object that appeared."""
    detail = fact.detail
    if not isinstance(detail, Appeared) or fact.object is None:
        return None
    for owner in detail.state.owners:
        if owner.controller and owner.name:
            group, stroke, _ = (owner.api_version or "").partition("/")
            return ObjectIdentity(
                group if stroke else "",
                owner.kind or "",
                fact.object.namespace,
                owner.name,
                owner.uid,
            )
    return None


def _json(value: Detail | Mapping[str, str]) -> str:
    text = _encode(value).decode()
    # PostgreSQL keeps no NUL in JSON; nothing that we look for has one.
    return text.replace("\\u0000", "\\ufffd")
