"""The container runtime failed."""

from recorder.explain.causes.cause import FaultCause, recorded
from recorder.knowledge import Fault

__all__ = ["CAUSE"]

CAUSE = FaultCause(
    fault=Fault.RUNTIME,
    signature=("a condition of the container runtime"),
    lookalikes=("kubelet-failure: the kubelet itself was not there",),
    find=recorded(Fault.RUNTIME),
)
