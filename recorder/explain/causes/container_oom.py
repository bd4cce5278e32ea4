"""A container used more memory than it may; its node is as it was."""

from recorder.explain.causes.cause import CONCLUDED, FaultCause, Found
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Fault

__all__ = ["CAUSE"]


def _find(transition: Transition) -> Found | None:
    """A node that is lost was not lost by a container's limit."""
    effect = transition.effect
    if effect.fault is not Fault.CONTAINER_OOM or transition.faults:
        return None
    return Found(effect, Confidence.PROVEN)


CAUSE = FaultCause(
    fault=Fault.CONTAINER_OOM,
    signature="a container ended with reason OOMKilled; the node is healthy",
    lookalikes=("exit code 137 alone, which any SIGKILL causes",),
    weight=CONCLUDED,
    find=_find,
)
