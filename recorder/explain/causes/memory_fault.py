"""Memory of the machine failed."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.model.outcomes import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.MEMORY,
    signature=(
        "a condition or an Event of a memory error that was not corrected"
    ),
    lookalikes=(
        "container-oom and system-oom: memory that ran out, not that broke",
    ),
    find=recorded(Fault.MEMORY),
)
