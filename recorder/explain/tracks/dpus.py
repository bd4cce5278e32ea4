"""DPUs: what happened to the one in a host, before the host was lost.

A DPU carries the network of its host, and has its power: of two that fall
silent at once neither explains the other. What a DPU reports while it runs,
and a silence that is longer than that of its host, came first.
"""

from collections.abc import Iterable, Iterator

from recorder.explain.knowledge import Knowledge
from recorder.explain.signals import Signal, Subject, Topic, signals_of
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.transition import Transition
from recorder.model.fact import StoredFact
from recorder.model.facts import LeaseSilent
from recorder.model.outcomes import Confidence, Fault, Happened, Role
from recorder.model.place import Place, PlaceKind

__all__ = ["dpu_fault", "dpu_signals"]


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


def dpu_fault(
    transition: Transition, fault: Fault
) -> tuple[Signal, Confidence] | None:
    """Return the fault of the DPU in a node that explains its loss, if any."""
    if transition.was_shut_down or transition.happened not in {
        Happened.REBOOT,
        Happened.UNREACHABLE,
    }:
        return None
    lost = transition.lost_at
    held: dict[tuple[Place | None, Subject], Signal] = {}
    for sign in transition.fleet.of_dpus(transition.episode.node):
        at, key = sign.stored.at, (sign.place, sign.subject)
        # The last renewal of a host is up to an interval before its loss.
        slack = LIMITS.together if sign.topic is not Topic.SILENCE else None
        last = lost - LIMITS.together if slack is None else lost + slack
        if at > last:
            continue
        if sign.fault is fault and lost - at <= LIMITS.moment:
            held.setdefault(key, sign)
        elif sign.fault is None and at < lost:
            held.pop(key, None)
    if not held:
        return None
    cut = transition.happened is Happened.UNREACHABLE
    sure = Confidence.LIKELY if cut else Confidence.POSSIBLE
    return next(iter(held.values())), sure
