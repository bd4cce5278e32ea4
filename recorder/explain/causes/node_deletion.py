"""Somebody deleted the Node."""

from recorder.explain.causes.cause import DecisionCause
from recorder.model.outcomes import Decision

__all__ = ["CAUSE"]

CAUSE = DecisionCause(
    decision=Decision.NODE_DELETION,
    signature=(
        "the Node is deleted; no notice and no autoscaler came before, or a"
        " person deletes a Node that a controller left for more than an hour"
    ),
    lookalikes=(
        "scale-down, preemption and host-maintenance: announced before",
    ),
)
