"""Because: which fault an intervention answers, and which took a node away."""

from recorder.explain.happened import Happened
from recorder.explain.signals import Signal, Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.interventions import Intervention
from recorder.explain.tracks.transition import Transition
from recorder.knowledge import Decision, Fault

__all__ = ["answered_by", "answers", "is_answered", "is_recent"]

REGARDLESS = frozenset({Decision.OS_UPGRADE, Decision.DRIVER_UPGRADE})
"""What is decided for whole fleets, whatever is broken in a node."""


def answers(step: Signal, fault: Signal) -> bool:
    """Whether a step follows a fault so soon that it may answer it."""
    first = fault.position, fault.stored.at, fault.stored.index
    then = step.position, step.stored.at, step.stored.index
    return then > first and step.stored.at - fault.stored.at <= LIMITS.recent


def answered_by(
    transition: Transition, intervention: Intervention
) -> Signal | None:
    """Return the fault that an intervention answers, if any."""
    return next(
        (
            fault
            for fault in transition.faults
            if any(answers(step, fault) for step in intervention.steps)
        ),
        None,
    )


def is_answered(transition: Transition, fault: Signal) -> bool:
    """Whether somebody decided or cordoned upon a fault."""
    steps = [*transition.decisions, *transition.episode.of(Topic.CORDON)]
    return any(
        answers(step, fault)
        for step in steps
        if step.decision not in REGARDLESS
    )


def is_recent(transition: Transition, signal: Signal) -> bool:
    """Whether a signal is near enough to the loss to be its cause."""
    held = signal.topic is not Topic.EVENT
    within = LIMITS.recent if held else LIMITS.moment
    return transition.lost_at - signal.stored.at <= within


def spares_kubelet(transition: Transition, fault: Signal) -> bool:
    """Whether a fault is of a part without which a kubelet runs on.

    Whoever repaired it may have started the kubelet anew.
    """
    alone = transition.happened == Happened.KUBELET_RESTART
    return alone and fault.fault in {Fault.GPU, Fault.LINK}
