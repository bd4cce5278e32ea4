"""Clocks: how far the clock of a node differs from ours.

A claimed time after its observation shows a clock that is ahead by at least
the difference. Claims are never early, so a clock that is behind shows in
many claims that are all late by the same time.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from recorder.explain.thresholds import LIMITS
from recorder.facts import is_evidence
from recorder.facts.classify.times import moment
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import EventOccurred

__all__ = ["NO_SKEW", "life_proved", "skew_of", "synchronized"]

KUBELET = "kubelet"

_SHOWN = frozenset({FactKind.APPEARED, FactKind.VANISHED})


def life_proved(stored: StoredFact, node: str) -> datetime | None:
    """Return when a fact proves that its node was alive, if it does.

    An Event counts for the beginning of the second that it claims. Routine
    Events of Pods are left out, as there are too many.
    """
    fact = stored.fact
    if fact.kind is FactKind.LEASE_SILENT:
        return stored.at
    if fact.kind is FactKind.REQUESTED:
        return stored.at if fact.actor == f"system:node:{node}" else None
    if fact.actor != KUBELET or fact.kind in _SHOWN or not is_evidence(fact):
        return None
    return min(stored.at, stored.observed_at)


NO_SKEW = timedelta()

_AGREEING = 3
"""Observations of different moments that must agree before a clock counts as
behind; what one list shows is one observation."""


def skew_of(node: str, facts: Iterable[StoredFact]) -> timedelta:
    """Return how far the clock of a node is ahead; negative if it is behind.

    Zero if the claims of its programs leave a doubt.
    """
    offsets = [
        (at - stored.observed_at, at, stored.observed_at)
        for stored in facts
        if _is_claim(stored, node)
        and (at := stored.fact.occurred_at) is not None
    ]
    if not offsets:
        return NO_SKEW
    greatest = max(offset for offset, _, _ in offsets)
    if greatest > LIMITS.astray:
        return greatest
    agreeing = sorted(
        (seen, at)
        for offset, at, seen in offsets
        if greatest - offset <= LIMITS.astray
    )
    # Reports that were delayed by an outage are late by the same time if they
    # are of one moment: only different moments show a clock.
    moments = set(dict(agreeing).values())
    is_behind = greatest < -LIMITS.same_write and len(moments) >= _AGREEING
    return greatest if is_behind else NO_SKEW


def synchronized(
    node: str, facts: Sequence[StoredFact], skew: timedelta
) -> Sequence[StoredFact]:
    """Return facts with the claims of a node corrected to our clock."""
    if not skew:
        return facts
    return [
        _moved(stored, skew) if _is_claim(stored, node) else stored
        for stored in facts
    ]


def _moved(stored: StoredFact, skew: timedelta) -> StoredFact:
    fact = stored.fact
    if fact.occurred_at is not None:
        fact = replace(fact, occurred_at=fact.occurred_at - skew)
    detail = fact.detail
    if isinstance(detail, EventOccurred) and (first := moment(detail.first)):
        at = (first - skew).isoformat()
        fact = replace(fact, detail=replace(detail, first=at))
    return replace(stored, fact=fact)


def _is_claim(stored: StoredFact, node: str) -> bool:
    """Whether a program on the node says when something happened."""
    fact = stored.fact
    if fact.kind is FactKind.LEASE_SILENT:
        return True
    detail = fact.detail
    if isinstance(detail, EventOccurred):
        return detail.host == node or fact.actor == KUBELET
    return fact.kind is FactKind.CONDITION_CHANGED and fact.actor == KUBELET
