"""The system was upgraded: a lock or an announcement, then a new boot."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.explain.signs import Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Decision

__all__ = ["CAUSE"]


def _is_begun(case: Case) -> bool:
    """Tell whether anything was done that goes with an upgrade."""
    return (
        case.chain.baseline.cordoned
        or case.was_shut_down
        or bool(case.chain.of(Subject.VERSION))
        or any(
            case.first(subject) is not None
            for subject in (Subject.CORDON, Subject.EVICTION)
        )
    )


def _find(case: Case) -> Found | None:
    for sign in case.decisions:
        if sign.decision is Decision.OS_UPGRADE:
            actor = sign.actor or case.author(sign)
            strength = case.strength(Decision.OS_UPGRADE)
            if sign.subject.startswith("lock ") and not _is_begun(case):
                # It waits for its turn; who has it empties the node first.
                strength = "possible"
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
