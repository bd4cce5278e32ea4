"""Doubt: the confidence, evidence and mode of a verdict.

A gap in the time of the evidence lowers proven to likely, and to possible
what the gap may hide. Contradictions, where one of two records must be wrong,
are reported without deciding which one: a verdict that rests on one is at
most possible. So is a verdict on a repair without a record of what broke.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import datetime

from recorder.explain.causes import FAULTS, STAYING
from recorder.explain.signals.signal import LOSSES, SHUT_DOWN, Signal, Topic
from recorder.explain.thresholds import LIMITS, STRENGTHS, rank, weaker
from recorder.explain.tracks.bounds import boot_named, is_explained, is_first
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import (
    Contradiction,
    Decided,
    Evidence,
    Faulted,
    Verdict,
)
from recorder.facts.coverage.hole import Hole
from recorder.model.moment import LAST
from recorder.model.outcomes import (
    Confidence,
    Decision,
    Fault,
    Happened,
    Mode,
    Role,
)


def mode_of(
    transition: Transition,
    decided: Decided | None,
    faulted: Faulted | None,
    *,
    holed: bool,
) -> Mode:
    """Return whether what happened was planned."""
    t = transition
    if t.happened == Happened.JOINED:
        return Mode.UNKNOWN
    if t.shutdown:
        return Mode.PLANNED
    if decided is not None:
        # For any purpose, the removal of the Node was announced.
        said = decided.sign.vague and t.happened == Happened.REMOVED
        sure = said or decided.confidence is not Confidence.POSSIBLE
        # In a gap it was seen with the effect, or as it.
        hidden = holed and decided.sign.is_inferred
        planned = sure and not hidden and not was_gone(t, decided)
        return Mode.PLANNED if planned else Mode.UNKNOWN
    by_itself = faulted is not None and FAULTS[faulted.fault].by_itself
    # A decision whose reason is not recorded.
    decided_upon = (
        t.happened in STAYING
        or bool(t.announced)
        or (t.was_lost and (t.was_cordoned or t.episode.has(Topic.VERSION)))
        or any(s.subject == SHUT_DOWN for s in t.episode.signals)
    )
    unknown = holed or (decided_upon and not by_itself)
    return Mode.UNKNOWN if unknown else Mode.ABRUPT


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
        last = LAST if chain.back is None else chain.back.observed_at
    last = max([last, *(s.seen for s in _answers(transition))])
    return [
        hole
        for hole in holes
        if hole.begin < last and (hole.until is None or hole.until >= first)
    ]


def _answers(transition: Transition) -> list[Signal]:
    """Return what followed a fault of a node that did not leave service."""
    effect, signals = transition.effect, transition.episode.signals
    fault = effect.role is Role.FAULT
    return [s for s in signals if fault and s.position > effect.position]


def confidence_of(transition: Transition, verdict: Verdict) -> Confidence:
    """Return the confidence of the weakest part, reduced by gaps.

    It is proven only if every other cause is excluded.
    """
    holed = bool(verdict.hiding)
    parts = [p.confidence for p in (verdict.fault, verdict.decision) if p]
    if not parts:
        joined = verdict.happened == Happened.JOINED
        sure = joined and not holed and not verdict.contradictions
        return Confidence.PROVEN if sure else Confidence.UNKNOWN
    least = weaker(*parts)
    hidden = holed and _may_hide(transition, verdict.decision)
    if verdict.contradictions or hidden or _is_half(transition, verdict):
        return weaker(least, Confidence.POSSIBLE)
    if holed:
        return STRENGTHS[max(1, rank(least) - 1)]
    # What is reported and has no rule is no cause yet.
    if all(r.excluded or r.cause == Fault.OTHER for r in verdict.rivals):
        return least
    return weaker(least, Confidence.LIKELY)


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
        or bool(_answers(transition))
    )


def _is_half(transition: Transition, verdict: Verdict) -> bool:
    """Whether something was repaired without a record of what broke.

    Then it is known who acted, but not why; in a gap, also if another had
    begun the repair.
    """
    decided = verdict.decision
    if decided is None or verdict.fault is not None:
        return False
    steps = transition.decisions if verdict.hiding else decided.steps
    said = [decided.decision, *(s.decision for s in steps)]
    if Decision.AUTO_REMEDIATION not in said:
        return False
    # By our own clock: a lease has the time of its node. What a list shows
    # has its time of creation.
    since = min(decided.sign.seen, decided.sign.at)
    return transition.episode.baseline.ready in {None, "True"} and not any(
        sign.topic in LOSSES and sign.seen <= since
        for sign in transition.episode.signals
    )


def contradictions(transition: Transition) -> list[Contradiction]:
    """Return the contradictions in the log, in its order."""
    found, episode = list[Contradiction](), transition.episode
    for sign in episode.of(Topic.REBOOTED):
        if is_explained(sign, episode.boots) or is_first(sign, episode.boots):
            continue
        boot, named = episode.state.boot_id, boot_named(sign.stored)
        but = (
            f"the boot ID of the Node is still {boot}"
            if named in {None, boot}
            else f"no version of the Node has the boot ID {named}"
        )
        found.append(Contradiction(entry=sign.entry, says=sign.says, but=but))
    return found


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
    roles = {}
    if decided is not None:
        roles[decided.sign.order] = Role.DECISION
    if faulted is not None:
        own = faulted.sign is transition.effect
        roles[faulted.sign.order] = Role.EFFECT if own else Role.FAULT
    rested = {transition.effect.order, *roles}
    signals = [
        *transition.episode.signals,
        *_unruled(transition, decided, faulted),
    ]
    if heard is not None:
        rested.add(heard.order)
        signals.append(heard)
    chosen: dict[tuple[int, int], Evidence] = {}
    for sign in signals:
        key = sign.order
        apart = any(sign is s for s in transition.apart)
        if key in rested or (
            not apart and _is_relevant(transition, sign, decided)
        ):
            one = Evidence.of(roles.get(key, sign.role), sign)
            chosen.setdefault(key, one)
    found = sorted(chosen.values(), key=_place)
    kept = most_relevant(found, rested, EVIDENCE_MAX)
    return [found[place] for place in kept], len(found) - len(kept)


def _unruled(
    transition: Transition, decided: Decided | None, faulted: Faulted | None
) -> Iterator[Signal]:
    """Yield the signals without a rule that a verdict rests on.

    The fault, its end, and the acts, as their authors wrote them; without a
    decision, what was planned.
    """
    acts = transition.announced if decided is None else decided.steps
    yield from (s for s in acts if not s.ruled)
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
    last = len(evidence) - 1

    def worth(place: int) -> tuple[bool, bool, int]:
        one = evidence[place]
        rests = one.sign.order in rested
        return not rests, one.role not in DECISIVE, min(place, last - place)

    return sorted(sorted(range(len(evidence)), key=worth)[:most])


def _place(evidence: Evidence) -> tuple[datetime, int, int]:
    """Return the sort key of a signal in a timeline.

    Most times in a cluster are whole seconds, ours are finer: within a second
    the order of the log is better.
    """
    sign = evidence.sign
    return sign.at.replace(microsecond=0), *sign.order


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
