"""Doubt: the confidence, evidence and mode of a verdict.

A gap in the time of the evidence lowers proven to likely, and to possible
what the gap may hide. Contradictions, where one of two records must be wrong,
are reported without deciding which one: a verdict that rests on one is at
most possible. So is a verdict on a repair without a record of what broke.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from recorder.explain.causes import FAULTS, STAYING
from recorder.explain.signals import LOSSES, Signal, Topic
from recorder.explain.thresholds import LIMITS, STRENGTHS, rank
from recorder.explain.tracks.bounds import boot_named, is_explained, is_first
from recorder.explain.tracks.episode import Episode
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import (
    Contradiction,
    Decided,
    Evidence,
    Faulted,
    Verdict,
)
from recorder.facts.coverage.hole import Hole
from recorder.model.outcomes import (
    Confidence,
    Decision,
    Fault,
    Happened,
    Mode,
    Role,
)

END: Final = datetime.max.replace(tzinfo=UTC)


def mode_of(
    transition: Transition,
    decided: Decided | None,
    faulted: Faulted | None,
    *,
    holed: bool,
) -> Mode:
    """Return whether what happened was planned."""
    if transition.happened == Happened.JOINED:
        return Mode.UNKNOWN
    if transition.was_shut_down:
        return Mode.PLANNED
    if decided is not None:
        if holed and decided.sign.is_inferred:
            return Mode.UNKNOWN  # it was seen with the effect, or as it
        # For any purpose, the removal of the Node was announced.
        said = decided.sign.vague and transition.happened == Happened.REMOVED
        sure = said or decided.confidence is not Confidence.POSSIBLE
        return (
            Mode.PLANNED
            if sure and not was_gone(transition, decided)
            else Mode.UNKNOWN
        )
    was_held = transition.was_lost and transition.was_cordoned
    anew = transition.was_lost and transition.episode.has(Topic.VERSION)
    decided_upon = (
        transition.happened in STAYING
        or transition.was_announced
        or was_held
        or anew
    )
    if decided_upon and not (faulted and FAULTS[faulted.fault].by_itself):
        return Mode.UNKNOWN  # a decision whose reason is not recorded
    return Mode.UNKNOWN if holed else Mode.ABRUPT


def was_gone(transition: Transition, decided: Decided) -> bool:
    """Return whether the deleted Node had been lost long before."""
    return decided.decision is Decision.NODE_DELETION and (
        transition.episode.baseline.ready == "Unknown"
        or transition.was_gone(decided.sign, LIMITS.not_long)
    )


def holes_over(
    transition: Transition, holes: Iterable[Hole]
) -> Sequence[Hole]:
    """Return the gaps of the log within the time of an episode."""
    chain, effect = transition.episode, transition.effect
    # By our own clock: a gap that ended before the first observation ended
    # in a list, which showed the state at that time.
    first = min(sign.seen for sign in chain.signals)
    last = max(effect.at, effect.seen)
    if effect.topic is Topic.CORDON or len(chain.of(Topic.BOOT)) > 1:
        # What follows shows whether the node was drained, or was back.
        last = END if chain.back is None else chain.back.observed_at
    answers = [s.seen for s in _answers(chain, effect)]
    last = max([last, *answers])
    return [
        hole
        for hole in holes
        if hole.begin <= last and (hole.until is None or hole.until >= first)
    ]


def _answers(chain: Episode, effect: Signal) -> list[Signal]:
    """Return what followed a fault of a node that did not leave service."""
    if effect.role is not Role.FAULT:
        return []
    return [s for s in chain.signals if s.position > effect.position]


def confidence_of(
    transition: Transition, verdict: Verdict, *, holed: bool
) -> Confidence:
    """Return the confidence of the weakest part, reduced by gaps.

    It is proven only if every other cause is excluded.
    """
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
    # What is reported and has no rule is no cause yet.
    if all(r.excluded or r.cause == Fault.OTHER for r in verdict.rivals):
        return least
    return min(least, Confidence.LIKELY, key=rank)


def _may_hide(transition: Transition, decided: Decided | None) -> bool:
    """Whether a gap may hide something that changes the verdict.

    Such as evictions after a cordon, a cordon after a fault, a return between
    boots, or the notice for which a program deleted a Node.
    """
    boots = transition.episode.of(Topic.BOOT)
    without_person = (
        decided is not None
        and decided.decision is Decision.NODE_DELETION
        and (decided.is_by_unknown or decided.actor.is_program)
    )
    return (
        without_person
        or transition.happened == Happened.CORDONED
        or len(boots) > 1
        or bool(_answers(transition.episode, transition.effect))
    )


def is_half(transition: Transition, verdict: Verdict) -> bool:
    """Whether something was repaired without a record of what broke.

    Then it is known who acted, but not why.
    """
    decided, remedy = verdict.decision, Decision.AUTO_REMEDIATION
    if decided is None or verdict.fault is not None:
        return False
    if decided.decision is not remedy and all(
        sign.decision is not remedy for sign in transition.decisions
    ):
        return False
    # By our own clock: a lease has the time of its node. What a list shows
    # has its time of creation.
    asked = decided.sign.stored
    since = min(asked.observed_at, asked.at)
    unready = transition.episode.baseline.ready not in {None, "True"} or any(
        sign.topic in LOSSES and sign.seen <= since
        for sign in transition.episode.signals
    )
    return not unready


def contradictions(transition: Transition) -> list[Contradiction]:
    """Return the contradictions in the log, in its order."""
    found = []
    for sign in transition.episode.of(Topic.REBOOTED):
        boots = transition.episode.boots
        if is_explained(sign, boots) or is_first(sign, boots):
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
    gone |= transition.happened is Happened.REMOVED
    for sign in transition.episode.of(Topic.REMOVING)[:1]:
        if not gone:
            but = "no deletion of the Node is recorded"
            found.append(_against(sign, but))
    return found


def _against(sign: Signal, but: str) -> Contradiction:
    return Contradiction(entry=sign.entry, says=sign.says, but=but)


EVIDENCE_MAX = 60
"""How many signals a verdict lists, so that a storm stays readable."""

SILENT = frozenset({Happened.UNREACHABLE, Happened.KUBELET_RESTART})
"""What happened where the counts of kubelets show which it was."""

DECISIVE = frozenset({Role.FAULT, Role.DECISION, Role.EFFECT})
"""Roles that show what happened and why, not the response to it."""


def evidence_of(
    transition: Transition,
    decided: Decided | None,
    faulted: Faulted | None,
    heard: Signal | None,
) -> tuple[Sequence[Evidence], int]:
    """Return the signals of an episode with their roles, in order of time.

    Also return how many were left out, if there are more than an answer
    lists. The last sign of life, ``heard``, is included if there is one.
    """
    chosen: dict[tuple[int, int], Evidence] = {}
    deciding = [transition.effect]
    deciding += [found.sign for found in (decided, faulted) if found]
    deciding += [heard] if heard is not None else []
    rested = {sign.order for sign in deciding}
    unruled = _unruled(transition, decided, faulted)
    for sign in [*transition.episode.signals, *unruled]:
        key = sign.order
        if key not in rested and any(sign is s for s in transition.apart):
            continue
        if not _is_relevant(transition, sign, decided):
            continue
        role = sign.role
        if decided is not None and key == decided.sign.order:
            role = Role.DECISION
        if faulted is not None and key == faulted.sign.order:
            role = Role.EFFECT if sign is transition.effect else Role.FAULT
        chosen.setdefault(key, Evidence.of(role, sign))
    if heard is not None:
        chosen.setdefault(heard.order, Evidence.of(heard.role, heard))
    found = sorted(chosen.values(), key=_place)
    kept = most_relevant(found, rested, EVIDENCE_MAX)
    return [found[place] for place in kept], len(found) - len(kept)


def _unruled(
    transition: Transition, decided: Decided | None, faulted: Faulted | None
) -> Iterator[Signal]:
    """Yield the signals without a rule that a verdict rests on.

    The fault, its end, and the acts, as their authors wrote them.
    """
    if decided is not None:
        yield from (s for s in decided.steps if not s.ruled)
    if faulted is None or faulted.sign.ruled:
        return
    fault = faulted.sign
    yield fault
    for mark in transition.episode.marks:
        if mark.subject == fault.subject and mark.order > fault.order:
            ended = mark.status != fault.status
            role = Role.RECOVERY if ended else Role.FAULT
            yield mark._replace(role=role, over=ended)


def most_relevant(
    evidence: Sequence[Evidence],
    rested: Container[tuple[int, int]],
    most: int,
) -> Sequence[int]:
    """Return the indexes of the most relevant signals, in order.

    The signals that a verdict rests on, at these places, are always included;
    then what happened and why; the beginning and the end precede the middle.
    """
    if len(evidence) <= most:
        return range(len(evidence))

    def worth(place: int) -> tuple[int, int]:
        one = evidence[place]
        rank = 1 if one.role in DECISIVE else 2
        if one.sign.order in rested:
            rank = 0
        return rank, min(place, len(evidence) - 1 - place)

    return sorted(sorted(range(len(evidence)), key=worth)[:most])


def _place(evidence: Evidence) -> tuple[datetime, int, int]:
    """Return the sort key of a signal in a timeline.

    Most times in a cluster are whole seconds, ours are finer: within a second
    the order of the log is better.
    """
    sign = evidence.sign
    second = sign.at.replace(microsecond=0)
    return second, sign.position, sign.stored.index


def _is_relevant(
    transition: Transition, sign: Signal, decided: Decided | None
) -> bool:
    """Return whether a signal shows more than that a component was running.

    Of audit, only the request of the decision does; the count of a kubelet
    shows whether it was silent.
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
