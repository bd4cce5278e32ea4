"""The kernel panicked: only a record from the machine proves it."""

from recorder.explain.causes.case import MOMENT, Case
from recorder.explain.causes.cause import FaultCause, Found
from recorder.explain.signs import Sign, Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Fault

__all__ = ["CAUSE"]


def _find(case: Case) -> Found | None:
    if case.happened != Happened.REBOOT:
        return None
    for sign in case.chain.signs:
        if sign.fault is Fault.KERNEL_PANIC and _is_of_this(case, sign):
            return Found(sign, "proven")
    return None


def _is_of_this(case: Case, sign: Sign) -> bool:
    """Whether a panic is of this boot: its dump is found after it."""
    lost = [s.stored.observed_at for s in case.chain.of(Subject.READY)[:1]]
    gone = min([case.effect.stored.observed_at, *lost])
    return sign.stored.observed_at >= gone and sign.stored.at >= gone - MOMENT


CAUSE = FaultCause(
    fault=Fault.KERNEL_PANIC,
    signature="a crash dump (VMcore), pstore or gpud reports a panic",
    lookalikes=(
        "power loss, a reset and a hard hang: the cause is unrecorded then",
    ),
    find=_find,
)
