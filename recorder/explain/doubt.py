"""Doubt: how sure a verdict is, by what evidence, and whether it was planned.

A gap over the time that it rests on lowers what is proven to likely, and what
rests on what the gap may hide to possible. Contradictions, records of which
one must be wrong, are reported without deciding which one is: a verdict that
rests on one is at most possible. So is a verdict about a repair of which no
record says what broke.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from recorder.explain.causes import FAULTS, STAYING
from recorder.explain.signals import Signal, Topic
from recorder.explain.thresholds import LIMITS, STRENGTHS, rank
from recorder.explain.tracks.bounds import boot_named, is_explained
from recorder.explain.tracks.episodes import Episode
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import (
    Contradiction,
    Decided,
    Faulted,
    Judged,
    SignalEvidence,
)
from recorder.facts.coverage.hole import Hole
from recorder.model.outcomes import (
    Confidence,
    Decision,
    Happened,
    Mode,
    Role,
)

__all__ = [
    "confidence_of",
    "contradictions",
    "evidence_of",
    "holes_over",
    "mode_of",
    "most_telling",
    "was_gone",
]

END: Final = datetime.max.replace(tzinfo=UTC)


def mode_of(
    transition: Transition,
    decided: Decided | None,
    faulted: Faulted | None,
    *,
    holed: bool,
) -> Mode:
    """Return whether what happened was planned: the contract's mode."""
    if transition.happened == Happened.JOINED:
        return Mode.UNKNOWN
    if transition.was_shut_down:
        return Mode.PLANNED
    if decided is not None:
        if holed and decided.sign.is_inferred:
            return Mode.UNKNOWN  # it was seen with the effect, or as it
        # Whatever for, it was announced that the Node would go.
        said = decided.sign.vague and transition.happened == Happened.REMOVED
        sure = said or decided.confidence is not Confidence.POSSIBLE
        return (
            Mode.PLANNED
            if sure and not was_gone(transition, decided)
            else Mode.UNKNOWN
        )
    stood = transition.was_lost and transition.episode.baseline.cordoned
    prepared = transition.was_prepared or stood
    decided_upon = transition.happened in STAYING or prepared
    if decided_upon and not (faulted and FAULTS[faulted.fault].by_itself):
        return Mode.UNKNOWN  # a decision whose reason is not recorded
    return Mode.UNKNOWN if holed else Mode.ABRUPT


def was_gone(transition: Transition, decided: Decided) -> bool:
    """Return whether a Node was deleted that was lost long before."""
    return (
        decided.decision is Decision.NODE_DELETION
        and transition.was_lost
        and transition.lost_at
        < decided.sign.stored.observed_at - LIMITS.not_long
        and any(
            s.position < decided.sign.position
            for s in transition.episode.of(Topic.READY)
        )
    ) or (
        decided.decision is Decision.NODE_DELETION
        and transition.episode.baseline.ready == "Unknown"
    )


def holes_over(
    transition: Transition, holes: Iterable[Hole]
) -> Sequence[Hole]:
    """Return the times that the chain rests on and the log is silent about."""
    chain, effect = transition.episode, transition.effect
    # By our own clock: a hole that ended before the first sign was seen ended
    # in a list, which showed how things stood.
    first = min(sign.stored.observed_at for sign in chain.signals)
    last = max(effect.stored.at, effect.stored.observed_at)
    if effect.topic is Topic.CORDON or len(chain.of(Topic.BOOT)) > 1:
        # What comes after it says whether the node was drained, or was back.
        last = END if chain.back is None else chain.back.observed_at
    answers = [s.stored.observed_at for s in _answers(chain, effect)]
    last = max([last, *answers])
    return [
        hole
        for hole in holes
        if hole.begin <= last and (hole.until is None or hole.until >= first)
    ]


def _answers(chain: Episode, effect: Signal) -> list[Signal]:
    """Return what came of a fault of a node that is not seen to leave."""
    if effect.role is not Role.FAULT:
        return []
    return [s for s in chain.signals if s.position > effect.position]


def confidence_of(
    transition: Transition, verdict: Judged, *, holed: bool
) -> Confidence:
    """Return how sure a verdict is: as its weakest part, less in a gap."""
    parts: list[Confidence] = []
    if verdict.fault is not None:
        parts.append(verdict.fault.confidence)
    if verdict.decision is not None:
        parts.append(verdict.decision.confidence)
    if not parts:
        joined = verdict.happened == Happened.JOINED
        sure = joined and not holed and not verdict.contradictions
        return Confidence.PROVEN if sure else Confidence.UNKNOWN
    least = min(parts, key=rank)
    hidden = holed and _may_hide(transition, verdict.decision)
    if verdict.contradictions or hidden or is_half(transition, verdict):
        return min(least, Confidence.POSSIBLE, key=rank)
    if holed:
        return STRENGTHS[max(1, rank(least) - 1)]
    return least


def _may_hide(transition: Transition, decided: Decided | None) -> bool:
    """Whether what a gap hides may be another thing that happened.

    Evictions after a cordon, a cordon after a fault, a return between boots,
    the notice for which a program deleted a Node.
    """
    boots = transition.episode.of(Topic.BOOT)
    by_nobody = (
        decided is not None
        and decided.decision is Decision.NODE_DELETION
        and (decided.is_by_unknown or decided.actor.is_program)
    )
    return (
        by_nobody
        or transition.happened == Happened.CORDONED
        or len(boots) > 1
        or bool(_answers(transition.episode, transition.effect))
    )


def is_half(transition: Transition, verdict: Judged) -> bool:
    """Whether something was repaired, and no record says what broke.

    Who did it is known then, and why is not.
    """
    decided, remedy = verdict.decision, Decision.AUTO_REMEDIATION
    if decided is None or verdict.fault is not None:
        return False
    if decided.decision is not remedy and all(
        sign.decision is not remedy for sign in transition.decisions
    ):
        return False
    # By our own clock: a lease tells the time as its node has it. What a list
    # shows says itself when it was made.
    asked = decided.sign.stored
    since = min(asked.observed_at, asked.at)
    unready = transition.episode.baseline.ready not in {None, "True"} or any(
        sign.topic in {Topic.READY, Topic.SILENCE}
        and sign.stored.observed_at <= since
        for sign in transition.episode.signals
    )
    return not unready


def contradictions(transition: Transition) -> list[Contradiction]:
    """Return what the log says against itself, in the order of the log."""
    found = []
    for sign in transition.episode.of(Topic.REBOOTED):
        if is_explained(sign, transition.episode.boots):
            continue
        boot = transition.episode.state.boot_id
        named = boot_named(sign)
        but = (
            f"the boot ID of the Node is still {boot}"
            if named is None or named == boot
            else f"no version of the Node has the boot ID {named}"
        )
        found.append(_against(sign, but))
    gone = any(s.topic is Topic.IDENTITY for s in transition.episode.signals)
    for sign in transition.episode.of(Topic.REMOVING)[:1]:
        if not gone:
            but = "no deletion of the Node is recorded"
            found.append(_against(sign, but))
    return found


def _against(sign: Signal, but: str) -> Contradiction:
    return Contradiction(entry=sign.stored.entry, says=sign.says, but=but)


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
