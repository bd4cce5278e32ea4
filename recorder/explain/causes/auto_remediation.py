"""A controller acted on a fault by itself."""

from recorder.explain.actors import Actor
from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.explain.signs import Sign, Subject
from recorder.knowledge import Decision, Role

__all__ = ["CAUSE"]


def _find(case: Case) -> Found | None:
    for sign in case.decisions:
        if sign.decision is Decision.AUTO_REMEDIATION:
            return Found(sign, "proven", sign.actor or case.author(sign))
    fault = case.first_fault
    if fault is None:
        return None
    answer = _request(case, fault) or _cordon(case, fault)
    if answer is None:
        return None
    return Found(answer, "proven", _controller(case, answer))


def _request(case: Case, fault: Sign) -> Sign | None:
    """A request that follows a fault answers it, unless a person made it."""
    for sign in case.decisions:
        if sign.decision is Decision.ADMIN_REQUEST and _after(sign, fault):
            author = case.author(sign)
            if author is None or author.kind != "user":
                return sign
    return None


def _cordon(case: Case, fault: Sign) -> Sign | None:
    cordon = case.first(Subject.CORDON)
    if cordon is None or not _after(cordon, fault):
        return None
    actor = case.author(cordon)
    return cordon if actor is not None and actor.is_program else None


def _after(sign: Sign, fault: Sign) -> bool:
    return sign.position > fault.position


def _controller(case: Case, sign: Sign) -> Actor | None:
    """Give who remediates: who wrote the record, or else who acts on it."""
    author = case.author(sign)
    if author is not None and author.is_program:
        return author
    for other in case.chain.signs:
        if other.role is Role.ACT and case.precedes(other):
            actor = other.actor
            if actor is not None and actor.kind == "controller":
                return actor
    return author


CAUSE = DecisionCause(
    decision=Decision.AUTO_REMEDIATION,
    signature=(
        "a fault, then a remediation object, a cordon or a request by a"
        " controller, then the loss"
    ),
    lookalikes=(
        "admin-request: no fault came first, or a person asked",
        "manual-drain: kubectl cordoned",
    ),
    find=_find,
)
