"""The kubelet went or started anew; the machine went on."""

from recorder.explain.causes.cause import (
    CONCLUDED,
    FaultCause,
    Found,
    recorded,
)
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Fault, Happened

__all__ = ["CAUSE"]

_recorded = recorded(Fault.KUBELET)


def _find(transition: Transition) -> Found | None:
    found = _recorded(transition)
    if found is not None:
        return found
    if transition.happened != Happened.KUBELET_RESTART or transition.faults:
        return None
    # It was away; what stopped it may be on record nowhere.
    return Found(transition.effect, Confidence.POSSIBLE)


CAUSE = FaultCause(
    fault=Fault.KUBELET,
    signature='the kubelet reports "Starting" and the boot ID is the same',
    lookalikes=(
        "a reboot: the boot ID changes",
        "network-partition: no kubelet starts",
    ),
    weight=CONCLUDED,
    find=_find,
)
