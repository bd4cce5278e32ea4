"""Breadth: what happened at once to the nodes behind one place.

One rule for switches, racks, PDUs and the whole fleet. What at least two nodes
behind a place share explains each of them. Each node that was watched and
stayed well speaks against it; those that were down before, or that the log
does not know, count for nothing. That all are Ready does not acquit a switch:
a port that lost its neighbor agrees as well as a node that was lost.

A place that was claimed to be broken is at fault by this rule alone. Where
nothing was claimed, faults infer what all nodes of a place share. A DPU is a
place of its host alone: it carries its network and has its power, so of two
that fall silent at once neither explains the other. What a DPU reports while
it runs, and a silence that is longer than that of its host, came first.

Callers load no more of the fleet than this uses: for most episodes nothing.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from recorder.explain.knowledge import Knowledge
from recorder.explain.signals import signals_of
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.episode import Episode
from recorder.explain.tracks.fleet import Fleet
from recorder.explain.tracks.transition import Transition
from recorder.explain.tracks.transitions import happenings
from recorder.explain.verdict import Faulted
from recorder.model.fact import StoredFact
from recorder.model.facts import LeaseSilent
from recorder.model.outcomes import Confidence, Fault, Happened, Role
from recorder.model.place import Place, PlaceKind

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
    effect = transition.effect.at
    losses = transition.episode.of(Topic.READY)
    seen = losses[0].at if losses else effect
    return transition.fleet.struck_with(seen, transition.lost_at, effect) | {
        transition.episode.node
    }


def is_wide(sign: Signal) -> bool:
    """Return whether a fault is on a place that several nodes are behind."""
    return sign.place is not None and sign.place.is_wide


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


def wide_fault(transition: Transition) -> Faulted | None:
    """Return the fault of a place that explains what happened, if one does.

    Of several, the one that the most nodes confirm.
    """
    if transition.happened not in BROKEN or transition.shutdown:
        return None
    fleet, node = transition.fleet, transition.episode.node
    since, until = transition.lost_at, transition.effect.at
    found: dict[tuple[int, str], Faulted] = {}
    for sign in fleet.faults_above(node):
        early, late = since - LIMITS.moment, until + LIMITS.moment
        near = early <= sign.at <= late
        if sign.fault and near and not fleet.is_over(sign, since):
            here = breadth_of(transition, sign.place)
            if here.confidence is not None:
                rank = len(here.agree), str(sign.place)
                one = Faulted.by(sign.fault, sign, here.confidence)
                found.setdefault(rank, one)
    return found[max(found)] if found else None


def dpu_signals(
    facts: Iterable[StoredFact], knowledge: Knowledge
) -> Iterator[Signal]:
    """Yield the faults of the Nodes of DPUs, and what ended them."""
    for stored in facts:
        node = stored.fact.node
        if node is None:
            continue
        place = Place(PlaceKind.DPU, node)
        if isinstance(stored.fact.detail, LeaseSilent):
            yield Signal(
                Role.FAULT, Subject(Topic.SILENCE), stored, Fault.LINK,
                place=place,
            )  # fmt: skip
        for sign in signals_of(stored, knowledge, node=node):
            ends = sign.over or sign.role is Role.RECOVERY
            if sign.topic is Topic.CONDITION and (sign.fault or ends):
                yield sign._replace(place=place)


def dpu_fault(transition: Transition) -> Faulted | None:
    """Return the fault of the DPU in a node that explains its loss, if any."""
    cut = transition.happened is Happened.UNREACHABLE
    if transition.shutdown or not (
        cut or transition.happened is Happened.REBOOT
    ):
        return None
    lost = transition.lost_at
    held: dict[tuple[Place | None, Subject], Faulted] = {}
    sure = Confidence.LIKELY if cut else Confidence.POSSIBLE
    for sign in transition.fleet.dpus.get(transition.episode.node, ()):
        at, key = sign.at, (sign.place, sign.subject)
        # The last renewal of a host is up to an interval before its loss.
        silent = sign.topic is Topic.SILENCE
        if at > lost + (LIMITS.together if not silent else -LIMITS.together):
            continue
        if sign.fault and lost - at <= LIMITS.moment:
            held.setdefault(key, Faulted.by(sign.fault, sign, sure))
        elif sign.fault is None and at < lost:
            held.pop(key, None)
    return next(iter(held.values()), None)


def seen_with_others(chain: Episode, fleet: Fleet) -> Transition | None:
    """Return what happened if its verdict depends on what other nodes did.

    Only if the node was lost, or one of its links, it matters which nodes
    were lost with it.
    """
    for happened, effect, _ in happenings(chain):
        # What befell one port may have befallen the switch.
        at_port = happened is Happened.DEGRADED and effect.fault is Fault.LINK
        if at_port or happened in {Happened.REBOOT, Happened.UNREACHABLE}:
            return Transition(chain, happened, effect, fleet)
    return None


def shared_places(transition: Transition) -> list[Place]:
    """Return the places of a node at which others were lost with it."""
    at, lost = transition.lost_at, together(transition)
    behind = transition.fleet.nodes_behind
    places = transition.fleet.places(transition.episode.node, at)
    return [place for place in places if len(behind(place, at) & lost) > 1]


def needs_every_place(transition: Transition) -> bool:
    """Return whether a verdict depends on the places of all nodes.

    For a reboot it does if another node of the same place was lost with it, or
    what the node is behind was claimed to be broken.
    """
    return transition.happened != Happened.REBOOT or bool(
        transition.fleet.faults_above(transition.episode.node)
        or shared_places(transition)
    )


def beside(transition: Transition) -> set[str]:
    """Return which other nodes to read, as they were when a node was lost.

    Those that stayed up at a place where most were lost may have been down
    before. Whether those that were lost too had been cordoned matters only if
    Pods were evicted from the node.
    """
    names, node = set[str](), transition.episode.node
    for place in transition.fleet.places(node, transition.lost_at):
        found = breadth_of(transition, place)
        stayed = found.well | found.down
        if len(found.agree) > max(1, len(stayed)):
            names |= stayed
        if transition.first(Topic.EVICTION) is not None:
            names |= found.agree
    return names - {node}
