"""The GPU operator replaced the driver."""

from dataclasses import replace

from recorder.explain.causes.asked import on_record
from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.explain.verdict import Happened
from recorder.knowledge import Decision

__all__ = ["CAUSE"]

_recorded = on_record(Decision.DRIVER_UPGRADE)


def _find(case: Case) -> Found | None:
    """An upgrade reboots nothing: a node that does went by another hand."""
    found = _recorded(case)
    if found is None or case.happened != Happened.REBOOT:
        return found
    return replace(found, confidence="possible")


CAUSE = DecisionCause(
    decision=Decision.DRIVER_UPGRADE,
    signature=(
        "the label of the GPU operator goes from upgrade-required to"
        " upgrade-done; the boot id is the same"
    ),
    lookalikes=(
        "gpu-fault: GPUs are missing from allocatable, without the label",
        "a reboot while it lasts, which it does not ask for",
    ),
    find=_find,
)
