"""An object that is seen first, as the facts that would have made it so."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from recorder.facts.classify.times import moment
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.facts import (
    AnnotationChanged,
    Appeared,
    ConditionChanged,
    Detail,
    LabelChanged,
    Tainted,
)
from recorder.model.state import ObjectState

__all__ = ["dated", "is_listed", "unfolded"]


def is_listed(stored: StoredFact) -> bool:
    """Return whether it is that a list showed something other than a Node.

    It was there before, and nobody knows since when.
    """
    fact = stored.fact
    return (
        isinstance(fact.detail, Appeared)
        and fact.object is not None
        and fact.object.kind != "Node"
        and not fact.detail.created
    )


def dated(seen: StoredFact) -> StoredFact:
    """Return that an object appeared at the time at which it was made."""
    detail = seen.fact.detail
    if not isinstance(detail, Appeared) or not is_listed(seen):
        return seen
    made = moment(detail.state.created_at)
    if made is None:
        return seen
    fact = replace(seen.fact, occurred_at=made)
    return replace(seen, fact=fact)


def unfolded(
    seen: StoredFact, may_tell: Callable[[Detail], bool]
) -> Iterator[StoredFact]:
    """Yield its conditions, taints, labels and annotations as they came.

    A condition says since when; of the others nobody knows. What cannot tell
    anything is left out: most labels of most objects.
    """
    shown = seen.fact.detail
    assert isinstance(shown, Appeared), "asked of nothing else"
    number = seen.index
    for kind, detail, since in _details(shown.state):
        number += 1
        if not may_tell(detail):
            continue
        fact = Fact(
            kind=kind,
            node=seen.fact.node,
            object=seen.fact.object,
            occurred_at=moment(since),
            detail=detail,
        )
        yield StoredFact(
            entry=seen.entry,
            index=number,
            observed_at=seen.observed_at,
            fact=fact,
        )


def _details(
    state: ObjectState,
) -> Iterator[tuple[FactKind, Detail, str | None]]:
    """Yield each with the time that it states, not parsed yet."""
    for name, condition in sorted(state.conditions.items()):
        if name != "Ready":
            turned = ConditionChanged(name, None, condition)
            yield FactKind.CONDITION_CHANGED, turned, condition.since
    for taint in state.taints:
        tainted = Tainted(taint.key, taint.value, taint.effect)
        yield FactKind.TAINTED, tainted, None
    for key, value in sorted(state.labels.items()):
        yield FactKind.LABEL_CHANGED, LabelChanged(key, None, value), None
    for key, value in sorted(state.annotations.items()):
        noted = AnnotationChanged(key, None, value)
        yield FactKind.ANNOTATION_CHANGED, noted, None
