"""An administrator requested it by setting a condition."""

from recorder.explain.causes.cause import DecisionCause
from recorder.model.outcomes import Decision

__all__ = ["CAUSE"]

CAUSE = DecisionCause(
    decision=Decision.ADMIN_REQUEST,
    signature=(
        "a person sets a request condition, or one named after a reboot or"
        " maintenance, or a program that is not a remediation controller sets"
        " a request condition; no fault came first"
    ),
    lookalikes=("auto-remediation: a fault came first",),
)
