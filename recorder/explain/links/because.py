"""Because: which fault an intervention answers, and which took a node away."""

from recorder.explain.signals import Signal, Topic, is_order
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Decision

__all__ = ["answers", "is_answered", "is_recent"]

REGARDLESS = frozenset({Decision.OS_UPGRADE, Decision.DRIVER_UPGRADE})
"""What is decided for whole fleets, whatever is broken in a node."""


def answers(step: Signal, fault: Signal) -> bool:
    """Whether a step follows a fault so soon that it may answer it."""
    first = fault.position, fault.stored.at, fault.stored.index
    then = step.position, step.stored.at, step.stored.index
    return then > first and step.stored.at - fault.stored.at <= LIMITS.recent


def is_answered(transition: Transition, fault: Signal) -> bool:
    """Whether somebody decided or cordoned upon a fault, or said so."""
    said = [
        mark
        for mark in transition.episode.marks
        if is_order(mark)
        and transition.is_before(mark)
        and mark.actor is not None
        and mark.actor.is_program
    ]
    cordons = transition.episode.of(Topic.CORDON)
    steps = [*transition.decisions, *cordons, *said]
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
