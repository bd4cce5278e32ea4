"""Somebody cordoned or drained the node by hand."""

from recorder.explain.causes.cause import DecisionCause
from recorder.model.outcomes import Decision

__all__ = ["CAUSE"]

CAUSE = DecisionCause(
    decision=Decision.MANUAL_DRAIN,
    signature=(
        "a cordon or a taint by a person or kubectl, possibly evictions;"
        " the node stays Ready"
    ),
    lookalikes=(
        "scale-down and auto-remediation: a controller cordons and reports it",
        "node-deletion: the Node is deleted as well",
    ),
)
