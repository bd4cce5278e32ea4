"""Memory of the machine failed."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.model.outcomes import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.MEMORY,
    signature="a condition or an Event about an uncorrected memory error",
    lookalikes=(
        "container-oom and system-oom: memory ran out, it did not fail",
    ),
    find=recorded(Fault.MEMORY),
)
