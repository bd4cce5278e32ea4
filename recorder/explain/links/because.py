"""Because: which fault an intervention answers, and which took a node away."""

from collections.abc import Collection

from recorder.explain.signals import Signal, Topic, is_order
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.transition import QUOTE_MIN, Transition
from recorder.model.facts import (
    ConditionChanged,
    ContainerEnded,
    Ended,
    EventOccurred,
)
from recorder.model.outcomes import Decision, Fault, Happened
from recorder.model.reference import EntryName

__all__ = [
    "answers",
    "is_answered",
    "is_recent",
    "quotes",
    "spares_kubelet",
]

REGARDLESS = frozenset({Decision.OS_UPGRADE, Decision.DRIVER_UPGRADE})
"""What is decided for whole fleets, whatever is broken in a node."""


def answers(step: Signal, fault: Signal) -> bool:
    """Whether a step follows a fault so soon that it may answer it."""
    first = fault.position, fault.stored.at, fault.stored.index
    then = step.position, step.stored.at, step.stored.index
    return then > first and step.stored.at - fault.stored.at <= LIMITS.recent


def quotes(
    transition: Transition, entries: Collection[EntryName], fault: Signal
) -> bool:
    """Whether a step in one of some entries names a fault."""
    words = _words(fault)
    return any(
        word in step.says
        for step in transition.episode.signals
        if step.stored.entry in entries and step is not fault
        for word in words
    )


def _words(fault: Signal) -> list[str]:
    """Return the literals of a fault that are long enough to be its own."""
    said: list[str | None] = [fault.subject.name]
    match fault.stored.fact.detail:
        case ConditionChanged(new=told) if told is not None:
            said += [told.reason, told.message]
        case EventOccurred() | ContainerEnded() | Ended() as detail:
            said += [detail.reason, detail.message]
        case _:
            pass
    return [text for text in said if text and len(text) >= QUOTE_MIN]


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


def spares_kubelet(transition: Transition, fault: Signal) -> bool:
    """Whether a fault is of a part without which a kubelet runs on.

    Whoever repaired it may have started the kubelet anew.
    """
    alone = transition.happened == Happened.KUBELET_RESTART
    return alone and fault.fault in {Fault.GPU, Fault.LINK}
