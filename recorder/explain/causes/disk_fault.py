"""A disk or a file system failed."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.model.outcomes import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.DISK,
    signature="a condition or an Event about a file system or a disk",
    lookalikes=("evictions because of low disk space, which are not a fault",),
    find=recorded(Fault.DISK),
)
