"""The container runtime failed."""

from typing import Final

from recorder.explain.causes.cause import FaultCause, Found, recorded
from recorder.explain.signals import Signal, Topic
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Fault

__all__ = ["CAUSE"]

SAYINGS: Final = ("PLEG is not healthy", "container runtime is down")
"""What kubelets say that wait for their runtime."""

_recorded = recorded(Fault.RUNTIME)


def _find(transition: Transition) -> Found | None:
    found = _recorded(transition)
    if found is not None or transition.faults:
        return found
    # A kubelet says it of a kernel that hangs as well: so it is asked last.
    for sign in transition.episode.of(Topic.READY):
        if _says_so(sign) and (
            sign is transition.effect or transition.precedes(sign)
        ):
            return Found(
                sign,
                Confidence.POSSIBLE
                if transition.was_lost
                else Confidence.LIKELY,
            )
    return None


def _says_so(sign: Signal) -> bool:
    condition = sign.condition
    message = (condition.message if condition is not None else None) or ""
    return any(saying in message for saying in SAYINGS)


CAUSE = FaultCause(
    fault=Fault.RUNTIME,
    signature=(
        "a condition about the container runtime, or the kubelet reports that"
        " it is waiting for it"
    ),
    lookalikes=("kubelet-failure: the kubelet itself was down",),
    find=_find,
)
