"""The shape of a cause: how it is found and what looks like it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recorder.explain.actors import Actor
from recorder.explain.causes.case import Case
from recorder.explain.signs import Sign, Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Decision, Fault

__all__ = ["DecisionCause", "FaultCause", "Found", "recorded"]


@dataclass(frozen=True, slots=True)
class Found:
    """Evidence of a cause, and how much it excludes."""

    sign: Sign
    confidence: str
    actor: Actor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCause:
    """Something that breaks."""

    fault: Fault
    signature: str
    """What it looks like, for the table in the docs."""

    lookalikes: Sequence[str]
    """What looks alike, and how it is told apart."""

    find: Callable[[Case], Found | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCause:
    """Something that somebody decides."""

    decision: Decision
    signature: str
    lookalikes: Sequence[str]
    find: Callable[[Case], Found | None]


def recorded(fault: Fault) -> Callable[[Case], Found | None]:
    """Find a fault that somebody recorded and that held at the effect.

    The latest such fault is the one that counts: an earlier one had not
    taken the node away.
    """

    def find(case: Case) -> Found | None:
        if not case.faults or case.faults[0].fault is not fault:
            return None
        sign = case.faults[0]
        answered = case.is_answered(sign)
        near = case.is_recent(sign) and not _spares_kubelet(case, sign)
        if not answered and not near:
            # Nobody cordons a node for what stood there for days.
            return Found(sign, "possible") if case.was_lost else None
        if sign.subject == Subject.GPUS:
            # The device plugin took a GPU away and did not say why.
            return Found(sign, "likely")
        sure = answered or not case.was_lost
        return Found(sign, "proven" if sure else "likely")

    return find


def _spares_kubelet(case: Case, fault: Sign) -> bool:
    """Return whether a fault is of a part without which a kubelet runs on.

    Whoever repaired it may have started the kubelet anew.
    """
    alone = case.happened == Happened.KUBELET_RESTART
    return alone and fault.fault in {Fault.GPU, Fault.LINK}
