"""The GPU operator replaced the driver."""

from recorder.explain.causes.cause import DecisionCause
from recorder.model.outcomes import Decision

__all__ = ["CAUSE"]

CAUSE = DecisionCause(
    decision=Decision.DRIVER_UPGRADE,
    signature=(
        "the label of the GPU operator goes from upgrade-required to"
        " upgrade-done; the boot ID is the same"
    ),
    lookalikes=(
        "gpu-fault: GPUs are missing from allocatable, without the label",
        "a reboot during the upgrade, which the upgrade did not request",
    ),
)
