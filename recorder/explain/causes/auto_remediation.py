"""A controller acted on a fault by itself."""

from datetime import timedelta
from typing import Final

from recorder.explain.actors import Actor
from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.explain.signs import Sign, Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Decision, Role
from recorder.model.fact import FactKind

__all__ = ["CAUSE"]

PATIENT: Final = timedelta(minutes=9)
"""How long something is broken at least before it is replaced for that; the
shortest that is known is ten minutes, by the clock of whoever counts."""

UNHEARD: Final = timedelta(minutes=4)
"""How long a node is lost at least before its machine is replaced for that;
the shortest that is known is five minutes."""

TAKING = frozenset({Decision.SCALE_DOWN, Decision.NODE_DELETION})
"""What controllers say that replace what broke, and do not say so."""

STAYING = frozenset({Happened.DRAINED, Happened.CORDONED})


def _find(case: Case) -> Found | None:
    sign = _recorded(case)
    if sign is not None:
        strength = case.strength(Decision.AUTO_REMEDIATION)
        if strength == "possible" and case.is_deleted_by_hand:
            return None  # it waited until a person came
        return Found(sign, strength, sign.actor or case.author(sign))
    answer = _request(case) or _cordon(case)
    if answer is None:
        return _repair(case)
    sure = (
        case.is_recent(answer)
        or case.was_acted_upon
        or case.happened in STAYING
    )
    strength = "proven" if sure else "possible"
    return Found(answer, strength, _controller(case, answer))


def _recorded(case: Case) -> Sign | None:
    """Return its first record; of a lost node, what holds first.

    Who only cordons, or says in an Event what will be done to a node, may
    have waited while another marked it, or had it done by an object.
    """
    found = [
        sign
        for sign in case.decisions
        if sign.decision is Decision.AUTO_REMEDIATION
        and not case.is_by_hand(sign)
    ]
    holding = (
        sign
        for sign in found
        if case.was_lost
        and not sign.vague
        and sign.stored.fact.kind is not FactKind.EVENT
    )
    return next(holding, found[0] if found else None)


def _request(case: Case) -> Sign | None:
    """A request that follows a fault answers it, unless a person made it."""
    for sign in case.decisions:
        if sign.decision is Decision.ADMIN_REQUEST and _answers(case, sign):
            author = case.author(sign)
            if author is None or author.kind != "user":
                return sign
    return None


def _cordon(case: Case) -> Sign | None:
    cordon = case.first(Subject.CORDON)
    if cordon is None or not _answers(case, cordon):
        return None
    actor = case.author(cordon)
    return cordon if actor is not None and actor.is_program else None


def _repair(case: Case) -> Found | None:
    """A node that is taken away while it is broken is repaired by that.

    Karpenter says nothing when it repairs: its taint is that of a scale-down,
    without the Event that goes with one.
    """
    broken, taking = (
        case.first_fault,
        [sign for sign in case.decisions if sign.decision in TAKING],
    )
    for sign in taking:
        actor = sign.actor or case.author(sign)
        if broken and sign.stored.at - broken.stored.at >= PATIENT:
            return Found(sign, "likely", actor)
        if sign.vague and _was_unheard(case, sign):
            return Found(sign, "possible", actor)
    return None


def _was_unheard(case: Case, taken: Sign) -> bool:
    """Return whether a node had been lost for long when somebody took it.

    What has machines replaced for that says so of the machine alone; but a
    person may have done it as well.
    """
    told = [
        sign
        for sign in case.chain.signs
        if sign.subject == Subject.READY and sign.position < taken.position
    ]
    return (
        bool(told)
        and not told[-1].over
        and taken.stored.at - told[-1].stored.at >= UNHEARD
    )


def _answers(case: Case, sign: Sign) -> bool:
    return any(case.answers(sign, fault) for fault in case.faults)


def _controller(case: Case, sign: Sign) -> Actor | None:
    """Return who remediates: who wrote the record, or else who acts on it."""
    author = case.author(sign)
    if author is not None and author.is_program:
        return author
    for other in case.chain.signs:
        own = other.subject.startswith("taint node.kub")
        if other.role is Role.ACT and not own and case.precedes(other):
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
