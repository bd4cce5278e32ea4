"""Verdicts: what happened to a node, why, and on what evidence."""

from datetime import datetime

import strawberry

from api.resolvers.types.coverage import Window
from api.resolvers.types.describing import described
from api.resolvers.types.publishing import publish
from api.resolvers.types.scalars import Json
from api.resolvers.types.words import SourceName
from recorder.answers.why import Why
from recorder.explain import verdict as judged
from recorder.explain.signals.actor import Actor
from recorder.explain.verdict import Verdict

__all__ = ["Verdict", "Why"]


@described
class Between:
    """Time bounds of when it happened."""

    last: datetime | None
    """The last proof of the old state."""

    first: datetime
    """The first proof of the new one."""


class EvidenceFields:
    """What GraphQL adds to evidence."""

    source: SourceName

    at: datetime
    """When it happened, or when it was observed."""


class ContestSideFields:
    """Fields of a side of a contest that GraphQL changes."""

    value: Json | None


class VerdictFields:
    """Fields of a verdict that GraphQL changes."""

    id: strawberry.ID

    @strawberry.field
    @staticmethod
    def between(verdict: strawberry.Parent[Verdict]) -> Between:
        last, first = verdict.between
        return Between(last=last, first=first)

    @strawberry.field
    @staticmethod
    def contests(
        verdict: strawberry.Parent[Verdict],
    ) -> list[judged.NodeContest]:
        return [*(verdict.contests or ())]


for _part in (
    Actor,
    judged.AnsweredFault,
    judged.Contest,
    judged.Contradiction,
    judged.Duration,
    judged.Intervention,
    judged.NodeContest,
    judged.Rival,
    judged.Stage,
    judged.Step,
):
    publish(_part)
publish(judged.Decided, name="DecisionFound")
publish(judged.Faulted, name="FaultFound")
publish(judged.Missing, name="MissingEvidence")
publish(judged.NodeContestSide, adds=ContestSideFields)
publish(
    judged.Evidence,
    adds=EvidenceFields,
    order=("at", "says"),
)
publish(
    Verdict,
    adds=VerdictFields,
    shows=["began_at", "at"],
    order=("steps", "sentence"),
)


class WhyFields:
    """What GraphQL adds to an answer about a node."""

    @strawberry.field
    @staticmethod
    def node(why: strawberry.Parent[Why]) -> str:
        return why.question.node

    @strawberry.field
    @staticmethod
    def window(why: strawberry.Parent[Why]) -> Window:
        """The window of the query."""
        return Window(since=why.question.since, until=why.question.until)


publish(
    Why,
    adds=WhyFields,
    without=("question",),
    order=("node", "window", "verdicts"),
)
