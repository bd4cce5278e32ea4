"""A link between GPUs, or of the fabric, failed."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.model.outcomes import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.LINK,
    signature=(
        "a condition of a link; Ready stays True and the boot id is the same"
    ),
    lookalikes=("a peer that reports the same link: the earliest is taken",),
    find=recorded(Fault.LINK),
)
