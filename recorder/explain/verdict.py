"""Verdicts on what happened to a node, as the public interface shows them.

The structs are the answers, from where they are found to where they are
shown: fields whose written names begin with an underscore are for the engine
and for reports.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Self

from msgspec import UNSET, UnsetType, field

from recorder.explain.signals.actor import UNKNOWN, Actor
from recorder.explain.signals.signal import Signal
from recorder.facts.coverage.hole import Hole
from recorder.model.document import Document
from recorder.model.fact import FactKind
from recorder.model.observation import AUDIT, CLOUDEVENTS, WATCH
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

_SOURCES = {FactKind.REQUESTED: AUDIT, FactKind.CLAIMED: CLOUDEVENTS}
"""Sources of facts that no watch shows."""


class Faulted(Document, frozen=True, kw_only=True):
    """What broke."""

    fault: Fault = field(name="class")
    says: str
    at: datetime
    sign: Signal = field(name="_sign")
    confidence: Confidence = field(name="_confidence")
    """How sure it is that the fault caused what happened."""

    @classmethod
    def by(cls, fault: Fault, sign: Signal, confidence: Confidence) -> Self:
        """Return the fault that a signal shows."""
        return cls(
            fault=fault,
            says=sign.says,
            at=sign.at,
            sign=sign,
            confidence=confidence,
        )


class AnsweredFault(Document, frozen=True, kw_only=True):
    """The fault that an intervention responds to."""

    entry: EntryName
    says: str
    confidence: Confidence


class Intervention(Document, frozen=True, kw_only=True):
    """What one author did to the node."""

    actor: Actor

    since: datetime | None
    """When its first step was seen."""

    entries: Sequence[EntryName]
    """Its steps, in the order of the log."""


class Decided(Document, frozen=True, kw_only=True):
    """A decision and its author."""

    decision: Decision = field(name="class")

    actor: Actor
    """Who decided; a person, if recorded."""

    carried_out_by: Actor | None
    """Who carried it out; null if the actor did."""

    says: str
    at: datetime
    sign: Signal = field(name="_sign")
    confidence: Confidence = field(name="_confidence")
    steps: Sequence[Signal] = field(name="_steps")
    """The steps of the intervention, in the order of the log."""

    @classmethod
    def by(
        cls,
        decision: Decision,
        sign: Signal,
        actor: Actor | None,
        confidence: Confidence,
        steps: Sequence[Signal],
        carried_out_by: Actor | None = None,
    ) -> Self:
        """Return the decision that a signal shows best."""
        return cls(
            decision=decision,
            actor=actor or UNKNOWN,
            carried_out_by=carried_out_by,
            says=sign.says,
            at=sign.at,
            sign=sign,
            confidence=confidence,
            steps=tuple(steps),
        )

    @property
    def is_by_unknown(self) -> bool:
        """Whether no record names the author or the tool."""
        return self.actor == UNKNOWN

    @property
    def began(self) -> datetime:
        """When its author first acted, or it was decided."""
        return min([self.at, *(step.at for step in self.steps)])

    @property
    def intervention(self) -> Intervention:
        """Return what its author did to the node."""
        return Intervention(
            actor=self.actor,
            since=min(step.seen for step in self.steps),
            entries=sorted({step.entry for step in self.steps}),
        )


class Step(Document, frozen=True, kw_only=True):
    """One step of the path, with every entry that records it."""

    role: Role
    at: datetime
    says: str
    actor: Actor | None
    entries: Sequence[EntryName]


class Evidence(Document, frozen=True, kw_only=True):
    """One signal of the episode."""

    entry: EntryName
    """The entry that proves it, `LOG/POSITION`."""

    role: Role
    source: str
    occurred_at: datetime | None
    observed_at: datetime
    says: str
    sign: Signal = field(name="_sign")

    @classmethod
    def of(cls, role: Role, sign: Signal) -> Self:
        """Return a signal as evidence, in a role."""
        stored = sign.stored
        fact = stored.fact
        return cls(
            entry=stored.entry,
            role=role,
            source=_SOURCES.get(fact.kind, WATCH),
            occurred_at=fact.occurred_at,
            observed_at=stored.observed_at,
            says=sign.says,
            sign=sign,
        )

    @property
    def at(self) -> datetime:
        """When it happened, or when it was observed."""
        return self.occurred_at or self.observed_at


class Rival(Document, frozen=True, kw_only=True):
    """Another cause that was considered."""

    cause: str
    excluded: bool
    because: str


class Contradiction(Document, frozen=True, kw_only=True):
    """Two conflicting records."""

    entry: EntryName
    says: str

    but: str
    """What the other record says."""


class Missing(Document, frozen=True, kw_only=True):
    """A source that would have shown more."""

    evidence: str
    would_tell: str


class Contest(Document, frozen=True, kw_only=True):
    """Two actors who undo each other's cordon."""

    cordoned_by: Actor
    uncordoned_by: Actor
    since: datetime

    until: datetime
    """When the last change was made."""

    entries: Sequence[EntryName]
    """The entries of the changes, in the order of the log."""


class NodeContestSide(Document, frozen=True, kw_only=True):
    """One of the two actors, and the value that it set."""

    actor: Actor

    value: bool | str | None
    """Null if the actor removed the field; true for a taint or a cordon."""


class NodeContest(Document, frozen=True, kw_only=True):
    """Two actors who undo each other's changes of one field of the Node."""

    path: str
    """For example `metadata.labels.pool`."""

    sides: Sequence[NodeContestSide]
    since: datetime

    until: datetime
    """When the last change was made."""

    entries: Sequence[EntryName]
    """The entries of the changes, in the order of the log."""


class Duration(Document, frozen=True, kw_only=True):
    """How long something lasted."""

    kind: DurationKind
    seconds: float

    at_most: bool
    """Whether it is an upper bound: only a proof before it and one after it
    are recorded."""

    length: timedelta = field(name="_length")

    @classmethod
    def of(
        cls, kind: DurationKind, length: timedelta, *, at_most: bool
    ) -> Self:
        """Return the duration of a timedelta."""
        seconds = round(length.total_seconds(), 3)
        return cls(kind=kind, seconds=seconds, at_most=at_most, length=length)


class Stage(Document, frozen=True, kw_only=True):
    """How far a machine came while it started."""

    stage: str
    """What a claim of type `machine.boot` says, or `certificate-requested`,
    `certificate-approved`, `certificate-denied`, `certificate-failed`,
    `kubelet`, `registered`, `ready`."""

    at: datetime
    entry: EntryName


class Verdict(Document, frozen=True, kw_only=True):
    """What happened, why, who decided it, and the evidence."""

    id: str
    """The first entry of its effect; stable on the same log."""

    node: str
    node_uid: str | None
    happened: Happened
    boot_id_before: str | None
    boot_id_after: str | None
    between: tuple[datetime | None, datetime]

    not_before: datetime | None
    """The last proof of the old state."""

    not_after: datetime
    """The first proof of the new one."""

    down_seconds: float | None
    """The time from the last proof that the node was alive to the next one.
    Null if the node was never down, has not come back, or no proof from before
    is recorded."""

    away_seconds: float | None
    """How long the node was not in service; null while it is not."""

    duration: Duration | None
    """How long it lasted, as in the sentence: the time down, or else out of
    service. Null if neither is known."""

    down: Duration | None = field(name="_down")
    away: Duration | None = field(name="_away")

    clock_skew_seconds: float
    """How far the clock of the node is ahead, by the times that it reports;
    negative if it is behind. The times of this answer are corrected by it."""

    began_at: datetime = field(name="_began_at")
    """Time of its first signal."""

    at: datetime = field(name="_at")
    """When it happened."""

    back_in_service_at: datetime | None
    """Ready, without taints, and not cordoned; null while it is not."""

    mode: Mode
    cause: Cause
    fault: Faulted | None
    decision: Decided | None
    because: AnsweredFault | None
    intervention: Intervention | None

    sentence: str
    """A one-sentence summary."""

    confidence: Confidence

    steps: Sequence[Step]
    """The path, at most seven, in the order of the log."""

    evidence: Sequence[Evidence]

    evidence_left_out: int
    """Signals of the same episode not listed in the evidence."""

    rivals: Sequence[Rival]
    contradictions: Sequence[Contradiction]

    gaps: Sequence[EntryName]
    """Entries of the gaps that reduce its confidence."""

    missing: Sequence[Missing]

    contest: Contest | UnsetType = UNSET
    """The contest over the cordon that this verdict is part of, if any."""

    contests: Sequence[NodeContest] | UnsetType = UNSET
    """The contests over fields of the Node that this verdict is part of."""

    last_stage: Stage | UnsetType = UNSET
    """The last stage of its start that a node reached that is not back, if
    what it reached before it registers is recorded."""

    effect: Signal = field(name="_effect")

    lost_at: datetime = field(name="_lost_at")
    """The first proof that something was wrong with the node."""

    acted_at: datetime | None = field(name="_acted_at")
    """When the intervention that led to it began, or the node was first
    emptied, whichever came first. None if neither is recorded."""

    hiding: Sequence[Hole] = field(name="_hiding")
    """The gaps that overlap its evidence and reduce its confidence."""

    @property
    def is_out(self) -> bool:
        """Whether it took the node out of service, which is not back."""
        stayed = self.happened in {Happened.DEGRADED, Happened.JOINED}
        return self.back_in_service_at is None and not stayed

    @property
    def over_at(self) -> datetime | None:
        """When it was back in service, or sound again; None while it lasts."""
        lasted = self.duration
        if self.back_in_service_at is not None or self.is_out:
            return self.back_in_service_at
        if self.happened is Happened.JOINED:
            return self.at
        return None if lasted is None else self.at + lasted.length
