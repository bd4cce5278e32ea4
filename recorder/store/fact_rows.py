"""Facts as rows of their table."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from recorder.intake.state import Batch
from recorder.store.codes import FACT_CODES
from recorder.store.names import Names, Numbers
from recorder.store.timestamps import ticks

__all__ = [
    "FACT_COLUMNS",
    "fact_rows",
    "name_facts",
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


def name_facts(batch: Batch, names: Names) -> None:
    """Return the names that the facts of a batch refer to."""
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
            if fact.owner is not None:
                objects[fact.owner] = None


def fact_rows(
    batch: Batch,
    numbers: Numbers,
    *,
    log: int,
    derivation: int,
    recorded_at: datetime | Mapping[int, datetime],
) -> Iterator[Row]:
    """Yield one row for each fact, in the order of the log.

    ``recorded_at`` is of all entries, or of each by its position.
    """
    at_once, each = None, recorded_at
    if isinstance(each, datetime):
        at_once, each = ticks(each), {}
    objects, nodes, words = numbers.objects, numbers.nodes, numbers.words
    for position, facts in batch.facts or ():
        _, draft = batch.drafts[position - batch.first_position]
        recorded = at_once or ticks(each[position])
        observed = ticks(draft.observed_at)
        for index, fact in enumerate(facts):
            thing, owner, occurred_at = (
                fact.object,
                fact.owner,
                fact.occurred_at,
            )
            node, actor = fact.node, fact.actor
            occurred = None if occurred_at is None else ticks(occurred_at)
            yield (
                recorded,
                occurred or observed,
                observed,
                occurred,
                position,
                None if thing is None else objects[thing],
                None if owner is None else objects[owner],
                log,
                derivation,
                None if node is None else nodes[node],
                None if actor is None else words[actor],
                index,
                FACT_CODES[fact.kind],
                fact.sign,
                fact.evidence,
                fact.place,
                fact.detail,
            )
