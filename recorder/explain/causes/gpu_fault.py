"""A GPU failed: by a condition of an agent, or by what is allocatable."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.model.outcomes import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.GPU,
    signature="a condition or fewer allocatable GPUs show that a GPU failed",
    lookalikes=(
        "application errors (Xid 13, 31, 43, 45, 94), which are not a fault",
    ),
    find=recorded(Fault.GPU),
)
