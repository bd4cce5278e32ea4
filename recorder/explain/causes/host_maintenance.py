"""The provider maintains the host."""

from recorder.explain.causes.cause import DecisionCause
from recorder.model.outcomes import Decision

__all__ = ["CAUSE"]

CAUSE = DecisionCause(
    decision=Decision.HOST_MAINTENANCE,
    signature="a maintenance notice from the provider before the loss",
    lookalikes=("preemption: the machine does not come back",),
)
