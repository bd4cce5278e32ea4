"""The kernel hangs, though the kubelet may go on saying that all is well."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.model.outcomes import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.HUNG_KERNEL,
    signature=(
        "KernelDeadlock or an Event about a stuck task; Ready may stay True"
    ),
    lookalikes=(
        "kernel-panic: the machine is gone at once, without a report",
    ),
    find=recorded(Fault.HUNG_KERNEL),
)
