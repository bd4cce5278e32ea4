"""The provider took the machine back."""

from recorder.explain.causes.cause import DecisionCause
from recorder.model.outcomes import Decision

__all__ = ["CAUSE"]

CAUSE = DecisionCause(
    decision=Decision.PREEMPTION,
    signature="a spot interruption notice before the loss",
    lookalikes=("scale-down: the cluster decided, not the provider",),
)
