"""Verdicts as the public interface shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from msgspec import UNSET, UnsetType, field

from recorder.documents.actors import ActorDocument
from recorder.documents.contests import (
    ContestDocument,
    CordonContestDocument,
)
from recorder.documents.coverage import CoverageDocument
from recorder.documents.durations import DurationDocument, seconds_of
from recorder.explain.verdict import (
    Decided,
    Evidence,
    Faulted,
    Missing,
    Rival,
    Step,
    Verdict,
)
from recorder.model.document import Document
from recorder.questions.why import Why

__all__ = [
    "EvidenceDocument",
    "VerdictDocument",
    "WhyDocument",
]


class FaultDocument(Document, frozen=True, kw_only=True):
    """What broke."""

    fault: str = field(name="class")
    says: str
    at: datetime


class DecisionDocument(Document, frozen=True, kw_only=True):
    """What somebody decided."""

    decision: str = field(name="class")
    actor: ActorDocument
    carried_out_by: ActorDocument | None
    says: str
    at: datetime


class BecauseDocument(Document, frozen=True, kw_only=True):
    """The fault that an intervention answers."""

    entry: str
    says: str
    confidence: str


class InterventionDocument(Document, frozen=True, kw_only=True):
    """Who intervened, since when, by which entries."""

    actor: ActorDocument
    since: datetime | None
    entries: Sequence[str]


class StepDocument(Document, frozen=True, kw_only=True):
    """One step of the path."""

    role: str
    at: datetime
    says: str
    actor: ActorDocument | None
    entries: Sequence[str]

    @classmethod
    def of(cls, step: Step) -> Self:
        """Return the document of a step."""
        return cls(
            role=step.role,
            at=step.at,
            says=step.says,
            actor=None if step.actor is None else ActorDocument.of(step.actor),
            entries=[str(entry) for entry in step.entries],
        )


class EvidenceDocument(Document, frozen=True, kw_only=True):
    """One sign in the chain."""

    entry: str
    role: str
    source: str
    occurred_at: datetime | None
    observed_at: datetime
    says: str

    @classmethod
    def of(cls, evidence: Evidence) -> Self:
        """Return the document of a sign in a verdict."""
        stored = evidence.sign.stored
        audited = stored.fact.kind.value == "requested"
        return cls(
            entry=str(stored.entry),
            role=evidence.role,
            source="audit" if audited else "watch",
            occurred_at=stored.fact.occurred_at,
            observed_at=stored.observed_at,
            says=evidence.sign.says,
        )


class ContradictionDocument(Document, frozen=True, kw_only=True):
    """Two records of which one is wrong."""

    entry: str
    says: str
    but: str


class VerdictDocument(Document, frozen=True, kw_only=True):
    """What is said of one happening: why, by whom, on what evidence."""

    id: str
    node: str
    node_uid: str | None
    happened: str
    boot_id_before: str | None
    boot_id_after: str | None
    between: tuple[datetime | None, datetime]
    not_before: datetime | None
    not_after: datetime
    down_seconds: float | None
    away_seconds: float | None
    duration: DurationDocument | None
    clock_skew_seconds: float
    back_in_service_at: datetime | None
    mode: str
    cause: str
    fault: FaultDocument | None
    decision: DecisionDocument | None
    because: BecauseDocument | None
    intervention: InterventionDocument | None
    sentence: str
    confidence: str
    steps: Sequence[StepDocument]
    evidence: Sequence[EvidenceDocument]
    evidence_left_out: int
    rivals: Sequence[Rival]
    contradictions: Sequence[ContradictionDocument]
    gaps: Sequence[str]
    missing: Sequence[Missing]
    contest: CordonContestDocument | UnsetType = UNSET
    """Where two undid each other's cordon."""

    contests: Sequence[ContestDocument] | UnsetType = UNSET
    """Where two undid each other's changes of any field, a cordon too."""

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """Return the document of a verdict."""
        decided = verdict.decision
        last, first = verdict.between
        return cls(
            id=verdict.id,
            node=verdict.node,
            node_uid=verdict.node_uid,
            happened=verdict.happened,
            boot_id_before=verdict.boot_id_before,
            boot_id_after=verdict.boot_id_after,
            between=(last, first),
            not_before=last,
            not_after=first,
            down_seconds=seconds_of(verdict.down),
            away_seconds=seconds_of(verdict.away),
            duration=DurationDocument.of(verdict.duration),
            clock_skew_seconds=verdict.skew.total_seconds(),
            back_in_service_at=verdict.back_in_service_at,
            mode=verdict.mode,
            cause=verdict.cause,
            fault=_fault(verdict.fault),
            decision=_decision(decided),
            because=_because(verdict),
            intervention=_intervention(decided),
            sentence=verdict.sentence,
            confidence=verdict.confidence,
            steps=[StepDocument.of(step) for step in verdict.steps],
            evidence=[EvidenceDocument.of(one) for one in verdict.evidence],
            evidence_left_out=verdict.left_out,
            rivals=verdict.rivals,
            contradictions=[
                ContradictionDocument(
                    entry=str(one.sign.stored.entry),
                    says=one.sign.says,
                    but=one.but,
                )
                for one in verdict.contradictions
            ],
            gaps=[str(gap) for gap in verdict.gaps],
            missing=verdict.missing,
            contest=UNSET
            if verdict.contest is None
            else CordonContestDocument.of(verdict.contest),
            contests=[ContestDocument.of(c) for c in verdict.contests]
            or UNSET,
        )


def _fault(faulted: Faulted | None) -> FaultDocument | None:
    if faulted is None:
        return None
    return FaultDocument(
        fault=faulted.fault.value,
        says=faulted.sign.says,
        at=faulted.sign.stored.at,
    )


def _decision(decided: Decided | None) -> DecisionDocument | None:
    if decided is None:
        return None
    hands = decided.carried_out_by
    return DecisionDocument(
        decision=decided.decision.value,
        actor=ActorDocument.of(decided.actor),
        carried_out_by=None if hands is None else ActorDocument.of(hands),
        says=decided.sign.says,
        at=decided.sign.stored.at,
    )


def _intervention(decided: Decided | None) -> InterventionDocument | None:
    if decided is None:
        return None
    return InterventionDocument(
        actor=ActorDocument.of(decided.actor),
        since=decided.since,
        entries=[str(entry) for entry in decided.entries],
    )


def _because(verdict: Verdict) -> BecauseDocument | None:
    because = verdict.because
    if because is None:
        return None
    return BecauseDocument(
        entry=str(because.sign.stored.entry),
        says=because.sign.says,
        confidence=because.strength,
    )


class WhyQuestionDocument(Document, frozen=True, kw_only=True):
    """Which node, and when."""

    cluster: str
    node: str
    since: datetime | None
    until: datetime | None
    at: datetime | UnsetType = UNSET


class WhyDocument(Document, frozen=True, kw_only=True):
    """What happened to a node, and how sure that is."""

    question: WhyQuestionDocument
    verdicts: Sequence[VerdictDocument]
    coverage: CoverageDocument

    @classmethod
    def of(cls, why: Why) -> Self:
        """Return the document of an answer."""
        question = why.question
        return cls(
            question=WhyQuestionDocument(
                cluster=why.cluster,
                node=question.node,
                since=question.window.since,
                until=question.window.until,
                at=question.at or UNSET,
            ),
            verdicts=[VerdictDocument.of(one) for one in why.verdicts],
            coverage=CoverageDocument.of(why.coverage),
        )
