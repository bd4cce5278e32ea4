"""The network was cut: the node is silent, then as it was before."""

from typing import Final

from recorder.explain.boots import counted
from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import FaultCause, Found
from recorder.explain.signs import Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Fault

__all__ = ["CAUSE"]

STOPPED: Final = "taint node.cloudprovider.kubernetes.io/shutdown"


def _find(case: Case) -> Found | None:
    if case.happened != Happened.UNREACHABLE or case.faults:
        return None
    if case.decisions:
        # What was announced needs no other explanation.
        return None
    if case.chain.has(STOPPED):
        # By the cloud, the machine did not run: no network was cut.
        return None
    if not case.chain.state.present or case.chain.state.ready != "True":
        # It has not come back: nobody knows what will have happened.
        return None
    if not counted(case.chain.of(Subject.WORD), case.effect.stored.at):
        # That no start is on record is no proof that there was none.
        return Found(case.effect, "possible")
    return Found(case.effect, "possible" if _is_wide(case) else "likely")


def _is_wide(case: Case) -> bool:
    """Return whether half of the nodes went at once, and not those of a place.

    Then it may have been the control plane, of which not all is on record.
    """
    seen = case.effect.stored.at
    lost = set(case.fleet.lost_with(case.chain.node, seen))
    if len(lost) == 1 or 2 * len(lost) < case.fleet.size:
        return False
    return not any(
        len(lost) == len(case.fleet.standing(key, value))
        and all(case.fleet.stands(node, key, value) for node in lost)
        for key, value in case.fleet.place(case.chain.node).items()
    )


CAUSE = FaultCause(
    fault=Fault.PARTITION,
    signature=(
        "Ready turns Unknown and True again; the boot id is the same, and no"
        " kubelet started"
    ),
    lookalikes=(
        "kubelet-failure: a kubelet starts at the end of it",
        "control-plane-outage: all nodes at once",
        "a machine that hung and went on, which no record tells apart",
    ),
    find=_find,
)
