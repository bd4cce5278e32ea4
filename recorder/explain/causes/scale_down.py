"""An autoscaler took the node away because it was not needed."""

from recorder.explain.causes.cause import DecisionCause
from recorder.model.outcomes import Decision

__all__ = ["CAUSE"]

CAUSE = DecisionCause(
    decision=Decision.SCALE_DOWN,
    signature=(
        "a taint or an Event of an autoscaler, then evictions, then the Node"
        " is deleted"
    ),
    lookalikes=(
        "node-deletion: nobody announced it",
        "auto-remediation: a fault held, and no Event announced a scale-down",
    ),
)
