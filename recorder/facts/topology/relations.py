"""Relations of places that a claim or a file of a site states.

A claim of the type `place.relation` is about the child; its data name the
parent. What a sender wrote may be wrong: then it relates nothing.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Final

import msgspec

from recorder.facts.topology.fold import Relation, Sighting
from recorder.facts.topology.levels import labelled
from recorder.model.fact import StoredFact
from recorder.model.facts import Claimed
from recorder.model.place import Place, PlaceKind
from recorder.model.reference import EntryName

RELATION: Final = "place.relation"
"""The type of claims that relate places."""

ALWAYS: Final = datetime(1, 1, 2, tzinfo=UTC)

Time = Annotated[datetime, msgspec.Meta(tz=True)]


class Related(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"since": "from", "until": "to"},
):
    """How a place is related to its parent, and when."""

    parent: str
    relation: Relation = Relation.BEHIND
    slot: str = ""
    """Which of its parents, if it has several of a kind, such as feed B."""

    since: Time | None = None
    """Default: when it was claimed; in a file, always."""

    until: Time | None = None


def related(
    child: str,
    said: Related,
    *,
    witness: str,
    at: datetime = ALWAYS,
    entry: EntryName | None = None,
) -> Iterator[Sighting]:
    """Yield what a statement shows: that a relation holds, and its end.

    One that ends before it begins shows nothing; one that had ended when it
    was stated, and does not say since when it held, only its end.

    Raises:
        ValueError: the child or the parent is not a place.
    """
    of = labelled(Place.parse(child))
    parent = labelled(Place.parse(said.parent))
    kind = str(parent.kind)
    if parent.kind is PlaceKind.DOMAIN:
        kind = parent.name.partition(":")[0]
    slot = f"{kind} {said.slot}".rstrip()
    since = said.since or at
    if said.until is None or said.until > since:
        yield Sighting(since, of, said.relation, slot, parent, witness, entry)
    elif said.since is not None:
        return
    if said.until is not None:
        yield Sighting(
            said.until, of, said.relation, slot, None, witness, entry
        )


def claimed_relation(stored: StoredFact) -> Iterator[Sighting]:
    """Yield what a claim shows of a relation; nothing if it is malformed."""
    claim = stored.fact.detail
    if not isinstance(claim, Claimed) or claim.type != RELATION:
        return
    try:
        yield from related(
            claim.subject,
            msgspec.convert(claim.data, Related),
            witness=claim.source,
            at=stored.at,
            entry=stored.entry,
        )
    except ValueError:
        return
