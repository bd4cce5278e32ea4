"""The system was upgraded: a lock or an announcement, then a new boot."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.explain.signs import Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Decision

__all__ = ["CAUSE"]


def _find(case: Case) -> Found | None:
    for sign in case.decisions:
        if sign.decision is Decision.OS_UPGRADE:
            actor = sign.actor or case.author(sign)
            strength = case.strength(Decision.OS_UPGRADE)
            return Found(sign, strength, actor)
    if case.happened != Happened.REBOOT or case.decisions or case.faults:
        return None
    cordon = case.first(Subject.CORDON)
    if not case.chain.of(Subject.VERSION) or cordon is None:
        return None
    # Somebody took it out of service and it came back as another system.
    return Found(cordon, "likely", case.author(cordon))


CAUSE = DecisionCause(
    decision=Decision.OS_UPGRADE,
    signature=(
        "the lock of kured names the node, or the machine config operator"
        " says that it will reboot; the kernel or the image changes"
    ),
    lookalikes=(
        "admin-request: the versions are the same",
        "manual-drain: nobody announced a reboot",
    ),
    find=_find,
)
