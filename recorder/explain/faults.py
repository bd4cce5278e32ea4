"""Faults: which fault explains what happened to a node.

Of recorded faults, the latest one that still held counts. Those in
``INFERRED`` follow from what happened to the node and to nodes near it.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from recorder.explain.breadth import (
    breadth_of,
    dpu_fault,
    is_wide,
    shared_place,
    together,
    wide_fault,
)
from recorder.explain.causes import FAULTS, GONE, Weight
from recorder.explain.links import is_answered
from recorder.explain.signals import Signal, Subject, Topic, is_unseen
from recorder.explain.thresholds import LIMITS, rank, weaker
from recorder.explain.tracks.bounds import counted
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Faulted
from recorder.model.outcomes import Confidence, Decision, Fault, Happened

WEIGHTS: Final = tuple(Weight)


class Found(NamedTuple):
    """Evidence of a fault, and how many other causes it rules out."""

    sign: Signal
    confidence: Confidence


def fault_of(transition: Transition) -> Faulted | None:
    """Return the fault that explains a transition best, if any does."""
    if transition.happened == Happened.JOINED:
        return None
    witnessed = _witnessed(transition)
    every = (
        (fault, witnessed.get(fault) or _find(fault, transition))
        for fault in FAULTS
    )
    found = [(fault, one) for fault, one in every if one is not None]
    if not found:
        return None
    fault, one = max(
        found,
        key=lambda f: (_weight(*f), rank(f[1].confidence), f[0]),
    )
    return Faulted.by(fault, one.sign, one.confidence)


def _weight(fault: Fault, found: Found) -> int:
    proved = found.sign.excludes or is_wide(found.sign)
    return WEIGHTS.index(Weight.PROVED if proved else FAULTS[fault].weight)


def _find(fault: Fault, transition: Transition) -> Found | None:
    found = wide_fault(transition, fault) or dpu_fault(transition, fault)
    if found is not None:
        return Found(*found)
    infer = INFERRED.get(fault)
    return infer(transition) if infer else _recorded(fault, transition)


def _witnessed(transition: Transition) -> dict[Fault, Found]:
    """Find what the machine itself recorded when it was lost, if it was.

    A machine that comes back in the same boot did not lose power.
    """
    t = transition
    is_away = (
        t.happened == Happened.UNREACHABLE and t.episode.state.ready != "True"
    )
    if t.was_shut_down or not (t.happened in BOOTED or is_away):
        return {}
    boots = [
        boot.at
        for boot in t.episode.of(Topic.BOOT)
        if boot.position < t.effect.position
    ]
    since = max([t.lost_at - LIMITS.moment, *boots])
    until, found = t.effect.stored.at, dict[Fault, Found]()
    for sign in t.episode.signals:
        if sign.fault and sign.excludes and since <= sign.stored.at <= until:
            found.setdefault(sign.fault, Found(sign, Confidence.PROVEN))
    return found


def _recorded(fault: Fault, transition: Transition) -> Found | None:
    """Find a recorded fault that still held.

    Only the latest counts: an earlier one had not taken the node away.
    """
    faults = transition.faults
    if not faults or faults[0].fault is not fault:
        return None
    signal = faults[0]
    answered = is_answered(transition, signal)
    # A repair of such a part may have restarted the kubelet.
    spared = (
        transition.happened == Happened.KUBELET_RESTART
        and FAULTS[fault].spares_kubelet
    )
    harmless = FAULTS[fault].harmless and transition.was_lost
    near = transition.is_recent(signal) and not (spared or harmless)
    if not answered and not near:
        # A fault that has been there for days is no reason for a cordon.
        if transition.was_lost and not harmless:
            return Found(signal, Confidence.POSSIBLE)
        return None
    return Found(signal, _strength(transition, signal, answered=answered))


def _strength(
    transition: Transition, signal: Signal, *, answered: bool
) -> Confidence:
    if signal.topic is Topic.GPUS:
        # The device plugin took a GPU away and did not say why.
        return Confidence.LIKELY
    if signal.topic is Topic.READY:
        # A kubelet waits for a part as well while the kernel hangs.
        lost = transition.was_lost
        return Confidence.POSSIBLE if lost else Confidence.LIKELY
    if transition.episode.is_carried(signal) and not answered:
        # It may only not have been ended since another boot.
        return Confidence.POSSIBLE
    since = transition.lost_at - signal.at
    booted = transition.happened == Happened.REBOOT
    alone = booted and not (answered or transition.decisions)
    if alone and since > LIMITS.patience:
        # A part that fails takes its machine along at once, or is repaired.
        return Confidence.POSSIBLE
    # What a monitor alone says is never proven.
    own = not transition.was_lost and signal.stored.fact.actor == "kubelet"
    return Confidence.PROVEN if answered or own else Confidence.LIKELY


def _kernel_panic(transition: Transition) -> Found | None:
    """Only a record from the machine proves a panic."""
    if transition.happened != Happened.REBOOT or transition.was_shut_down:
        return None
    for sign in transition.episode.signals:
        if sign.fault is Fault.KERNEL_PANIC and _is_of_this(transition, sign):
            sure = Confidence.LIKELY if sign.vague else Confidence.PROVEN
            return Found(sign, sure)
    return None


def _is_of_this(transition: Transition, sign: Signal) -> bool:
    """Whether a panic caused this boot: its dump is found after it."""
    lost = [s.seen for s in transition.episode.of(Topic.READY)[:1]]
    gone = min([transition.effect.seen, *lost])
    return sign.seen >= gone and sign.at >= gone - LIMITS.moment


BOOTED: Final = GONE | {Happened.REBOOT}
"""What a machine does not survive running."""

NODES_DISTINCT: Final = 3
"""With fewer nodes, all may be behind one switch."""


def _control_plane_outage(transition: Transition) -> Found | None:
    """The control plane lost all nodes at once."""
    if transition.happened != Happened.UNREACHABLE:
        return None
    fleet, whole = transition.fleet, breadth_of(transition, None)
    # Even then, one of them may have crashed by itself.
    crashed = fleet.booted_after(whole.agree, transition.lost_at)
    sure = whole._replace(
        agree=whole.agree - crashed, well=whole.well | crashed
    ).confidence
    if sure is None:
        return None
    if sure is Confidence.POSSIBLE:
        # Some went on, such as those that hold no connection to it.
        return Found(transition.effect, sure) if _is_wide(transition) else None
    if transition.episode.state.ready != "True":
        # They may be down as well: their return will show it.
        return Found(transition.effect, Confidence.POSSIBLE)
    many = len(fleet.nodes) >= NODES_DISTINCT and not crashed
    return Found(
        transition.effect, Confidence.PROVEN if many else Confidence.LIKELY
    )


def _container_oom(transition: Transition) -> Found | None:
    """A container exceeded its limit, which does not take a node away."""
    effect = transition.effect
    if effect.fault is not Fault.CONTAINER_OOM or transition.faults:
        return None
    return Found(effect, Confidence.PROVEN)


def _other_fault(transition: Transition) -> Found | None:
    """A recorded fault of no known class; less sure if no act names it."""
    found = _recorded(Fault.OTHER, transition)
    if found is not None and found.sign.vague:
        # No rule names it; a node was held for it, or taken out after it.
        sure = transition.certainty(found.sign)
        return Found(found.sign, weaker(found.confidence, sure))
    if (
        found is None
        or not transition.was_lost
        or is_answered(transition, found.sign)
    ):
        return found
    # No rule says that what is wrong there can take a machine away.
    return Found(found.sign, Confidence.POSSIBLE)


def _kubelet_failure(transition: Transition) -> Found | None:
    """The kubelet stopped or restarted; the machine kept running."""
    found = _recorded(Fault.KUBELET, transition)
    if found is not None:
        return found
    if (
        transition.happened != Happened.KUBELET_RESTART
        or transition.faults
        # A request or another version needs no other explanation.
        or any(
            s.decision is Decision.ADMIN_REQUEST and not s.vague
            for s in transition.decisions
        )
        or transition.episode.has(Topic.VERSION)
    ):
        return None
    # It was away; what stopped it may not be recorded.
    return Found(transition.effect, Confidence.POSSIBLE)


def _power_loss(transition: Transition) -> Found | None:
    """Machines that share a place stop at once and boot again."""
    if (
        transition.happened != Happened.REBOOT
        or transition.decisions
        or transition.faults
        or transition.was_shut_down
    ):
        return None
    shared, fleet = shared_place(transition), transition.fleet
    if shared is None:
        return None
    others = shared.agree - {transition.episode.node}
    aside = fleet.set_aside(others, transition.lost_at)
    if (
        _is_taken_down(transition, emptied=bool(aside))
        or fleet.booted_after(others, transition.lost_at) != others
    ):
        return None
    # How a node went that was lost when the log began is not recorded; and
    # an author who had set all the others aside may have switched them off.
    seen = transition.episode.baseline.ready == "True"
    sure = seen and aside != others
    return Found(
        transition.effect, Confidence.LIKELY if sure else Confidence.POSSIBLE
    )


def _is_taken_down(transition: Transition, *, emptied: bool) -> bool:
    """Whether a person or a program was about to take the machine down.

    A cordon by hand alone does not explain a loss. A person who emptied one
    machine and cordoned no other did not take the others down.
    """
    cordon = transition.first(Topic.CORDON)
    if cordon is None:
        return False
    author = transition.author(cordon)
    by_hand = author is not None and not (author.is_program or author.library)
    return not by_hand or (
        emptied and transition.first(Topic.EVICTION) is not None
    )


STOPPED: Final = Subject(
    Topic.TAINT, "node.cloudprovider.kubernetes.io/shutdown"
)


def _network_partition(transition: Transition) -> Found | None:
    """The network failed: the node is silent, then as it was before."""
    episode = transition.episode
    if (
        transition.happened != Happened.UNREACHABLE
        or transition.faults
        # What was announced needs no other explanation.
        or transition.decisions
        # A gap hid it, and perhaps that the control plane failed.
        or is_unseen(transition.effect)
        # The cloud reports the machine as stopped: the network did not fail.
        or any(s.subject == STOPPED and not s.over for s in episode.signals)
        # While it has not come back, it may be down.
        or not episode.state.present
        or episode.state.ready != "True"
    ):
        return None
    # A start may have happened without a record.
    same = counted(episode.of(Topic.WORD), transition.effect.at)
    # What a condition without a rule means may explain the silence.
    sure = same and not (transition.is_in_doubt or _is_wide(transition))
    return Found(
        transition.effect, Confidence.LIKELY if sure else Confidence.POSSIBLE
    )


def _is_wide(transition: Transition) -> bool:
    """Whether half of the nodes were lost at once, not only those of a place.

    Then the control plane may have failed, with an incomplete record.
    """
    lost, fleet = together(transition), transition.fleet
    if len(lost) == 1 or 2 * len(lost) < len(fleet.nodes):
        return False
    at = transition.lost_at
    return not any(
        lost == fleet.nodes_behind(place, at)
        for place in fleet.places(transition.episode.node, at)
    )


INFERRED: Final[Mapping[Fault, Callable[[Transition], Found | None]]] = {
    Fault.KERNEL_PANIC: _kernel_panic,
    Fault.CONTROL_PLANE: _control_plane_outage,
    Fault.CONTAINER_OOM: _container_oom,
    Fault.OTHER: _other_fault,
    Fault.KUBELET: _kubelet_failure,
    Fault.POWER_LOSS: _power_loss,
    Fault.PARTITION: _network_partition,
}
"""Faults that are not, or not only, found from records of them."""
