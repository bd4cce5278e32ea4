"""Something else that somebody calls a fault."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.knowledge import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.OTHER,
    signature=(
        "a condition that is called a fault and belongs to no other class"
    ),
    lookalikes=("conditions without a rule, which are no fault",),
    find=recorded(Fault.OTHER),
)
