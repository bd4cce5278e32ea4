"""Something else that somebody calls a fault."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import FaultCause, Found, recorded
from recorder.knowledge import Fault

__all__ = ["CAUSE"]


def _find(case: Case) -> Found | None:
    found = recorded(Fault.OTHER)(case)
    if found is None or not case.was_lost or case.is_answered(found.sign):
        return found
    # Nothing says that what is wrong there can take a machine away.
    return Found(found.sign, "possible")


CAUSE = FaultCause(
    fault=Fault.OTHER,
    signature=(
        "a condition that is called a fault and belongs to no other class"
    ),
    lookalikes=("conditions without a rule, which are no fault",),
    find=_find,
)
