"""Somebody asked for it by setting a condition."""

from recorder.explain.causes.cause import DecisionCause
from recorder.model.outcomes import Decision

__all__ = ["CAUSE"]

CAUSE = DecisionCause(
    decision=Decision.ADMIN_REQUEST,
    signature=(
        "a request condition, or one that is called a reboot or maintenance,"
        " is set by a person, or a request condition by a program that is no"
        " remediation, and no fault came first"
    ),
    lookalikes=("auto-remediation: a fault came first",),
)
