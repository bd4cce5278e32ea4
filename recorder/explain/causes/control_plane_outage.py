"""The control plane was out: to it, all nodes were lost at once."""

from typing import Final

from recorder.explain.causes.cause import SHARED, FaultCause, Found
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Fault, Happened

__all__ = ["CAUSE"]

SHARE: Final = 0.8
"""Of all nodes: so many are not lost at once by anything of their own."""

NODES_MIN: Final = 2

NODES_TOLD_APART: Final = 3
"""Of fewer, all may as well have been behind one switch."""


def _find(transition: Transition) -> Found | None:
    if transition.happened != Happened.UNREACHABLE:
        return None
    seen = transition.effect.stored.at
    together = transition.fleet.lost_with(transition.episode.node, seen)
    # Of all nodes at once, one may have crashed by itself.
    lost = [
        node
        for node in together
        if not transition.fleet.booted_after(node, transition.lost_at)
    ]
    known = transition.fleet.size
    if len(lost) < NODES_MIN or len(lost) < SHARE * known:
        return None
    if transition.episode.state.ready != "True":
        # They may as well be down: it shows when they come back.
        return Found(transition.effect, Confidence.POSSIBLE)
    many = known >= NODES_TOLD_APART and lost == together
    return Found(
        transition.effect, Confidence.PROVEN if many else Confidence.LIKELY
    )


CAUSE = FaultCause(
    fault=Fault.CONTROL_PLANE,
    signature=(
        "nearly all nodes turn Unknown at once, across racks, and recover"
        " with the same boot IDs"
    ),
    lookalikes=(
        "power-loss: one rack only, and with new boot IDs",
        "network-partition: one node, or those behind one switch",
    ),
    weight=SHARED,
    find=_find,
)
