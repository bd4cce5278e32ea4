"""What ended a workload, as the public interface shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from msgspec import UNSET, UnsetType, field

from recorder.coverage.coverage import Coverage
from recorder.explain.ending import Ending
from recorder.explain.signals import Actor
from recorder.explain.verdict import Missing, Verdict
from recorder.facts import says_with_object
from recorder.model.document import Document
from recorder.model.fact import StoredFact
from recorder.model.facts import ContainerEnded
from recorder.projections import Workload
from recorder.questions.why_workload import WhyWorkload

__all__ = ["EndingDocument", "WhyWorkloadDocument"]


class WorkloadDocument(Document, frozen=True, kw_only=True):
    """The workload at the top of an owner chain."""

    kind: str
    namespace: str
    name: str
    uid: str | None
    group: str | UnsetType = UNSET

    @classmethod
    def of(cls, workload: Workload) -> Self:
        """Return the document of a workload."""
        return cls(
            kind=workload.kind,
            namespace=workload.namespace,
            name=workload.name,
            uid=workload.uid,
            group=workload.group or UNSET,
        )


class ContainerDocument(Document, frozen=True, kw_only=True):
    """A container that ended."""

    name: str
    exit_code: int | None
    signal: int | None
    reason: str | None
    message: str | None

    @classmethod
    def of(cls, ended: ContainerEnded) -> Self:
        """Return the document of the end of a container."""
        return cls(
            name=ended.container,
            exit_code=ended.exit_code,
            signal=ended.signal,
            reason=ended.reason,
            message=ended.message,
        )


class RecordDocument(Document, frozen=True, kw_only=True):
    """A fact that records an ending."""

    entry: str
    occurred_at: datetime | None
    observed_at: datetime
    says: str

    @classmethod
    def of(cls, stored: StoredFact) -> Self:
        """Return the document of a fact."""
        return cls(
            entry=str(stored.entry),
            occurred_at=stored.fact.occurred_at,
            observed_at=stored.observed_at,
            says=says_with_object(stored.fact),
        )


class EndingDocument(Document, frozen=True, kw_only=True):
    """What ended a workload or Pods of it."""

    ended_by: str
    at: datetime
    first_at: datetime | None
    count: int
    node: str | None
    pods: Sequence[str]
    stopped: Sequence[str]
    container: ContainerDocument | None
    outcome: str | None
    running_again_at: datetime | None
    actor: Actor | None
    gpu_hours_lost: float | None
    confidence: str
    sentence: str
    evidence: Sequence[RecordDocument]
    missing: Sequence[Missing]
    verdict: Verdict | None

    @classmethod
    def of(cls, ending: Ending) -> Self:
        """Return the document of an ending."""
        hit, container = ending.hit, ending.container
        return cls(
            ended_by=ending.ended_by,
            at=ending.at,
            first_at=ending.first_at,
            count=ending.count,
            node=ending.node,
            pods=ending.pods,
            stopped=ending.stopped,
            container=None
            if container is None
            else ContainerDocument.of(container),
            outcome=ending.outcome,
            running_again_at=ending.running_again_at,
            actor=ending.actor,
            gpu_hours_lost=None if hit is None else hit.gpu_hours_lost,
            confidence=ending.confidence,
            sentence=ending.sentence,
            evidence=[RecordDocument.of(one) for one in ending.evidence],
            missing=ending.missing,
            verdict=ending.verdict,
        )


class WhyWorkloadQuestionDocument(Document, frozen=True, kw_only=True):
    """Which object, and when."""

    cluster: str
    object: str
    since: datetime | None
    until: datetime | None
    at: datetime | UnsetType = UNSET


class WhyWorkloadDocument(Document, frozen=True, kw_only=True):
    """What ended a workload or a Pod, and how it was last seen."""

    question: WhyWorkloadQuestionDocument
    workload: WorkloadDocument
    pod: str | None
    state: str
    state_since: datetime | None = field(name="since")
    sentence: str
    endings: Sequence[EndingDocument]
    coverage: Coverage

    @classmethod
    def of(cls, answer: WhyWorkload) -> Self:
        """Return the document of an answer."""
        question = answer.question
        return cls(
            question=WhyWorkloadQuestionDocument(
                cluster=answer.cluster,
                object=str(question.object),
                since=question.window.since,
                until=question.window.until,
                at=question.at or UNSET,
            ),
            workload=WorkloadDocument.of(answer.workload),
            pod=answer.pod,
            state=answer.state,
            state_since=answer.since,
            sentence=answer.sentence,
            endings=[EndingDocument.of(one) for one in answer.endings],
            coverage=answer.coverage,
        )
