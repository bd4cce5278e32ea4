"""A disk or a file system failed."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.model.outcomes import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.DISK,
    signature=("a condition or an Event of a file system or a disk"),
    lookalikes=("evictions for want of space, which break nothing",),
    find=recorded(Fault.DISK),
)
