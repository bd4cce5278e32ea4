"""Faults: which fault explains what happened to a node.

Of recorded faults, the latest one that still held counts. Those in
``CONCLUDED`` follow from what happened to the node and to nodes near it, if
nothing was recorded as broken.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

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
from recorder.explain.signals.signal import SHUT_DOWN, Signal, Topic, is_unseen
from recorder.explain.thresholds import LIMITS, rank, weaker
from recorder.explain.tracks.bounds import counted
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Faulted
from recorder.model.outcomes import Confidence, Decision, Fault, Happened

WEIGHTS: Final = tuple(Weight)


def fault_of(transition: Transition) -> Faulted | None:
    """Return the fault that explains a transition best, if any does."""
    t = transition
    if t.happened == Happened.JOINED:
        return None
    found = [
        *_witnessed(t),
        wide_fault(t),
        dpu_fault(t),
        _recorded(t),
        _kernel_panic(t),
        _control_plane_outage(t),
    ]
    conclude = None if t.faults else CONCLUDED.get(t.happened)
    if conclude is not None:
        found.append(conclude(t))
    return max(filter(None, found), key=_worth, default=None)


def _worth(found: Faulted) -> tuple[int, int, Fault]:
    proved = found.sign.excludes or is_wide(found.sign)
    weight = Weight.PROVED if proved else FAULTS[found.fault].weight
    return WEIGHTS.index(weight), rank(found.confidence), found.fault


def _witnessed(transition: Transition) -> Iterator[Faulted]:
    """Yield what the machine itself recorded when it was lost, if it was.

    A machine that comes back in the same boot did not lose power.
    """
    t = transition
    is_away = (
        t.happened == Happened.UNREACHABLE and t.episode.state.ready != "True"
    )
    if t.shutdown or not (t.happened in BOOTED or is_away):
        return
    boots = [
        boot.at
        for boot in t.episode.of(Topic.BOOT)
        if boot.position < t.effect.position
    ]
    since = max([t.lost_at - LIMITS.moment, *boots])
    for sign in t.episode.signals:
        near = since <= sign.stored.at <= t.effect.stored.at
        if sign.fault and sign.excludes and near:
            yield Faulted.by(sign.fault, sign, Confidence.PROVEN)


UNREPORTED: Final = frozenset(
    {Fault.POWER_LOSS, Fault.PARTITION, Fault.CONTROL_PLANE}
)
"""Faults that only the machine itself or its neighbors show."""


def _recorded(transition: Transition) -> Faulted | None:
    """Return the recorded fault that still held.

    Only the latest counts: an earlier one had not taken the node away.
    """
    signal = next(iter(transition.faults), None)
    if signal is None or not signal.fault or signal.fault in UNREPORTED:
        return None
    answered = is_answered(transition, signal)
    row, lost = FAULTS[signal.fault], transition.was_lost
    # A repair of such a part may have restarted the kubelet.
    spared = (
        transition.happened == Happened.KUBELET_RESTART and row.spares_kubelet
    )
    harmless = row.harmless and lost
    strength = _strength(transition, signal, answered=answered)
    if not answered and (
        spared or harmless or not transition.is_recent(signal)
    ):
        # A fault that has been there for days is no reason for a cordon.
        if harmless or not lost:
            return None
        strength = Confidence.POSSIBLE
    return Faulted.by(signal.fault, signal, strength)


def _strength(
    transition: Transition, signal: Signal, *, answered: bool
) -> Confidence:
    lost = transition.was_lost
    if signal.topic is Topic.GPUS:
        # The device plugin took a GPU away and did not say why.
        return Confidence.LIKELY
    if signal.topic is Topic.READY:
        # A kubelet waits for a part as well while the kernel hangs.
        return Confidence.POSSIBLE if lost else Confidence.LIKELY
    if answered:
        # Without a rule, an act is known to respond to it by time alone.
        return transition.certainty(signal)
    since = transition.lost_at - signal.at
    booted = transition.happened == Happened.REBOOT
    if (
        # It may only not have been ended since another boot.
        transition.episode.is_carried(signal)
        # A part that fails takes its machine along at once, or is repaired.
        or (booted and not transition.decisions and since > LIMITS.patience)
        # No rule says that what is wrong there can take a machine away.
        or (lost and signal.fault is Fault.OTHER)
    ):
        return Confidence.POSSIBLE
    # What a monitor alone says is never proven.
    own = not lost and signal.stored.fact.actor == "kubelet"
    sure = Confidence.PROVEN if own else Confidence.LIKELY
    return weaker(sure, transition.certainty(signal))


def _kernel_panic(transition: Transition) -> Faulted | None:
    """Only a record from the machine proves a panic."""
    if transition.happened != Happened.REBOOT or transition.shutdown:
        return None
    for sign in transition.episode.signals:
        if sign.fault is Fault.KERNEL_PANIC and _is_of_this(transition, sign):
            sure = Confidence.LIKELY if sign.vague else Confidence.PROVEN
            return Faulted.by(Fault.KERNEL_PANIC, sign, sure)
    return None


def _is_of_this(transition: Transition, sign: Signal) -> bool:
    """Whether a panic caused this boot: its dump is found after it."""
    lost = [s.seen for s in transition.episode.of(Topic.READY)[:1]]
    gone = min([transition.effect.at, *lost])
    return sign.seen >= gone and sign.at >= gone - LIMITS.moment


BOOTED: Final = GONE | {Happened.REBOOT}
"""What a machine does not survive running."""

NODES_DISTINCT: Final = 3
"""With fewer nodes, all may be behind one switch."""


def _control_plane_outage(transition: Transition) -> Faulted | None:
    """The control plane lost all nodes at once."""
    if transition.happened != Happened.UNREACHABLE:
        return None
    fleet, whole = transition.fleet, breadth_of(transition, None)
    # Even then, one of them may have crashed by itself.
    crashed = fleet.booted_after(whole.agree, transition.lost_at)
    sure = whole._replace(
        agree=whole.agree - crashed, well=whole.well | crashed
    ).confidence
    if sure is None or (
        # Some went on, such as those that hold no connection to it.
        sure is Confidence.POSSIBLE and not _is_wide(transition)
    ):
        return None
    if sure is Confidence.LIKELY:
        many = len(fleet.nodes) >= NODES_DISTINCT and not crashed
        sure = Confidence.PROVEN if many else sure
        if transition.episode.state.ready != "True":
            # They may be down as well: their return will show it.
            sure = Confidence.POSSIBLE
    return Faulted.by(Fault.CONTROL_PLANE, transition.effect, sure)


def _container_oom(transition: Transition) -> Faulted | None:
    """A container exceeded its limit, which does not take a node away."""
    effect = transition.effect
    if effect.fault is not Fault.CONTAINER_OOM:
        return None
    return Faulted.by(effect.fault, effect, Confidence.PROVEN)


def _kubelet_failure(transition: Transition) -> Faulted | None:
    """The kubelet stopped or restarted; the machine kept running."""
    # A request or another version needs no other explanation.
    if transition.episode.has(Topic.VERSION) or any(
        s.decision is Decision.ADMIN_REQUEST and not s.vague
        for s in transition.decisions
    ):
        return None
    # It was away; what stopped it may not be recorded.
    return Faulted.by(Fault.KUBELET, transition.effect, Confidence.POSSIBLE)


def _power_loss(transition: Transition) -> Faulted | None:
    """Machines that share a place stop at once and boot again."""
    shared, fleet = shared_place(transition), transition.fleet
    if transition.decisions or transition.shutdown or shared is None:
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
    strength = Confidence.LIKELY if sure else Confidence.POSSIBLE
    return Faulted.by(Fault.POWER_LOSS, transition.effect, strength)


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


def _network_partition(transition: Transition) -> Faulted | None:
    """The network failed: the node is silent, then as it was before."""
    episode, seen = transition.episode, transition.effect.seen
    heard = (at <= seen <= at + LIMITS.renewal for at in episode.alive)
    if (
        # It was given up for the times that it claims: its clock is behind.
        (episode.skew < -LIMITS.together and any(heard))
        # What was announced needs no other explanation.
        or transition.decisions
        # A gap hid it, and perhaps that the control plane failed.
        or is_unseen(transition.effect)
        # The cloud reports the machine as stopped: the network did not fail.
        or any(s.subject == SHUT_DOWN and not s.over for s in episode.signals)
        # While it has not come back, it may be down.
        or not episode.state.present
        or episode.state.ready != "True"
    ):
        return None
    # A start may have happened without a record.
    same = counted(episode.of(Topic.WORD), transition.effect.at)
    # What was reported without a rule may explain the silence.
    sure = same and not (transition.reported or _is_wide(transition))
    strength = Confidence.LIKELY if sure else Confidence.POSSIBLE
    return Faulted.by(Fault.PARTITION, transition.effect, strength)


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


CONCLUDED: Final[Mapping[Happened, Callable[[Transition], Faulted | None]]] = {
    Happened.DEGRADED: _container_oom,
    Happened.KUBELET_RESTART: _kubelet_failure,
    Happened.REBOOT: _power_loss,
    Happened.UNREACHABLE: _network_partition,
}
"""What explains each transition, if nothing was recorded as broken."""
