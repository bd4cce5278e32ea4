"""A link between GPUs, or of the fabric, failed."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.model.outcomes import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.LINK,
    signature=(
        "a condition about a link; Ready stays True, the boot ID is the same"
    ),
    lookalikes=(
        "a peer that reports the same link: the earliest report is used",
    ),
    find=recorded(Fault.LINK),
)
