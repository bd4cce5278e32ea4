"""A container used more memory than it may; its node is as it was."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import FaultCause, Found
from recorder.knowledge import Fault

__all__ = ["CAUSE"]


def _find(case: Case) -> Found | None:
    """A node that is lost was not lost by a container's limit."""
    sign = case.of_fault(Fault.CONTAINER_OOM)
    if sign is None or case.was_lost or case.faults:
        return None
    return Found(sign, "proven") if sign is case.effect else None


CAUSE = FaultCause(
    fault=Fault.CONTAINER_OOM,
    signature="a container ended with the reason OOMKilled; the node is well",
    lookalikes=("exit code 137 alone, which any SIGKILL gives",),
    find=_find,
)
