"""Something became too hot."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.model.outcomes import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.THERMAL,
    signature="a condition about temperature",
    lookalikes=("gpu-fault: the GPU failed, not its cooling",),
    find=recorded(Fault.THERMAL),
)
