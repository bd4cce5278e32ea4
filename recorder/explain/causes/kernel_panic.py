"""The kernel panicked: only a record from the machine proves it."""

from recorder.explain.causes.cause import PROVED, FaultCause, Found
from recorder.explain.signals import Signal, Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Fault, Happened

__all__ = ["CAUSE"]


def _find(transition: Transition) -> Found | None:
    if transition.happened != Happened.REBOOT:
        return None
    for sign in transition.episode.signals:
        if sign.fault is Fault.KERNEL_PANIC and _is_of_this(transition, sign):
            return Found(sign, Confidence.PROVEN)
    return None


def _is_of_this(transition: Transition, sign: Signal) -> bool:
    """Whether a panic is of this boot: its dump is found after it."""
    lost = [
        s.stored.observed_at for s in transition.episode.of(Topic.READY)[:1]
    ]
    gone = min([transition.effect.stored.observed_at, *lost])
    return (
        sign.stored.observed_at >= gone
        and sign.stored.at >= gone - LIMITS.moment
    )


CAUSE = FaultCause(
    fault=Fault.KERNEL_PANIC,
    signature="a crash dump (VMcore), pstore or gpud reports a panic",
    lookalikes=(
        "power loss, a reset, a hard hang: then the cause is unrecorded",
    ),
    weight=PROVED,
    find=_find,
)
