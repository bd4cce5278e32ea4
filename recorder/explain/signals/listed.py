"""An object that is seen first, as the facts that would have made it so."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from recorder.classify.times import moment
from recorder.model.fact import Fact, FactKind, StoredFact

__all__ = ["dated", "is_listed", "unfolded"]


def is_listed(stored: StoredFact) -> bool:
    """Return whether it is that a list showed something other than a Node.

    It was there before, and nobody knows since when.
    """
    fact = stored.fact
    return (
        fact.kind is FactKind.APPEARED
        and fact.object is not None
        and fact.object.kind != "Node"
        and not fact.detail["created"]
    )


def dated(seen: StoredFact) -> StoredFact:
    """Return that an object appeared at the time at which it was made."""
    made = moment(seen.fact.detail["state"].get("created_at"))
    if made is None or not is_listed(seen):
        return seen
    fact = replace(seen.fact, occurred_at=made)
    return replace(seen, fact=fact)


def unfolded(seen: StoredFact) -> Iterator[StoredFact]:
    """Yield its conditions, taints, labels and annotations as they came.

    A condition says since when; of the others nobody knows.
    """
    state = seen.fact.detail["state"]
    number = seen.index
    for kind, detail, since in _details(state):
        number += 1
        fact = Fact(
            kind=kind,
            node=seen.fact.node,
            object=seen.fact.object,
            occurred_at=since,
            detail=detail,
        )
        yield StoredFact(
            entry=seen.entry,
            index=number,
            observed_at=seen.observed_at,
            fact=fact,
        )


def _details(
    state: Mapping[str, Any],
) -> Iterator[tuple[FactKind, dict[str, Any], datetime | None]]:
    for name, condition in sorted(state.get("conditions", {}).items()):
        if name != "Ready":
            detail = {"type": name, "old": None, "new": condition}
            since = moment(condition.get("since"))
            yield FactKind.CONDITION_CHANGED, detail, since
    for taint in state.get("taints", []):
        yield FactKind.TAINTED, dict(taint), None
    for kind, texts in (
        (FactKind.LABEL_CHANGED, "labels"),
        (FactKind.ANNOTATION_CHANGED, "annotations"),
    ):
        for key, value in sorted(state.get(texts, {}).items()):
            yield kind, {"key": key, "old": None, "new": value}, None
