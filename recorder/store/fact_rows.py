"""Facts as rows of their table."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import orjson

from recorder.facts import is_evidence, is_sign, place_of
from recorder.intake.state import Batch
from recorder.model.fact import Fact, FactKind
from recorder.model.reference import ObjectIdentity
from recorder.store.codes import FACT_CODES
from recorder.store.names import Names, Numbers

__all__ = [
    "FACT_COLUMNS",
    "fact_row",
    "fact_rows",
    "name_facts",
    "owner_of",
]

FACT_COLUMNS = (
    "recorded_at",
    "at",
    "observed_at",
    "occurred_at",
    "position",
    "object_id",
    "owner_id",
    "log_id",
    "derivation_id",
    "node_id",
    "actor_id",
    "index",
    "kind",
    "sign",
    "evidence",
    "place",
    "detail",
)

Row = tuple[Any, ...]

APPEARED = FactKind.APPEARED
"""By a name of its own: Python 3.11 takes its time for a member."""


def owner_of(fact: Fact) -> ObjectIdentity | None:
    """Give the controller of an object that appeared."""
    if fact.kind is not FactKind.APPEARED or fact.object is None:
        return None
    for owner in fact.detail["state"].get("owners", ()):
        if owner.get("controller") and owner.get("name"):
            group, stroke, _ = (owner.get("apiVersion") or "").partition("/")
            return ObjectIdentity(
                group if stroke else "",
                owner.get("kind") or "",
                fact.object.namespace,
                owner["name"],
                owner.get("uid"),
            )
    return None


def name_facts(batch: Batch, names: Names) -> None:
    """Name what facts of a batch name."""
    nodes, objects, words = names.nodes, names.objects, names.words
    named = None
    for _, facts in batch.facts or ():
        for fact in facts:
            if fact.object is not named and fact.object is not None:
                # Facts of an entry share theirs, and to hash one costs as
                # much as all else here.
                named = fact.object
                objects[named] = None
            if fact.node is not None:
                nodes.add(fact.node)
            if fact.actor is not None:
                words.add(fact.actor)
            if fact.kind is APPEARED:
                owner = owner_of(fact)
                if owner is not None:
                    objects[owner] = None


def fact_rows(
    batch: Batch,
    numbers: Numbers,
    *,
    log: int,
    derivation: int,
    recorded_at: datetime | Mapping[int, datetime],
) -> Iterator[Row]:
    """Give one row for each fact, in the order of the log.

    ``recorded_at`` is of all entries, or of each by its position.
    """
    for position, facts in batch.facts or ():
        _, draft = batch.drafts[position - batch.first_position]
        recorded = (
            recorded_at
            if isinstance(recorded_at, datetime)
            else recorded_at[position]
        )
        place = (recorded, draft.observed_at, position, log, derivation)
        for index, fact in enumerate(facts):
            yield fact_row(place, index, fact, numbers)


def fact_row(
    place: tuple[datetime, datetime, int, int, int],
    index: int,
    fact: Fact,
    numbers: Numbers,
) -> Row:
    """Give the row of a fact at a place in the log."""
    recorded_at, observed_at, position, log, derivation = place
    owner = stands = None
    if fact.kind is APPEARED:
        owner, stands = owner_of(fact), place_of(fact)
    return (
        recorded_at,
        fact.occurred_at or observed_at,
        observed_at,
        fact.occurred_at,
        position,
        None if fact.object is None else numbers.objects[fact.object],
        None if owner is None else numbers.objects[owner],
        log,
        derivation,
        None if fact.node is None else numbers.nodes[fact.node],
        None if fact.actor is None else numbers.words[fact.actor],
        index,
        FACT_CODES[fact.kind],
        is_sign(fact),
        is_evidence(fact),
        None if stands is None else _json(stands),
        _json(fact.detail),
    )


def _json(detail: Any) -> str:
    text = orjson.dumps(detail).decode()
    # PostgreSQL keeps no NUL in JSON; nothing that we look for has one.
    return text.replace("\\u0000", "\\ufffd")
