"""The network was cut: the node is silent, then as it was before."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import FaultCause, Found
from recorder.explain.verdict import Happened
from recorder.knowledge import Fault

__all__ = ["CAUSE"]


def _find(case: Case) -> Found | None:
    if case.happened != Happened.UNREACHABLE or case.faults:
        return None
    if case.decisions:
        # What was announced needs no other explanation.
        return None
    if not case.chain.state.present or case.chain.state.ready != "True":
        # It has not come back: nobody knows what will have happened.
        return None
    return Found(case.effect, "likely")


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
