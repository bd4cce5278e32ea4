"""Rivals: other possible causes, and what rules them out."""

from recorder.explain.faults import shared_place
from recorder.explain.signals import Topic
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Decided, Judged, Rival
from recorder.model.outcomes import Confidence, Decision, Fault, Happened

__all__ = ["rivals"]


def rivals(transition: Transition, verdict: Judged) -> list[Rival]:
    """Return the other causes of what happened, in a fixed order."""
    match verdict.happened:
        case Happened.REBOOT:
            found = _of_reboot(transition, verdict)
        case Happened.UNREACHABLE:
            found = _of_silence(transition, verdict)
        case Happened.KUBELET_RESTART:
            found = [_no_reboot(transition, verdict)]
        case Happened.REJOINED | Happened.REPLACED | Happened.REMOVED:
            found = _of_removal(transition)
        case Happened.DRAINED | Happened.CORDONED:
            found = _of_cordon(transition)
        case _:
            found = []
    return [rival for rival in found if rival.cause != verdict.cause]


def _of_reboot(transition: Transition, verdict: Judged) -> list[Rival]:
    entry = transition.effect.stored.entry
    found = [
        Rival(
            cause=Fault.PARTITION.value,
            excluded=True,
            because=f"the boot ID changed ({entry})",
        ),
        Rival(
            cause=Fault.KUBELET.value,
            excluded=True,
            because=f"the boot ID changed ({entry})",
        ),
    ]
    decided = _sure(verdict)
    because = (
        "nothing recorded on the machine confirms it or rules it out"
        if decided is None
        else f"a decision preceded it ({decided.sign.stored.entry})"
    )
    found.append(
        Rival(
            cause=Fault.KERNEL_PANIC.value,
            excluded=decided is not None,
            because=because,
        )
    )
    found.append(_power(transition, verdict))
    return found


def _power(transition: Transition, verdict: Judged) -> Rival:
    decided = _sure(verdict)
    if decided is not None:
        return Rival(
            cause=Fault.POWER_LOSS.value,
            excluded=True,
            because=f"a decision preceded it ({decided.sign.stored.entry})",
        )
    alike = transition.fleet.of_one_machine(transition.episode.node)
    if alike:
        return Rival(
            cause=Fault.POWER_LOSS.value,
            excluded=False,
            because=f"{', '.join(alike)} booted with the same boot ID: they"
            " are one machine",
        )
    shared = shared_place(transition)
    if shared is not None:
        place, others = shared
        return Rival(
            cause=Fault.POWER_LOSS.value,
            excluded=False,
            because=f"{', '.join(others)} of {place} went down with it",
        )
    if transition.fleet.place(transition.episode.node):
        return Rival(
            cause=Fault.POWER_LOSS.value,
            excluded=False,
            because="its neighbors stayed up, so the rack kept power; this"
            " machine alone may have lost it",
        )
    return Rival(
        cause=Fault.POWER_LOSS.value,
        excluded=False,
        because="no label shows which nodes share its power supply",
    )


def _sure(verdict: Judged) -> Decided | None:
    """Return the decision, if it excludes what looks like it."""
    decided = verdict.decision
    if decided is None or decided.confidence is not Confidence.PROVEN:
        return None
    return decided


def _no_reboot(transition: Transition, verdict: Judged) -> Rival:
    if verdict.contradictions:
        first = verdict.contradictions[0]
        return Rival(
            cause="reboot",
            excluded=False,
            because=f"the kubelet reports one ({first.entry}), but"
            f" {first.but}",
        )
    boot = transition.episode.state.boot_id
    return Rival(
        cause="reboot",
        excluded=True,
        because=f"the boot ID is unchanged ({boot})",
    )


def _of_silence(transition: Transition, verdict: Judged) -> list[Rival]:
    lost = transition.fleet.lost_with(
        transition.episode.node, transition.effect.stored.at
    )
    others = [name for name in lost if name != transition.episode.node]
    few = len(others) + 1 < transition.fleet.size
    return [
        _no_reboot(transition, verdict),
        Rival(
            cause=Fault.KUBELET.value,
            excluded=True,
            because="no kubelet start ended the outage",
        ),
        Rival(
            cause=Fault.CONTROL_PLANE.value,
            excluded=few,
            because=(
                "other nodes stayed reachable"
                if few
                else "every node was lost at the same time"
            ),
        ),
    ]


def _of_removal(transition: Transition) -> list[Rival]:
    return [
        _announced(transition, decision)
        for decision in (
            Decision.SCALE_DOWN,
            Decision.PREEMPTION,
            Decision.HOST_MAINTENANCE,
        )
    ]


def _announced(transition: Transition, decision: Decision) -> Rival:
    signs = [s for s in transition.decisions if s.decision is decision]
    because = (
        f"it was announced ({signs[0].stored.entry})"
        if signs
        else "no notice, taint or Event preceded it"
    )
    return Rival(cause=decision.value, excluded=not signs, because=because)


def _of_cordon(transition: Transition) -> list[Rival]:
    fault = transition.first_fault
    boot = transition.episode.has(Topic.BOOT)
    return [
        Rival(
            cause=Decision.AUTO_REMEDIATION.value,
            excluded=fault is None,
            because=(
                "no fault preceded it"
                if fault is None
                else f"a fault preceded it ({fault.stored.entry})"
            ),
        ),
        Rival(
            cause="reboot",
            excluded=not boot,
            because="the boot ID is unchanged",
        ),
    ]
