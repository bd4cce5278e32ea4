"""Facts as rows of their table."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from recorder.facts import WrittenFact
from recorder.intake.state import Batch
from recorder.store.codes import BEARING_CODES, FACT_CODES, MARK_CODES
from recorder.store.details import DetailEncoder
from recorder.store.names import Names, Numbers
from recorder.store.timestamps import Ticks, ticks

FACT_COLUMNS = (
    "recorded_at",
    "at",
    "observed_at",
    "position",
    "object_id",
    "owner_id",
    "derivation_id",
    "node_id",
    "actor_id",
    "topic_id",
    "index",
    "kind",
    "bearing",
    "mark",
    "value",
    "place",
    "labels",
    "keys",
    "owners",
    "detail",
)

Row = tuple[Any, ...]


def name_facts(batch: Batch, names: Names) -> None:
    """Add the names that the facts of a batch refer to."""
    nodes, objects, words = names.nodes, names.objects, names.words
    named = None
    for _, facts in batch.facts or ():
        for fact in facts:
            if fact.object is not named and fact.object is not None:
                # Facts of an entry share their object, and hashing it costs
                # as much as the rest of this function.
                named = fact.object
                objects[named] = None
            if fact.node is not None:
                nodes.add(fact.node)
            if fact.actor is not None:
                words.add(fact.actor)
            if fact.marks.topic is not None:
                words.add(fact.marks.topic)
            if fact.owner is not None:
                objects[fact.owner] = None


def fact_rows(
    batch: Batch,
    numbers: Numbers,
    encoder: DetailEncoder,
    *,
    derivation: int,
    recorded_at: datetime | Mapping[int, datetime],
) -> Iterator[Row]:
    """Yield one row for each fact, in the order of the log.

    ``recorded_at`` is one time for all entries, or a time by position.
    """
    at_once, each = None, recorded_at
    if isinstance(each, datetime):
        at_once, each = ticks(each), {}
    for position, facts in batch.facts or ():
        _, draft = batch.drafts[position - batch.first_position]
        recorded = at_once or ticks(each[position])
        place = recorded, ticks(draft.observed_at), position, derivation
        for index, fact in enumerate(facts):
            yield _fact_row(place, index, fact, numbers, encoder)


def _fact_row(
    place: tuple[Ticks, Ticks, int, int],
    index: int,
    fact: WrittenFact,
    numbers: Numbers,
    encoder: DetailEncoder,
) -> Row:
    recorded, observed, position, derivation = place
    thing, owner, node, actor = fact.object, fact.owner, fact.node, fact.actor
    occurred, marks, words = fact.occurred_at, fact.marks, numbers.words
    if fact.seen_at is not None:
        observed = ticks(fact.seen_at)
    topic, mark = marks.topic, marks.mark
    return (
        recorded,
        observed if occurred is None else ticks(occurred),
        None if occurred is None else observed,
        position,
        None if thing is None else numbers.objects[thing],
        None if owner is None else numbers.objects[owner],
        derivation,
        None if node is None else numbers.nodes[node],
        None if actor is None else words[actor],
        None if topic is None else words[topic],
        index,
        FACT_CODES[fact.kind],
        BEARING_CODES[marks.bearing],
        None if mark is None else MARK_CODES[mark],
        marks.value,
        fact.place,
        marks.labels,
        marks.keys,
        marks.owners,
        encoder.encode(fact.detail),
    )
