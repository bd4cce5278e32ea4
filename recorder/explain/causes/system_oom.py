"""The machine ran out of memory."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.model.outcomes import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.SYSTEM_OOM,
    signature="an Event SystemOOM from the kubelet before the loss",
    lookalikes=("container-oom: the container exceeded its own limit",),
    find=recorded(Fault.SYSTEM_OOM),
)
