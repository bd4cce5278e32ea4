"""Power went: machines that share a place stop at once and boot anew."""

from datetime import datetime

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import FaultCause, Found
from recorder.explain.verdict import Happened
from recorder.knowledge import Fault

__all__ = ["CAUSE", "seen_lost", "shared_place"]


def shared_place(case: Case) -> tuple[str, list[str]] | None:
    """Return the place whose nodes went together, and these nodes.

    Not a place that holds the whole fleet: that tells nothing.
    """
    fleet, node = case.fleet, case.chain.node
    together = {
        *fleet.lost_with(node, seen_lost(case)),
        *fleet.silent_with(case.lost_at),
    } - {node}
    # Who goes down in order has its power.
    together = {
        n for n in together if not fleet.was_shut_down(n, case.lost_at)
    }
    for key, value in sorted(fleet.place(node).items()):
        gone = sorted(n for n in together if fleet.stands(n, key, value))
        if not gone:
            continue
        there = fleet.standing(key, value)
        stayed = set(there) - {node, *gone}
        # Of who was down before, nobody can see that the power went.
        if (
            len(there) != fleet.size
            and len(stayed) <= len(gone)
            and all(fleet.was_down(n, case.lost_at) for n in stayed)
        ):
            return f"{key}={value}", gone
    return None


def seen_lost(case: Case) -> datetime:
    """Return when it was seen that the node was lost."""
    losses = case.chain.of("ready")
    return (losses[0] if losses else case.effect).stored.at


def _find(case: Case) -> Found | None:
    if case.happened != Happened.REBOOT or case.decisions or case.faults:
        return None
    if case.was_shut_down:
        return None
    if case.chain.of("cordon") and case.first("cordon") is not None:
        return None
    found = shared_place(case)
    if found is None:
        return None
    _, others = found
    if not all(case.fleet.booted_after(o, case.lost_at) for o in others):
        return None
    # Of what was lost when the log began nobody saw how it went.
    seen = case.chain.baseline.ready == "True"
    return Found(case.effect, "likely" if seen else "possible")


CAUSE = FaultCause(
    fault=Fault.POWER_LOSS,
    signature=(
        "all nodes of a rack or a PDU that were up stop renewing within one"
        " interval, and every one of them boots anew"
    ),
    lookalikes=(
        "network-partition: the boot ids stay",
        "kernel-panic: one machine alone",
    ),
    find=_find,
)
