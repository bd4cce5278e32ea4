"""The control plane was out: to it, all nodes were lost at once."""

from typing import Final

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import FaultCause, Found
from recorder.explain.verdict import Happened
from recorder.knowledge import Fault

__all__ = ["CAUSE"]

SHARE: Final = 0.8
"""Of all nodes: so many are not lost at once by anything of their own."""

NODES_MIN: Final = 2

NODES_TOLD_APART: Final = 3
"""Of fewer, all may as well have been behind one switch."""


def _find(case: Case) -> Found | None:
    if case.happened != Happened.UNREACHABLE:
        return None
    seen = case.effect.stored.at
    together = case.fleet.lost_with(case.chain.node, seen)
    # Of all nodes at once, one may have crashed by itself.
    lost = [
        node
        for node in together
        if not case.fleet.booted_after(node, case.lost_at)
    ]
    known = case.fleet.size
    if len(lost) < NODES_MIN or len(lost) < SHARE * known:
        return None
    if case.chain.state.ready != "True":
        # They may as well be down: it shows when they come back.
        return Found(case.effect, "possible")
    many = known >= NODES_TOLD_APART and lost == together
    return Found(case.effect, "proven" if many else "likely")


CAUSE = FaultCause(
    fault=Fault.CONTROL_PLANE,
    signature=(
        "nearly all nodes turn Unknown at once, across racks, and heal with"
        " the same boot ids"
    ),
    lookalikes=(
        "power-loss: only a rack, and with new boot ids",
        "network-partition: one node, or those behind one switch",
    ),
    find=_find,
)
