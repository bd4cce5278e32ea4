"""The kubelet went or started anew; the machine went on."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import FaultCause, Found, recorded
from recorder.explain.verdict import Happened
from recorder.knowledge import Fault

__all__ = ["CAUSE"]

_recorded = recorded(Fault.KUBELET)


def _find(case: Case) -> Found | None:
    found = _recorded(case)
    if found is not None:
        return found
    if case.happened != Happened.KUBELET_RESTART or case.faults:
        return None
    # It was away; what stopped it may be on record nowhere.
    return Found(case.effect, "possible")


CAUSE = FaultCause(
    fault=Fault.KUBELET,
    signature='the kubelet says "Starting" and the boot id is the same',
    lookalikes=(
        "a reboot: the boot id changes",
        "network-partition: no kubelet starts",
    ),
    find=_find,
)
