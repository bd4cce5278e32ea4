"""Answers: the best path to each transition of a node, and its rivals.

An answer states what happened, what broke, who decided it, and when the node
was back in service. Paths are compared by their weakest link, then by what
their text states, then by time. A cause without a record is `unrecorded`, and
the verdict names the evidence that would have shown it.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from recorder.explain.causes import DECISIONS, GONE, STAYED
from recorder.explain.doubt import (
    confidence_of,
    contradictions,
    evidence_of,
    holes_over,
    mode_of,
    was_gone,
)
from recorder.explain.faults import fault_of
from recorder.explain.links import is_given_back, led_to, ordered
from recorder.explain.measured import measured
from recorder.explain.rivals import missing, rivals
from recorder.explain.sentences import sentence
from recorder.explain.signals.actor import Actor, is_same
from recorder.explain.signals.signal import Topic
from recorder.explain.steps import steps_of
from recorder.explain.thresholds import LIMITS, rank, weaker
from recorder.explain.tracks.bounds import (
    heard_again,
    last_sign,
    not_after,
    not_before,
)
from recorder.explain.tracks.episode import Episode
from recorder.explain.tracks.fleet import Fleet
from recorder.explain.tracks.interventions import (
    Intervention,
    interventions_of,
)
from recorder.explain.tracks.transition import Transition, follows
from recorder.explain.tracks.transitions import happenings
from recorder.explain.verdict import (
    AnsweredFault,
    Decided,
    Duration,
    Faulted,
    Stage,
    Verdict,
)
from recorder.facts.coverage.hole import Hole
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import Appeared, BootChanged
from recorder.model.outcomes import (
    Cause,
    Confidence,
    Decision,
    DurationKind,
    Fault,
    Happened,
)

EMPTYING: Final = frozenset({Topic.CORDON, Topic.EVICTION})

_STAGES: Final = {
    Topic.STAGE: "",
    Topic.KUBELET: "kubelet",
    Topic.IDENTITY: "registered",
    Topic.READY: "ready",
}
"""Stages of a start, by what shows them; a claim names its own."""


def judge(
    chain: Episode,
    fleet: Fleet,
    *,
    holes: Iterable[Hole] = (),
    absent: Collection[str] = (),
) -> list[Verdict]:
    """Return the verdicts on what happened in an episode, in log order.

    Args:
        chain: the episode.
        fleet: the other nodes at the time.
        holes: when the log may be incomplete.
        absent: sources and resources that were never recorded.
    """
    holes = tuple(holes)
    verdicts, spent = [], 0
    for happened, effect, apart in happenings(chain):
        transition = Transition(
            chain, happened, effect, fleet, absent, apart, spent
        )
        verdicts.append(_verdict(transition, holes))
        if happened == Happened.REBOOT:
            spent = effect.position
    return verdicts


def _verdict(transition: Transition, holes: Sequence[Hole]) -> Verdict:
    acted = interventions_of(transition)
    decided, broken = _decided(transition, acted), fault_of(transition)
    broken = broken or _unheard_before(transition, decided)
    if broken and decided and _outweighs(transition, broken, decided):
        decided = None
    if broken and decided and _is_beside(transition, broken, decided, acted):
        broken = None
    faulted = _tempered(transition, broken, decided)
    hiding = holes_over(transition, holes)
    found = _found(transition, acted, decided, faulted, hiding)
    verdict = measured(transition, found)
    verdict = replace(verdict, rivals=rivals(transition, verdict))
    verdict = replace(
        verdict,
        confidence=confidence_of(transition, verdict),
        missing=missing(transition, verdict),
    )
    return replace(verdict, sentence=sentence(verdict))


def _found(
    transition: Transition,
    acted: Sequence[Intervention],
    decided: Decided | None,
    faulted: Faulted | None,
    hiding: Sequence[Hole],
) -> Verdict:
    """Return a verdict without the parts that follow from the others."""
    chain, effect = transition.episode, transition.effect
    stays = transition.happened in STAYED
    last, first = not_before(transition), not_after(transition)
    back = None if stays else chain.back
    before, after = _boots(transition)
    decisive = None if decided is None else decided.sign
    heard = last_sign(transition, last, decisive)
    evidence, left_out = evidence_of(transition, decided, faulted, heard)
    down = down_of(transition, last)
    away = away_of(transition, back, last, down)
    seen = effect.seen
    return Verdict(
        id=str(effect.entry),
        node=chain.node,
        node_uid=chain.baseline.uid or chain.state.uid,
        happened=transition.happened,
        boot_id_before=before,
        boot_id_after=after,
        between=(last, first),
        not_before=last,
        not_after=first,
        down_seconds=None if down is None else down.seconds,
        away_seconds=None if away is None else away.seconds,
        duration=degraded_of(transition) if stays else shown(down, away),
        clock_skew_seconds=chain.skew.total_seconds(),
        began_at=min(chain.began.at, effect.at),
        at=effect.at,
        back_in_service_at=None
        if back is None
        else max(back.observed_at, seen),
        mode=mode_of(transition, decided, faulted, holed=bool(hiding)),
        cause=_cause(faulted, decided),
        fault=faulted,
        decision=decided,
        because=_because(decided, faulted),
        intervention=None if decided is None else decided.intervention,
        sentence="",
        confidence=Confidence.UNKNOWN,
        steps=steps_of(transition, decided, faulted, evidence, last, heard),
        evidence=evidence,
        evidence_left_out=left_out,
        rivals=(),
        contradictions=contradictions(transition),
        gaps=sorted({gap for hole in hiding if (gap := hole.opened)}),
        missing=(),
        effect=effect,
        lost_at=_first_proof(transition),
        acted_at=_acted_at(transition, acted, decided),
        down=down,
        away=away,
        hiding=hiding,
        last_stage=UNSET if stays or back else _last_stage(transition),
    )


def _last_stage(transition: Transition) -> Stage | UnsetType:
    """Return how far a machine came after it was lost, if that is recorded."""
    lost = transition.lost_at
    since = [s for s in transition.episode.signals if s.at >= lost]
    if not any(s.topic is Topic.STAGE for s in since):
        return UNSET
    last = max(
        (
            s
            for s in since
            # Of Ready what ends a loss, of the others what begins.
            if s.topic is Topic.STAGE
            or (s.topic in _STAGES and s.over == (s.topic is Topic.READY))
        ),
        key=lambda s: (s.at, s.position, _STAGES[s.topic]),
    )
    stage = _STAGES[last.topic] or last.subject.name
    return Stage(stage=stage, at=last.at, entry=last.entry)


def _decided(
    transition: Transition, acted: Sequence[Intervention]
) -> Decided | None:
    if transition.happened in STAYED and not transition.decisions:
        return None
    paths = [
        (led, one, place)
        for place, one in enumerate(acted)
        if (led := led_to(transition, one)) is not None
    ]
    paths += [
        (ordered(one, carried), one, place)
        for place, one in enumerate(acted)
        if one.is_by_hand
        for carried, other, _ in tuple(paths)
        if any(is_same(other.author, asked) for asked in one.asked)
    ]
    if not paths:
        return _upgraded_in_order(transition)
    led, one, _ = max(
        paths,
        key=lambda p: (
            rank(p[0].strength),
            transition.happened in GONE and p[0].takes,
            p[0].weight,
            -p[2],
        ),
    )
    most = Confidence.LIKELY if one.presumed else Confidence.PROVEN
    decided = Decided.by(
        led.decision, led.step, led.actor, weaker(most, led.strength),
        one.steps, carrier_of(one, acted),
    )  # fmt: skip
    if decided.decision is Decision.NODE_DELETION and not led.takes:
        decided = _emptied_before(transition, decided, one, acted)
    actor, faults = led.actor, transition.faults
    cleans = actor is None or (actor.is_program and not faults)
    if cleans and was_gone(transition, decided):
        # A Node is deleted for a reason if it was lost long before.
        return replace(decided, confidence=Confidence.POSSIBLE)
    return decided


def _emptied_before(
    transition: Transition,
    decided: Decided,
    deleted: Intervention,
    acted: Sequence[Intervention],
) -> Decided:
    """Return the deletion as a decision of the one who drained the Node.

    A controller that deletes a Node because its instance is gone gives no
    reason of its own; the one who drained it may have stated one.
    """
    if any(step.topic in EMPTYING for step in deleted.steps):
        return decided
    for one in reversed(acted):
        held = one.of(Topic.CORDON) or one.of(Topic.TAINT)
        if (
            deleted.is_by_program
            and held
            and any(map(transition.is_recent, one.of(Topic.EVICTION)))
            and one.first.position < deleted.first.position
        ):
            decision, sure = decided.decision, Confidence.LIKELY
            own = led_to(transition, one)
            if own is not None and DECISIONS[own.decision].gives_up:
                decision, sure = own.decision, own.strength
            sure = weaker(sure, decided.confidence)
            return Decided.by(
                decision, held[0], one.author, sure, one.steps, decided.actor
            )
    return decided


def _upgraded_in_order(transition: Transition) -> Decided | None:
    """Return the upgrade for which a system shut down in order, by anyone.

    The system that came back is another, and it did not go by itself.
    """
    orderly, episode = transition.shutdown, transition.episode
    rebooted = transition.happened == Happened.REBOOT
    if orderly is None or not (rebooted and episode.of(Topic.VERSION)):
        return None
    return Decided.by(
        Decision.OS_UPGRADE, orderly, None, Confidence.LIKELY, [orderly]
    )


def _cause(faulted: Faulted | None, decided: Decided | None) -> Cause:
    """Return the fault, else the decision, else ``unrecorded``."""
    if faulted is not None:
        return Cause(faulted.fault)
    if decided is not None:
        return Cause(decided.decision)
    return Cause.UNRECORDED


def _because(
    decided: Decided | None, faulted: Faulted | None
) -> AnsweredFault | None:
    """Return the fault that the intervention responds to, if any.

    It led to what happened through the intervention, so it is one link, with
    its confidence as the cause.
    """
    if not (decided and faulted and follows(decided.sign, faulted.sign)):
        return None
    entry, sure = faulted.sign.entry, faulted.confidence
    return AnsweredFault(entry=entry, says=faulted.says, confidence=sure)


def _acted_at(
    transition: Transition,
    acted: Iterable[Intervention],
    decided: Decided | None,
) -> datetime | None:
    """Return when an intervention began, or the node was first emptied.

    A cordon from long before the first list empties nothing any more.
    """
    began = [s for one in acted for s in one.steps if s.topic in EMPTYING]
    began += [] if decided is None else decided.steps
    holding = [
        step.seen
        for step in began
        if not (step.listed and step.topic is Topic.CORDON)
        or transition.is_recent(step)
    ]
    return min(holding, default=None)


def _outweighs(
    transition: Transition, broken: Faulted, decided: Decided
) -> bool:
    """Return whether the fault, not a decision, explains what happened.

    A panic is proven, and no order took the neighbors down as well: a drain
    of one machine is shown beside it.
    """
    if decided.confidence is Confidence.POSSIBLE:
        own = broken.sign is transition.effect
        if (
            broken.fault is Fault.KERNEL_PANIC
            or broken.sign.excludes
            or (own and rank(broken.confidence) > rank(decided.confidence))
        ):
            return True
    return (
        decided.decision is Decision.MANUAL_DRAIN
        and broken.fault is Fault.POWER_LOSS
        and broken.confidence is Confidence.LIKELY
    )


def _is_beside(
    transition: Transition,
    broken: Faulted,
    decided: Decided,
    acted: Iterable[Intervention],
) -> bool:
    """Return whether a fault that may be none is no reason for a decision.

    No act names it; or only the effect shows it, and is one of the steps: the
    author who took the node out of service gave it back after it.
    """
    if broken.confidence is not Confidence.POSSIBLE:
        return False
    if broken.sign is not transition.effect:
        return broken.sign.vague and DECISIONS[decided.decision].stated
    return decided.confidence is not Confidence.POSSIBLE and any(
        is_same(one.author, decided.actor) and is_given_back(transition, one)
        for one in acted
    )


def _tempered(
    transition: Transition, faulted: Faulted | None, decided: Decided | None
) -> Faulted | None:
    """Return a fault with less confidence if another reason is possible.

    The reason for a drain by a person is not recorded, and a node that boots
    another system was perhaps only upgraded. A program that first reports a
    fault after the boot runs in that boot and cannot have seen the previous
    one, whatever its clock says; what finds a dump of a panic can.
    """
    if faulted is None or faulted.sign.excludes:
        return faulted  # the machine itself recorded it
    fault, most = faulted.sign, Confidence.PROVEN
    if transition.happened == Happened.REBOOT and (
        (decided is None and transition.episode.of(Topic.VERSION))
        or (
            fault.fault is not Fault.KERNEL_PANIC
            and fault.position > transition.effect.position
            and fault.kind is FactKind.CONDITION_CHANGED
        )
    ):
        most = Confidence.POSSIBLE
    elif decided and decided.decision is Decision.MANUAL_DRAIN:
        most = Confidence.LIKELY
    return replace(faulted, confidence=weaker(most, faulted.confidence))


def _unheard_before(
    transition: Transition, decided: Decided | None
) -> Faulted | None:
    """Return the loss of contact that a controller's order responds to."""
    if (
        decided is None
        or decided.decision is not Decision.AUTO_REMEDIATION
        or decided.sign.is_inferred
    ):
        return None
    lost = next(iter(transition.episode.of(Topic.READY)), None)
    if (
        lost is None
        or lost.position >= decided.sign.position
        or lost.status != "Unknown"
    ):
        return None
    return Faulted.by(Fault.PARTITION, lost, Confidence.LIKELY)


def _boots(transition: Transition) -> tuple[str | None, str | None]:
    episode, effect = transition.episode, transition.effect
    if transition.happened == Happened.REBOOT:
        if isinstance(effect.detail, BootChanged):
            return effect.detail.old, effect.detail.new
        return None, episode.state.boot_id
    before = episode.baseline.boot_id
    after = episode.state.boot_id if episode.state.present else None
    if transition.happened not in GONE | {Happened.JOINED}:
        for boot in episode.of(Topic.BOOT):
            before = boot.boot if boot.position <= effect.position else before
        after = before
    return before, after


def _first_proof(transition: Transition) -> datetime:
    """Return when the effect was first seen, or before it a loss of Ready."""
    lost = transition.episode.of(Topic.READY)[:1]
    seen = transition.effect.seen
    return min([seen, *(s.seen for s in lost if transition.was_lost)])


def shown(down: Duration | None, away: Duration | None) -> Duration | None:
    """Return the time down, or else the time out of service.

    Lists, sentences, cards, counts and reports show the same duration; none
    shows one that is shorter than a second.
    """
    known = (one for one in (down, away) if one is not None)
    least = LIMITS.asynchronous
    return next((one for one in known if one.length >= least), None)


def down_of(transition: Transition, last: datetime | None) -> Duration | None:
    """Return the time from a last proof of life to the next one.

    When in this time the node stopped is not known. None if it was never
    down, is not back, or was not heard from before.
    """
    again = heard_again(transition) if transition.is_back else None
    if last is None or again is None:
        return None
    length = max(again - last, timedelta())
    return Duration.of(DurationKind.DOWN, length, at_most=True)


def away_of(
    transition: Transition,
    back: StoredFact | None,
    proved: datetime | None,
    down: Duration | None,
) -> Duration | None:
    """Return how long a node was not in service; None while it is not.

    For a lost node it begins with the last proof of life, if that precedes the
    first sight of it out of service. A node that was never seen out of
    service was out of it while it was down.
    """
    left = transition.episode.left_at
    if back is None:
        return None
    if left is None:
        return down and replace(down, kind=DurationKind.AWAY)
    # What a list shows first, as in a dump, had been so before.
    seen = back.fact.detail
    bound = isinstance(seen, Appeared) and not seen.created
    if transition.was_lost and proved is not None and proved < left:
        left, bound = proved, True
    length = max(back.observed_at - left, timedelta())
    return Duration.of(DurationKind.AWAY, length, at_most=bound)


def degraded_of(transition: Transition) -> Duration | None:
    """Return how long a fault of a node in service lasted.

    None while it lasts, if no end is recorded, and of a node that joined.
    """
    fault, episode = transition.effect, transition.episode
    if transition.happened is not Happened.DEGRADED:
        return None
    ends = [
        mark
        for mark in (*episode.signals, *episode.marks)
        if mark.subject == fault.subject
        and mark.order > fault.order
        and (mark.over or mark.status != fault.status)
    ]
    end = min(ends, key=lambda mark: mark.order, default=None)
    if end is None:
        return None
    length = max(end.at - fault.at, timedelta())
    return Duration.of(DurationKind.DEGRADED, length, at_most=end.listed)


def carrier_of(
    root: Intervention, acted: Sequence[Intervention]
) -> Actor | None:
    """Return who carried out an intervention, if its author did not.

    An order asks the program whose literal or object it uses; that program may
    have passed the order on.
    """
    if not root.asked:
        return None
    asked = root.asked[-1]
    others = [one for one in acted if one is not root]
    for one in others:
        if is_same(one.author, asked) and one.asked:
            return carrier_of(one, others)
    return asked
