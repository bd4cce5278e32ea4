"""Clocks: how far the clock of a node differs from ours.

A claimed time after its observation shows a clock that is ahead by at least
the difference. Claims are never early, so a clock that is behind shows in
many claims that are all late by the same time.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from recorder.explain.thresholds import LIMITS
from recorder.facts import is_evidence
from recorder.facts.classify.times import moment
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import BootChanged, EventOccurred

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


class _Claim(NamedTuple):
    """When something happened, as a program on the node said."""

    place: int
    """The place of its fact."""

    at: datetime
    seen: datetime

    @property
    def offset(self) -> timedelta:
        """How far the claim is ahead of its observation."""
        return self.at - self.seen


def synchronized(
    node: str, facts: Sequence[StoredFact]
) -> tuple[list[StoredFact], list[timedelta]]:
    """Correct the claims of a node to our clock.

    Return the facts, and for each how far the clock of the node was ahead in
    its boot; negative if it was behind.
    """
    claims = [
        _Claim(place, at, stored.observed_at)
        for place, stored in enumerate(facts)
        if (at := stored.fact.occurred_at) is not None
        and _is_claim(stored, node)
    ]
    # A whole clock that is behind is behind in each of its boots.
    whole = min(_measured(claims) or NO_SKEW, NO_SKEW)
    skews = list[timedelta]()
    for first, last in pairwise([0, *_boots(facts), len(facts)]):
        spoken = [one for one in claims if first <= one.place < last]
        is_late = all(one.offset < -LIMITS.same_write for one in spoken)
        skew = _measured(spoken, _AGREEING if is_late else 1)
        begin, end = first, last
        if skew is not None:
            agreed = _agreeing(spoken)
            begin, end = agreed[0].place, agreed[-1].place + 1
        set_at = _until_set(node, facts, spoken, first, last) if first else 0
        unset = set_at > first
        begin, least = (set_at, 1) if unset else (begin, _AGREEING)
        early = [one for one in spoken if one.place < begin]
        later = [one for one in spoken if one.place >= end]
        for size, own in (
            (begin - first, _measured(early, least)),
            (end - begin, skew),
            (last - max(begin, end), _measured(later)),
        ):
            found = (one for one in (own, skew) if one is not None)
            skews += [next(found, whole)] * size
    corrected = [
        _moved(stored, skew)
        if skew and _is_claim(stored, node)
        else _without_future(stored, node)
        for stored, skew in zip(facts, skews, strict=True)
    ]
    return corrected, skews


def _without_future(stored: StoredFact, node: str) -> StoredFact:
    """Return a fact without a time well after its observation.

    The clock of its author, such as the control plane, is ahead; that of the
    node is measured.
    """
    at = stored.fact.occurred_at
    if (
        at is None
        or at <= stored.observed_at + LIMITS.first_lists
        or _is_claim(stored, node)
    ):
        return stored
    return replace(stored, fact=replace(stored.fact, occurred_at=None))


def _agreeing(claims: Sequence[_Claim]) -> list[_Claim]:
    """Return the claims that were observed with the least delay."""
    greatest = max((one.offset for one in claims), default=NO_SKEW)
    return [one for one in claims if greatest - one.offset <= LIMITS.astray]


def _measured(
    claims: Sequence[_Claim], agreeing: int = _AGREEING
) -> timedelta | None:
    """Return how far the clock is ahead; None if the claims are too few.

    Reports that were delayed by an outage are late by the same time if they
    are of one moment: only different moments show a clock.
    """
    found = _agreeing(claims)
    moments = {one.at: one.seen for one in found}
    if len(set(moments.values())) < agreeing:
        return None
    skew = max(one.offset for one in found)
    right = -LIMITS.same_write <= skew <= LIMITS.astray
    return NO_SKEW if right else skew


def _boots(facts: Sequence[StoredFact]) -> list[int]:
    """Return the places of the first records of boots."""
    found = list[int]()
    for place, stored in enumerate(facts):
        detail = stored.fact.detail
        if not (isinstance(detail, BootChanged) and detail.old):
            continue
        since = stored.observed_at - LIMITS.moment
        first = place
        for before in range(place, found[-1] if found else 0, -1):
            if facts[before].observed_at < since:
                break
            if _is_start(facts[before]):
                first = before
        found.append(first)
    return found


def _is_start(stored: StoredFact) -> bool:
    fact = stored.fact
    return (
        isinstance(fact.detail, EventOccurred)
        and fact.actor == KUBELET
        and fact.detail.reason in {"Starting", "Rebooted"}
    )


def _until_set(
    node: str,
    facts: Sequence[StoredFact],
    spoken: Sequence[_Claim],
    first: int,
    last: int,
) -> int:
    """Return until where the clock of a boot had not been set.

    A machine without a clock begins with an old time: its kubelet reports a
    start before the last sign of the boot before.
    """
    began = [s.at for s in facts[first:last] if _is_start(s)]
    alive = filter(None, (life_proved(s, node) for s in facts[:first]))
    if not began or min(began) >= max(alive, default=min(began)):
        return first
    on_time = (one.place for one in spoken if -one.offset < LIMITS.moment)
    return next(on_time, last)


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
