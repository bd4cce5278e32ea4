"""A case: one chain, what happened in it, and what was around it.

Causes ask a case for evidence; they never look at facts themselves.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from recorder.explain.actors import Actor
from recorder.explain.causes.requests import made
from recorder.explain.chains import Chain
from recorder.explain.fleet import Fleet
from recorder.explain.signs import Sign, Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Decision, Fault, Role

__all__ = ["Case", "MOMENT", "SAME_WRITE", "is_barred"]

SAME_WRITE: Final = timedelta(seconds=3)
"""Between an audit record and the change that it made."""

RECENT: Final = timedelta(hours=1)
"""How long before a loss something may lie and still be likely its cause."""

MOMENT: Final = timedelta(minutes=2)
"""The same of an Event, which tells nothing of what held afterwards."""

PREPARING: Final = (Subject.CORDON, Subject.EVICTION, "condition ")
"""Beginnings of subjects of acts that prepare a node for something."""

LOST: Final = frozenset(
    {
        Happened.REBOOT,
        Happened.UNREACHABLE,
        Happened.KUBELET_RESTART,
        Happened.REPLACED,
        Happened.REJOINED,
        Happened.REMOVED,
    }
)


@dataclass(frozen=True)
class Case:
    """What causes are found in."""

    chain: Chain
    happened: str
    effect: Sign
    fleet: Fleet
    absent: Collection[str] = ()
    """Sources and resources that were never recorded."""

    def precedes(self, sign: Sign) -> bool:
        """Return whether a sign came before the effect."""
        return (
            sign.position < self.effect.position
            or sign.stored.at < self.effect.stored.at
        )

    @cached_property
    def lost_at(self) -> datetime:
        """The last renewal, the loss or the effect, whichever was first."""
        times = [self.effect.stored.at]
        for subject in (Subject.SILENCE, Subject.READY):
            times += [s.stored.at for s in self.chain.of(subject)[:1]]
        return min(times)

    @cached_property
    def decisions(self) -> list[Sign]:
        """Records of decisions before the effect, earliest first."""
        found = [
            sign
            for sign in self.chain.signs
            if sign.decision is not None
            and sign.role is not Role.RECOVERY
            and not sign.over
            and (sign is self.effect or self.precedes(sign))
            and not self._is_withdrawn(sign)
            and (sign.due is None or sign.due - RECENT <= self.lost_at)
        ]
        return sorted(found, key=lambda s: (s.stored.at, s.position))

    def _is_withdrawn(self, decision: Sign) -> bool:
        """Return whether what was decided was taken back before the effect.

        A lock and a taint hold until they are obeyed; a condition may be
        taken away by whoever obeys it, which shows by what else is done. A
        list after a gap tells no order, but since when.
        """
        strict = decision.subject.startswith(("lock ", "taint "))
        obeyed = not strict and self.was_acted_upon
        spared = RECENT if obeyed else timedelta(0)
        return any(
            self._calls_off(sign, decision)
            or (
                decision.position < sign.position <= self.effect.position
                and sign.over
                and sign.subject == decision.subject
                and min(sign.stored.at, sign.stored.observed_at) + spared
                < self.lost_at
            )
            for sign in self.chain.signs
        )

    def _calls_off(self, sign: Sign, decision: Sign) -> bool:
        """Return whether an Event says that a decision came to nothing.

        It is dated: a list after a gap may show it with the loss.
        """
        return (
            sign.role is Role.RECOVERY
            and sign.decision is decision.decision
            and decision.stored.at <= sign.stored.at < self.lost_at
        )

    @cached_property
    def faults(self) -> list[Sign]:
        """Faults that still held at the effect, the latest first."""
        held: dict[str, Sign] = {}
        for sign in self.chain.signs:
            if not (sign is self.effect or self.precedes(sign)):
                continue
            at_once = sign.position == self.effect.position
            if sign.over and at_once and sign.stored.at >= self.lost_at:
                continue  # a list after a gap tells no order, but since when
            if sign.over:
                held.pop(sign.subject, None)
            elif sign.fault is not None and sign.fault not in _APART:
                held.setdefault(sign.subject, sign)
        return sorted(
            held.values(),
            key=lambda s: (_is_held(s), s.stored.at, s.position),
            reverse=True,
        )

    @cached_property
    def first_fault(self) -> Sign | None:
        """The earliest of the faults that still held."""
        return min(
            self.faults, key=lambda s: (s.stored.at, s.position), default=None
        )

    def of_fault(self, fault: Fault) -> Sign | None:
        """Return the first sign of a fault anywhere in the chain."""
        return next(
            (
                s
                for s in self.chain.signs
                if s.fault is fault and s.role is Role.FAULT and not s.over
            ),
            None,
        )

    def is_recent(self, sign: Sign) -> bool:
        """Return whether a sign is near enough to the loss to be its cause."""
        within = RECENT if _is_held(sign) else MOMENT
        return self.lost_at - sign.stored.at <= within

    def answers(self, answer: Sign, fault: Sign) -> bool:
        """Return whether a sign follows a fault so soon as to answer it."""
        first = fault.position, fault.stored.at, fault.stored.index
        then = answer.position, answer.stored.at, answer.stored.index
        return then > first and answer.stored.at - fault.stored.at <= RECENT

    def is_answered(self, fault: Sign) -> bool:
        """Return whether somebody decided or cordoned upon a fault."""
        answers = [*self.decisions, *self.chain.of(Subject.CORDON)]
        return any(
            self.answers(answer, fault)
            for answer in answers
            if answer.decision not in _REGARDLESS
        )

    def strength(self, decision: Decision) -> str:
        """Return how sure it is that a decision on record led to the effect.

        What was said long before, and not acted upon since, may still wait,
        or be forgotten; unless it was said when it would be done.
        """
        signs = [s for s in self.decisions if s.decision is decision]
        if all(sign.vague or self._is_overdue(sign) for sign in signs):
            return "possible"
        if self.was_acted_upon or any(self._is_near(sign) for sign in signs):
            return "proven"
        return "likely" if any(sign.due for sign in signs) else "possible"

    def is_hinted(self, decision: Decision) -> bool:
        """Return whether a decision is only hinted at, and another is said."""
        signs = [s for s in self.decisions if s.decision is decision]
        return (
            all(s.vague for s in signs)
            and bool(signs)
            and (
                any(not s.vague for s in self.decisions)
                # What was asked for first has the others for its consequence.
                or self.asked_to_go is not None
                or min(self.decisions, key=lambda s: s.position) not in signs
            )
        )

    @property
    def asked_to_go(self) -> Sign | None:
        """The request to delete the Node, by whom no program can be."""
        asked = self.first(Subject.DELETION)
        author = self.author(asked) if asked is not None else None
        by_hand = author is not None and not author.is_program
        hints = [s.position for s in self.decisions]
        early = asked is not None and all(asked.position < p for p in hints)
        return asked if by_hand and early else None

    def _is_overdue(self, sign: Sign) -> bool:
        """Return whether something was to be done long before, and was not."""
        return sign.due is not None and self.lost_at - sign.due > RECENT

    @property
    def was_shut_down(self) -> bool:
        """Whether the system went down in order."""
        last = None
        for sign in self.chain.signs:
            if sign.subject == Subject.SHUTDOWN and self.precedes(sign):
                last = sign
        return last is not None and not last.over

    @property
    def is_back(self) -> bool:
        """Whether it is the same Node that came back."""
        return self.chain.state.present and self.happened in {
            Happened.REBOOT,
            Happened.UNREACHABLE,
            Happened.KUBELET_RESTART,
        }

    @property
    def was_acted_upon(self) -> bool:
        """Whether anybody acted on the node shortly before the effect."""
        return any(
            sign.role is Role.ACT
            and not sign.over
            and not sign.subject.startswith(("request/", "taint node.kub"))
            and self.precedes(sign)
            and self._is_near(sign)
            for sign in self.chain.signs
        )

    @property
    def was_prepared(self) -> bool:
        """Whether the node was emptied, or marked, shortly before."""
        return any(
            sign.role is Role.ACT
            and not sign.over
            and (sign.subject.startswith(PREPARING) or is_barred(sign))
            and self.precedes(sign)
            and self._is_near(sign)
            for sign in self.chain.signs
        )

    def _is_near(self, sign: Sign) -> bool:
        return self.lost_at - sign.stored.at <= RECENT

    @property
    def was_lost(self) -> bool:
        """Whether the node went away, for a moment or for good."""
        return self.happened in LOST

    def first(self, subject: str) -> Sign | None:
        """Return the first sign of a subject before the effect."""
        return next(
            (
                s
                for s in self.chain.of(subject)
                if s is self.effect or self.precedes(s)
            ),
            None,
        )

    def is_by_hand(self, sign: Sign) -> bool:
        """Return whether a person made what controllers make to remediate."""
        if sign.decision is not Decision.AUTO_REMEDIATION:
            return False
        author = self.author(sign)
        return author is not None and author.kind == "user"

    @property
    def is_deleted_by_hand(self) -> bool:
        """Whether it is known that a person deleted the Node."""
        authors = [
            self.author(sign)
            for sign in self.chain.signs
            if sign.subject == Subject.IDENTITY and sign.over
        ]
        return any(who is not None and who.kind == "user" for who in authors)

    def author(self, sign: Sign) -> Actor | None:
        """Return who is behind a change: by audit, else by its writer."""
        near = [
            (abs(other.stored.at - sign.stored.at), other.position, other)
            for other in self.chain.signs
            if other.subject.startswith("request/")
            and abs(other.stored.at - sign.stored.at) <= SAME_WRITE
            and made(other, sign)
        ]
        return min(near)[2].actor if near else sign.actor


_APART = frozenset({Fault.CONTAINER_OOM, Fault.KERNEL_PANIC})
"""A container that is out of memory takes no node away; a panic is proved
after the boot, if ever."""


_REGARDLESS = frozenset({Decision.OS_UPGRADE, Decision.DRIVER_UPGRADE})
"""What is decided for whole fleets, whatever is broken in a node."""


def is_barred(sign: Sign) -> bool:
    """Return whether somebody put a taint on a node by hand."""
    return (
        sign.role is Role.ACT
        and not sign.over
        and sign.subject.startswith("taint ")
        and sign.actor is not None
        and not sign.actor.is_program
    )


def _is_held(sign: Sign) -> bool:
    return not sign.subject.startswith("event ")
