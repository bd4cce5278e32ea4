"""Endings: what ended a workload or a Pod."""

from datetime import datetime
from typing import Self

import strawberry

from api.describing import described
from api.types.coverage import Coverage, Window
from api.types.impact import Workload
from api.types.verdicts import Verdict
from api.types.words import Confidence, EndedBy, Outcome, WorkloadState
from recorder.explain import ending as told
from recorder.explain.signals import Actor
from recorder.explain.verdict import Missing
from recorder.facts import says_with_object
from recorder.model.facts import ContainerEnded
from recorder.questions.why_workload import WhyWorkload as Answered

__all__ = ["Ending", "FailedContainer", "RecordedFact", "WhyWorkload"]


@described
class FailedContainer:
    """A container that failed."""

    name: str

    exit_code: int | None

    signal: int | None

    reason: str | None

    message: str | None

    @classmethod
    def of(cls, ended: ContainerEnded) -> Self:
        """Take it from a fact."""
        return cls(
            name=ended.container,
            exit_code=ended.exit_code,
            signal=ended.signal,
            reason=ended.reason,
            message=ended.message,
        )


@described
class RecordedFact:
    """A fact that records an ending."""

    entry: strawberry.ID

    at: datetime

    says: str


@described
class Ending:
    """What ended a workload, or Pods of it, at one time."""

    ended_by: EndedBy

    at: datetime
    """When its first sign was observed; of a container that failed
    repeatedly, the last time."""

    first_at: datetime | None
    """The first time a container failed so; null if it failed once."""

    count: int
    """How often a container failed so."""

    node: str | None

    pods: list[str]
    """The Pods that it ended; empty if it ended the workload itself."""

    stopped: list[str]
    """The Pods that were stopped because the workload did not go on."""

    container: FailedContainer | None
    """The container that failed by itself."""

    outcome: Outcome | None
    """What became of the workload; null if it ended with it."""

    running_again_at: datetime | None

    actor: Actor | None
    """Who deleted or suspended it, where audit says so."""

    gpu_hours_lost: float | None
    """Lower bound; work since the last checkpoint is not known."""

    confidence: Confidence
    """That this is what ended it."""

    sentence: str

    evidence: list[RecordedFact]

    missing: list[Missing]

    verdict: Verdict | None
    """What happened to the node, where that ended the Pods."""

    @classmethod
    def of(cls, ending: told.Ending) -> Self:
        """Take it from an answer."""
        hit, container = ending.hit, ending.container
        return cls(
            ended_by=ending.ended_by,
            at=ending.at,
            first_at=ending.first_at,
            count=ending.count,
            node=ending.node,
            pods=list(ending.pods),
            stopped=list(ending.stopped),
            container=None
            if container is None
            else FailedContainer.of(container),
            outcome=ending.outcome,
            running_again_at=ending.running_again_at,
            actor=ending.actor,
            gpu_hours_lost=None if hit is None else hit.gpu_hours_lost,
            confidence=ending.confidence,
            sentence=ending.sentence,
            evidence=[
                RecordedFact(
                    entry=strawberry.ID(str(one.entry)),
                    at=one.at,
                    says=says_with_object(one.fact),
                )
                for one in ending.evidence
            ],
            missing=[*ending.missing],
            verdict=ending.verdict,
        )


@described
class WhyWorkload:
    """What ended a workload or a Pod, and how it was last seen."""

    workload: Workload

    pod: str | None
    """The Pod that was asked about, if it was one."""

    window: Window

    state: WorkloadState

    since: datetime | None
    """Since when it is in this state, if known."""

    sentence: str

    endings: list[Ending]
    """In order of time; empty if nothing recorded ended it."""

    coverage: Coverage

    @classmethod
    def of(cls, answer: Answered) -> Self:
        """Take it from an answer."""
        window = answer.question.window
        return cls(
            workload=answer.workload,
            pod=answer.pod,
            window=Window(since=window.since, until=window.until),
            state=answer.state,
            since=answer.since,
            sentence=answer.sentence,
            endings=[Ending.of(one) for one in answer.endings],
            coverage=answer.coverage,
        )
