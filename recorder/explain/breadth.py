"""Breadth: what happened at once to the nodes behind one place.

One rule for switches, racks, PDUs and the whole fleet. What at least two nodes
behind a place share explains each of them. Each node that was watched and
stayed well speaks against it; those that were down before, or that the log
does not know, count for nothing. That all are Ready does not acquit a switch:
a port that lost its neighbor agrees as well as a node that was lost.

A place that was claimed to be broken is at fault by this rule alone. Where
nothing was claimed, faults infer what all nodes of a place share.
"""

from typing import Final, NamedTuple

from recorder.explain.signals import Signal, Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Fault, Happened
from recorder.model.place import Place, PlaceKind

__all__ = [
    "Breadth",
    "breadth_of",
    "is_wide",
    "shared_place",
    "together",
    "wide_fault",
]

AGREEING_MIN: Final = 2

SHARE: Final = 0.8
"""The share of the nodes of a place that are not lost at once by their own
faults."""

SHARE_WIDE: Final = 0.6
"""The share from which it is possible."""

BROKEN: Final = frozenset(
    {Happened.REBOOT, Happened.UNREACHABLE, Happened.DEGRADED}
)
"""What a fault of a place does to the nodes behind it."""

NARROW: Final = frozenset({PlaceKind.NODE, PlaceKind.PORT, PlaceKind.GPU})


class Breadth(NamedTuple):
    """The nodes behind a place, by what happened to them at once."""

    place: Place | None
    """None for the whole fleet."""

    agree: frozenset[str]
    well: frozenset[str]
    down: frozenset[str]
    """Those that were down before."""

    @property
    def confidence(self) -> Confidence | None:
        """How certain it is that the place is what they share; None if not."""
        agree = len(self.agree)
        share = agree / (agree + len(self.well))
        if agree < AGREEING_MIN or share < SHARE_WIDE:
            return None
        return Confidence.LIKELY if share >= SHARE else Confidence.POSSIBLE


def breadth_of(transition: Transition, place: Place | None) -> Breadth:
    """Return what happened to the nodes behind a place at a transition."""
    fleet, at = transition.fleet, transition.lost_at
    there = fleet.nodes if place is None else fleet.nodes_behind(place, at)
    agree = together(transition) & (there | {transition.episode.node})
    down = fleet.down_before(there - agree, at)
    return Breadth(place, agree, there - agree - down, down)


def together(transition: Transition) -> frozenset[str]:
    """Return the nodes that were lost, or lost a port, with one."""
    effect = transition.effect.stored.at
    losses = transition.episode.of(Topic.READY)
    seen = losses[0].stored.at if losses else effect
    return transition.fleet.struck_with(seen, transition.lost_at, effect) | {
        transition.episode.node
    }


def is_wide(sign: Signal) -> bool:
    """Return whether a fault is on a place that several nodes are behind."""
    return sign.place is not None and sign.place.kind not in NARROW


def shared_place(transition: Transition) -> Breadth | None:
    """Return the place whose nodes were all lost with one, if there is one.

    Nodes that were down before cannot show a loss of power: they are not the
    most. A place of the whole fleet does not count.
    """
    fleet, at = transition.fleet, transition.lost_at
    for place in fleet.places(transition.episode.node, at):
        found = breadth_of(transition, place)
        whole = found.agree | found.down == fleet.nodes
        if len(found.agree) > max(1, len(found.down)) and not (
            found.well or whole
        ):
            return found
    return None


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
    found: dict[tuple[int, str], tuple[Signal, Confidence]] = {}
    for sign in fleet.faults_above(node):
        early, late = since - LIMITS.moment, until + LIMITS.moment
        near = early <= sign.stored.at <= late
        if sign.fault is fault and near and not fleet.is_over(sign, since):
            here = breadth_of(transition, sign.place)
            if here.confidence is not None:
                rank = len(here.agree), str(sign.place)
                found.setdefault(rank, (sign, here.confidence))
    return found[max(found)] if found else None
