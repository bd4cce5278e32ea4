"""An object that is seen first, as the facts that would have made it so."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from recorder.classify.times import moment
from recorder.model.fact import Fact, FactKind, StoredFact

__all__ = ["unfolded"]


def unfolded(seen: StoredFact) -> Iterator[StoredFact]:
    """Give its conditions, taints, labels and annotations as they came.

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
