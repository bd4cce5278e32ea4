"""The container runtime failed."""

from typing import Final

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import FaultCause, Found, recorded
from recorder.explain.signs import Sign, Subject
from recorder.knowledge import Fault

__all__ = ["CAUSE"]

SAYINGS: Final = ("PLEG is not healthy", "container runtime is down")
"""What kubelets say that wait for their runtime."""

_recorded = recorded(Fault.RUNTIME)


def _find(case: Case) -> Found | None:
    found = _recorded(case)
    if found is not None or case.faults:
        return found
    # A kubelet says it of a kernel that hangs as well: so it is asked last.
    for sign in case.chain.of(Subject.READY):
        if _says_so(sign) and (sign is case.effect or case.precedes(sign)):
            return Found(sign, "possible" if case.was_lost else "likely")
    return None


def _says_so(sign: Sign) -> bool:
    new = sign.stored.fact.detail.get("new") or {}
    message = new.get("message") or ""
    return any(saying in message for saying in SAYINGS)


CAUSE = FaultCause(
    fault=Fault.RUNTIME,
    signature=(
        "a condition of the container runtime, or the kubelet says that it"
        " waits for it"
    ),
    lookalikes=("kubelet-failure: the kubelet itself was not there",),
    find=_find,
)
