"""Breadth: a fault on a place, and what happened to everything behind it.

A fault on a switch, a rack or a PDU explains what happened to a node behind
it in the same moment if at least two nodes behind it agree. Each one that was
watched and stayed well speaks against it; nodes that were down before, or that
the log does not know, count for nothing. That all are Ready does not acquit a
switch: a port that lost its neighbor agrees as well as a node that was lost.
"""

from typing import Final

from recorder.explain.signals import Signal
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Fault, Happened
from recorder.model.place import PlaceKind

__all__ = ["is_wide", "wide_fault"]

AGREEING_MIN: Final = 2

BROKEN: Final = frozenset(
    {Happened.REBOOT, Happened.UNREACHABLE, Happened.DEGRADED}
)
"""What a fault of a place does to the nodes behind it."""


def is_wide(sign: Signal) -> bool:
    """Return whether a fault is on a place that several nodes are behind."""
    return sign.place is not None and sign.place.kind not in {
        PlaceKind.NODE,
        PlaceKind.PORT,
        PlaceKind.GPU,
    }


def wide_fault(
    transition: Transition, fault: Fault
) -> tuple[Signal, Confidence] | None:
    """Return the fault of a place that explains what happened, if one does.

    Of several, the one that the most nodes confirm.
    """
    if transition.happened not in BROKEN or transition.was_shut_down:
        return None
    fleet, node = transition.fleet, transition.episode.node
    since, until = transition.lost_at, transition.effect.stored.at
    best: tuple[int, Signal, Confidence] | None = None
    for sign in fleet.faults_above(node):
        at = sign.stored.at
        if (
            sign.fault is not fault
            or sign.place is None
            or not (since - LIMITS.moment <= at <= until + LIMITS.moment)
        ):
            continue
        there = fleet.nodes_behind(sign.place, at)
        agree = there & {node, *fleet.troubled(at, LIMITS.moment)}
        well = {
            other for other in there - agree if not fleet.was_down(other, at)
        }
        if len(agree) < AGREEING_MIN or len(well) >= len(agree):
            continue
        sure = Confidence.POSSIBLE if well else Confidence.LIKELY
        if best is None or len(agree) > best[0]:
            best = len(agree), sign, sure
    return None if best is None else best[1:]
