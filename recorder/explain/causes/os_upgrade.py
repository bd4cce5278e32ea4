"""The system was upgraded: a lock or an announcement, then a new boot."""

from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.explain.signs import Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Decision

__all__ = ["CAUSE"]


def _is_begun(case: Case) -> bool:
    """Return whether anything was done that goes with an upgrade."""
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
    # What only the cordon says is said better by the versions.
    said = [s for s in case.decisions if s.subject != Subject.CORDON]
    for sign in said:
        if sign.decision is Decision.OS_UPGRADE:
            actor = sign.actor or case.author(sign)
            strength = case.strength(Decision.OS_UPGRADE)
            if sign.subject.startswith("lock ") and not _is_begun(case):
                # It waits for its turn; who has it empties the node first.
                strength = "possible"
            return Found(sign, strength, actor)
    cordon = case.first(Subject.CORDON)
    if cordon is None or said:
        return None
    author = case.author(cordon)
    anew = case.happened == Happened.REBOOT and not case.faults
    if anew and case.chain.of(Subject.VERSION):
        # Taken out of service, it came back as another system.
        return Found(cordon, "likely", author)
    upgrades = cordon.decision is Decision.OS_UPGRADE
    if not (upgrades and case.is_recent(cordon)):
        return None
    return Found(cordon, "possible", author)


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
