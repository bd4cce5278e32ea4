"""A controller acted on a fault by itself."""

from recorder.explain.causes.cause import DecisionCause
from recorder.model.outcomes import Decision

__all__ = ["CAUSE"]

CAUSE = DecisionCause(
    decision=Decision.AUTO_REMEDIATION,
    signature=(
        "a fault, then a remediation object, a cordon or a request by a"
        " controller, then the loss"
    ),
    lookalikes=(
        "admin-request: no fault came first, or a person asked",
        "manual-drain: kubectl cordoned",
    ),
)
