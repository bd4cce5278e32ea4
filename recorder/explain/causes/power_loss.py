"""Power went: machines that share a place stop at once and boot anew."""

from datetime import datetime

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import FaultCause, Found
from recorder.explain.verdict import Happened
from recorder.knowledge import Fault

__all__ = ["CAUSE", "shared_place"]


def shared_place(case: Case) -> tuple[str, list[str]] | None:
    """Give the place whose nodes went together, and these nodes.

    Not a place that holds the whole fleet: that tells nothing.
    """
    together = {
        *case.fleet.lost_with(case.chain.node, _seen_lost(case)),
        *case.fleet.silent_with(case.lost_at),
    } - {case.chain.node}
    for place, others in case.fleet.neighbours(case.chain.node).items():
        gone = [other for other in others if other in together]
        whole = len(others) + 1 == len(case.fleet.nodes)
        if gone and not whole and len(gone) == len(others):
            return place, gone
    return None


def _seen_lost(case: Case) -> datetime:
    losses = case.chain.of("ready")
    return (losses[0] if losses else case.effect).stored.observed_at


def _find(case: Case) -> Found | None:
    if case.happened != Happened.REBOOT or case.decisions or case.faults:
        return None
    if case.chain.of("cordon") and case.first("cordon") is not None:
        return None
    found = shared_place(case)
    if found is None:
        return None
    _, others = found
    if not all(case.fleet.booted_after(o, case.lost_at) for o in others):
        return None
    return Found(case.effect, "likely")


CAUSE = FaultCause(
    fault=Fault.POWER_LOSS,
    signature=(
        "all nodes of a rack or a PDU stop renewing within one interval, and"
        " every one of them boots anew"
    ),
    lookalikes=(
        "network-partition: the boot ids stay",
        "kernel-panic: one machine alone",
    ),
    find=_find,
)
