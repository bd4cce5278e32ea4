"""Evidence: the signs that a verdict names, in the order of a timeline.

It judges nothing: what happened and why is settled when it is asked. What a
verdict rests on is always there, whether a rule knows it or not.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from recorder.explain.signals import Signal, Topic
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Decided, Faulted, SignalEvidence
from recorder.model.outcomes import Happened, Role

__all__ = ["evidence_of", "most_telling", "place_of"]

EVIDENCE_MAX = 60
"""Signs that a verdict names, so that a storm of them makes no answer long."""

SILENT = frozenset({Happened.UNREACHABLE, Happened.KUBELET_RESTART})
"""Happenings that are told apart by what kubelets count."""

TELLING = frozenset({Role.FAULT, Role.DECISION, Role.EFFECT})
"""Roles that say what happened and why; others say what was done about it."""


class _Sign(NamedTuple):
    """A signal of an episode, in its role for a verdict."""

    role: Role
    sign: Signal


def evidence_of(
    transition: Transition,
    decided: Decided | None,
    faulted: Faulted | None,
    heard: Signal | None,
) -> tuple[Sequence[SignalEvidence], int]:
    """Return the signs of a chain with their roles, in order of time.

    And how many were left out, of a chain that has more than an answer names.
    The last sign of life, ``heard``, is one of them if there is one.
    """
    chosen: dict[tuple[int, int], _Sign] = {}
    deciding = [transition.effect]
    deciding += [found.sign for found in (decided, faulted) if found]
    deciding += [heard] if heard is not None else []
    rested = {place_of(sign) for sign in deciding}
    unruled = _unruled(transition, decided, faulted)
    for sign in [*transition.episode.signals, *unruled]:
        key = place_of(sign)
        if key not in rested and any(sign is s for s in transition.apart):
            continue
        if not _is_telling(transition, sign, decided):
            continue
        role = sign.role
        if decided is not None and key == place_of(decided.sign):
            role = Role.DECISION
        if faulted is not None and key == place_of(faulted.sign):
            role = Role.EFFECT if sign is transition.effect else Role.FAULT
        chosen.setdefault(key, _Sign(role, sign))
    if heard is not None:
        chosen.setdefault(place_of(heard), _Sign(heard.role, heard))
    found = sorted(chosen.values(), key=_place)
    kept = most_telling(found, deciding, EVIDENCE_MAX)
    named = [SignalEvidence.of(*found[place]) for place in kept]
    return named, len(found) - len(kept)


def place_of(sign: Signal) -> tuple[int, int]:
    """Return the entry of a sign, and which fact of it."""
    return sign.position, sign.stored.index


def _unruled(
    transition: Transition, decided: Decided | None, faulted: Faulted | None
) -> Iterator[Signal]:
    """Yield what a verdict rests on and no rule knows.

    The fault, when it was over, and what was done, as its author wrote it.
    """
    if decided is not None:
        yield from (s for s in decided.steps if not s.ruled)
    if faulted is None or faulted.sign.ruled:
        return
    fault = faulted.sign
    yield fault
    for mark in transition.episode.marks:
        if mark.subject == fault.subject and place_of(mark) > place_of(fault):
            ended = mark.status != fault.status
            role = Role.RECOVERY if ended else Role.FAULT
            yield mark._replace(role=role, over=ended)


def most_telling(
    evidence: Sequence[SignalEvidence | _Sign],
    deciding: Sequence[Signal],
    most: int,
) -> Sequence[int]:
    """Choose by their places so many that a reader misses least, in order.

    What a verdict rests on is always there; then what happened and why, and
    rather the beginning and the end than the middle.
    """

    def worth(place: int) -> tuple[int, int]:
        one = evidence[place]
        rank = 1 if one.role in TELLING else 2
        if any(place_of(one.sign) == place_of(sign) for sign in deciding):
            rank = 0
        return rank, min(place, len(evidence) - 1 - place)

    return sorted(sorted(range(len(evidence)), key=worth)[:most])


def _place(evidence: _Sign) -> tuple[datetime, int, int]:
    """Return where a sign stands in a timeline.

    Most clocks of a cluster tell whole seconds, ours does not: within a
    second the log's own order is the better one.
    """
    sign = evidence.sign
    second = sign.stored.at.replace(microsecond=0)
    return second, sign.position, sign.stored.index


def _is_telling(
    transition: Transition, sign: Signal, decided: Decided | None
) -> bool:
    """Return whether a sign says more than that somebody was there.

    Of audit it is who decided; that a kubelet counts tells a silence.
    """
    if sign.topic is Topic.WORD:
        return transition.happened in SILENT
    if sign.topic is not Topic.REQUEST:
        return True
    return (
        decided is not None
        and not decided.is_by_unknown
        and sign.actor == decided.actor
    )
