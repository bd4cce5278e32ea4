"""The system was upgraded: a lock or an announcement, then a new boot."""

from recorder.explain.causes.cause import DecisionCause
from recorder.model.outcomes import Decision

__all__ = ["CAUSE"]

CAUSE = DecisionCause(
    decision=Decision.OS_UPGRADE,
    signature=(
        "kured's lock names the node, or the machine config operator"
        " announces a reboot; the kernel or the image changes"
    ),
    lookalikes=(
        "admin-request: the versions are the same",
        "manual-drain: nobody announced a reboot",
    ),
)
