"""The shape of a cause: how it is found and what looks like it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recorder.explain.links.because import (
    is_answered,
    is_recent,
    spares_kubelet,
)
from recorder.explain.signals import Actor, Signal, Topic
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Decision, Fault

__all__ = [
    "CONCLUDED",
    "PROVED",
    "RECORDED",
    "SHARED",
    "DecisionCause",
    "FaultCause",
    "Found",
    "recorded",
]


PROVED = 4
"""A record from the machine itself."""

SHARED = 3
"""What struck all nodes at once."""

RECORDED = 2
"""Somebody recorded that it was broken."""

CONCLUDED = 1
"""Nobody recorded it; it follows from what happened."""


@dataclass(frozen=True, slots=True)
class Found:
    """Evidence of a cause, and how much it excludes."""

    sign: Signal
    confidence: Confidence
    actor: Actor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCause:
    """Something that breaks."""

    fault: Fault
    signature: str
    """What it looks like, for the table in the docs."""

    lookalikes: Sequence[str]
    """What looks alike, and how it is told apart."""

    find: Callable[[Transition], Found | None]
    weight: int = RECORDED
    """By what it is found; the most counts where several are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCause:
    """Something that somebody decides."""

    decision: Decision
    signature: str
    lookalikes: Sequence[str]


def recorded(fault: Fault) -> Callable[[Transition], Found | None]:
    """Return what finds a fault that somebody recorded and that held.

    The latest such fault is the one that counts: an earlier one had not
    taken the node away.
    """

    def find(transition: Transition) -> Found | None:
        faults = transition.faults
        if not faults or faults[0].fault is not fault:
            return None
        signal = faults[0]
        answered = is_answered(transition, signal)
        near = is_recent(transition, signal) and not spares_kubelet(
            transition, signal
        )
        if not answered and not near:
            # Nobody cordons a node for what stood there for days.
            return (
                Found(signal, Confidence.POSSIBLE)
                if transition.was_lost
                else None
            )
        if signal.topic is Topic.GPUS:
            # The device plugin took a GPU away and did not say why.
            return Found(signal, Confidence.LIKELY)
        sure = answered or not transition.was_lost
        return Found(signal, Confidence.PROVEN if sure else Confidence.LIKELY)

    return find
