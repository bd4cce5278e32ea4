"""What is said of one happening: the verdict and its parts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from recorder.classify.paths import Path, written_path
from recorder.coverage.hole import Hole
from recorder.explain.happened import STAYED
from recorder.explain.signals import Actor, Signal
from recorder.model.document import Document
from recorder.model.outcomes import (
    Cause,
    Confidence,
    Decision,
    DurationKind,
    Fault,
    Happened,
    Mode,
    Role,
)
from recorder.model.reference import EntryName

__all__ = [
    "CORDON",
    "Because",
    "Contest",
    "Contradiction",
    "Decided",
    "Duration",
    "Evidence",
    "Faulted",
    "Missing",
    "Rival",
    "Side",
    "Step",
    "Verdict",
]


CORDON: Path = ("spec", "unschedulable")

SHORTEST = timedelta(seconds=1)
"""What lasts for less is not shown."""


class Faulted(msgspec.Struct, frozen=True, kw_only=True):
    """What broke, by which sign."""

    fault: Fault
    sign: Signal
    confidence: Confidence
    """That it is the cause of what happened."""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided, by whom, by which sign."""

    decision: Decision
    actor: Actor | None
    sign: Signal
    confidence: Confidence
    since: datetime | None = None
    """When the intervention began."""

    carried_out_by: Actor | None = None
    """Who did what was decided, where that is somebody else."""

    steps: Sequence[Signal] = ()
    """Of the intervention, in the order of the log."""

    @property
    def entries(self) -> Sequence[EntryName]:
        """Of the steps of the intervention, in the order of the log."""
        return sorted({step.stored.entry for step in self.steps})


class Because(msgspec.Struct, frozen=True, kw_only=True):
    """The fault that an intervention answers."""

    sign: Signal
    strength: Confidence


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the path, with the entries that record it."""

    role: Role
    at: datetime
    says: str
    actor: Actor | None
    entries: Sequence[EntryName]
    """The one that says it, then the others in the order of the log."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A sign in a verdict."""

    role: Role
    sign: Signal


class Rival(Document, frozen=True, kw_only=True):
    """Another cause that was considered."""

    cause: str
    excluded: bool
    because: str


class Missing(Document, frozen=True, kw_only=True):
    """A source that would have shown more."""

    evidence: str
    would_tell: str


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """Two records of which one is wrong; it is not settled which."""

    sign: Signal
    but: str
    """What the other record says."""


class Side(NamedTuple):
    """One of two, and what it set a field to."""

    actor: Actor
    value: bool | str | None
    """None where it removed it; True of a taint or a cordon that it set."""


class Contest(msgspec.Struct, frozen=True, kw_only=True):
    """Two who undo each other's changes of one field of the Node."""

    path: str
    """As `spec.unschedulable`."""

    sides: Sequence[Side]
    """Both, the one who began first."""

    since: datetime
    until: datetime
    """The last change of theirs."""

    entries: Sequence[EntryName]
    """Of each change, in the order of the log."""

    @property
    def is_cordon(self) -> bool:
        """Whether they undo each other's cordon."""
        return self.path == written_path(CORDON)

    @property
    def cordoned_by(self) -> Actor:
        """Of a contest over a cordon, who sets it."""
        return next(side.actor for side in self.sides if side.value)

    @property
    def uncordoned_by(self) -> Actor:
        """Who takes it away."""
        return next(side.actor for side in self.sides if not side.value)


class Duration(msgspec.Struct, frozen=True, kw_only=True):
    """How long something lasted."""

    kind: DurationKind
    length: timedelta
    at_most: bool
    """Whether it is a bound: only a proof before it and one after it are
    recorded."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to a node, why, who decided, on what evidence."""

    node: str
    node_uid: str | None
    happened: Happened
    effect: Signal
    boot_id_before: str | None
    boot_id_after: str | None
    between: tuple[datetime | None, datetime]
    """The last proof of the old state and the first of the new."""

    lost_at: datetime
    """The first proof that something was wrong with the node."""

    back_in_service_at: datetime | None
    mode: Mode
    began: datetime | None
    """The time of the first signal, except signals that held long before."""

    acted_at: datetime | None
    """When the intervention that led to it began, or the node was first
    emptied, whichever came first. None if neither is recorded."""

    fault: Faulted | None
    decision: Decided | None
    because: Because | None = None
    """The fault that the intervention responds to, if one led to this."""

    down: Duration | None = None
    """The time from the last proof that the node was alive to the next one.
    None if the node was never down, has not come back, or no proof from before
    is recorded."""

    away: Duration | None = None
    """The time during which the node was not in service. None if it never
    left service, or is not back."""

    skew: timedelta = timedelta()
    """How far the clock of the node is ahead of the recorder's, by the times
    that the node reports. Times in the verdict are corrected by it."""

    steps: Sequence[Step] = ()
    """The path, at most seven, in the order of the log."""

    sentence: str = ""
    confidence: Confidence = Confidence.UNKNOWN
    evidence: Sequence[Evidence] = ()
    left_out: int = 0
    """The number of signals of the same episode that are not in the
    evidence."""

    rivals: Sequence[Rival] = ()
    missing: Sequence[Missing] = ()
    contradictions: Sequence[Contradiction] = ()
    contests: Sequence[Contest] = ()
    """The contests that it is part of, in the order of the log."""

    hiding: Sequence[Hole] = ()
    """What overlaps the time of its evidence and reduces its confidence."""

    @property
    def contest(self) -> Contest | None:
        """The one over its cordon."""
        return next((one for one in self.contests if one.is_cordon), None)

    @property
    def gaps(self) -> Sequence[EntryName]:
        """The gaps among what may hide something."""
        named = (hole.opened for hole in self.hiding)
        return sorted({name for name in named if name is not None})

    @property
    def id(self) -> str:
        """The name of the first entry of its effect, or of its fault."""
        return str(self.effect.stored.entry)

    @property
    def not_before(self) -> datetime | None:
        """The last proof of the old state."""
        return self.between[0]

    @property
    def not_after(self) -> datetime:
        """The first proof of the new state."""
        return self.between[1]

    @property
    def duration(self) -> Duration | None:
        """How long it lasted: down, or else away from service.

        Lists, sentences, cards, counts and reports show the same.
        """
        if self.happened in STAYED:
            return None
        for one in (self.down, self.away):
            if one is not None and one.length >= SHORTEST:
                return one
        return None

    @property
    def cause(self) -> Cause:
        """The fault, else the decision, else ``unrecorded``."""
        if self.fault is not None:
            return Cause(self.fault.fault)
        if self.decision is not None:
            return Cause(self.decision.decision)
        return Cause.UNRECORDED

    @property
    def began_at(self) -> datetime:
        """When its episode began, or its effect if that was earlier."""
        return min(self.began or self.effect.stored.at, self.effect.stored.at)
