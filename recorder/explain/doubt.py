"""Doubt: how sure a verdict is, and whether what happened was planned.

A gap over the time that it rests on lowers what is proven to likely, and what
rests on what the gap may hide to possible. Contradictions, records of which
one must be wrong, are reported without deciding which one is: a verdict that
rests on one is at most possible. So is a verdict about a repair of which no
record says what broke.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from recorder.explain.causes import FAULTS
from recorder.explain.happened import STAYING
from recorder.explain.signals import Signal, Topic
from recorder.explain.strength import STRENGTHS, rank
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.boots import boot_named, is_explained
from recorder.explain.tracks.episodes import Episode
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Contradiction, Decided, Faulted, Judged
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
    "holes_over",
    "mode_of",
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
