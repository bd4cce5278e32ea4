"""Endings: what ended a workload or a Pod."""

from datetime import datetime

import strawberry

from api.resolvers.types.coverage import Window
from api.resolvers.types.publishing import publish
from recorder.answers.loading.waiting import Obstacle
from recorder.answers.slurm_names import SlurmNames
from recorder.answers.why_workload import WhyWorkload
from recorder.explain.ending import (
    Ending,
    FailedContainer,
    LostMember,
    NodesAlike,
    Preemptor,
    RecordedFact,
)

__all__ = [
    "Ending",
    "FailedContainer",
    "LostMember",
    "NodesAlike",
    "Obstacle",
    "Preemptor",
    "RecordedFact",
    "SlurmNames",
    "WhyWorkload",
]


class RecordedFactFields:
    """What GraphQL adds to the record of an ending."""

    at: datetime


publish(FailedContainer)
publish(
    Obstacle,
    adds=RecordedFactFields,
    without=("occurred_at", "observed_at"),
    order=("at", "says"),
)
publish(
    RecordedFact,
    adds=RecordedFactFields,
    without=("occurred_at", "observed_at"),
    order=("at", "says"),
)
publish(LostMember)
publish(NodesAlike)
publish(Preemptor)
publish(Ending)
publish(SlurmNames)


class WhyWorkloadFields:
    """What GraphQL adds to an answer about a workload."""

    @strawberry.field
    @staticmethod
    def window(answer: strawberry.Parent[WhyWorkload]) -> Window:
        asked = answer.question
        return Window(since=asked.since, until=asked.until)


publish(
    WhyWorkload,
    adds=WhyWorkloadFields,
    without=("question",),
    order=("window", "state"),
)
