"""The kernel panicked: only a record from the machine proves it."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import FaultCause, Found
from recorder.explain.verdict import Happened
from recorder.knowledge import Fault

__all__ = ["CAUSE"]


def _find(case: Case) -> Found | None:
    sign = case.of_fault(Fault.KERNEL_PANIC)
    if sign is None or case.happened != Happened.REBOOT:
        return None
    return Found(sign, "proven")


CAUSE = FaultCause(
    fault=Fault.KERNEL_PANIC,
    signature="a crash dump (VMcore), pstore or gpud reports a panic",
    lookalikes=(
        "power loss, a reset and a hard hang: the cause is unrecorded then",
    ),
    find=_find,
)
