"""Endings: what ended a workload or a Pod."""

from datetime import datetime
from typing import Self

from api.describing import described
from api.publishing import publish
from api.types.coverage import Coverage, Window
from api.types.impact import Workload
from api.types.words import WorkloadState
from recorder.explain.ending import Ending, FailedContainer, RecordedFact
from recorder.questions.why_workload import WhyWorkload as Answered

__all__ = ["Ending", "FailedContainer", "RecordedFact", "WhyWorkload"]


class RecordedFactFields:
    """What GraphQL adds to the record of an ending."""

    at: datetime


publish(FailedContainer)
publish(
    RecordedFact,
    adds=RecordedFactFields,
    without=("occurred_at", "observed_at"),
    order=("entry", "at", "says"),
)
publish(Ending)


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
            endings=[*answer.endings],
            coverage=answer.coverage,
        )
