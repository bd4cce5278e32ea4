"""Impact: the workloads that failures hit."""

import strawberry

from api.resolvers.types.coverage import Window
from api.resolvers.types.publishing import publish
from recorder.answers.impact import Impact, NodeFailure
from recorder.explain.hit import Hit, Totals
from recorder.facts.projections import Workload

__all__ = ["Hit", "Impact", "Totals", "Workload"]


class _HitFields:
    evidence: list[strawberry.ID]


class _ImpactFields:
    @strawberry.field
    @staticmethod
    def nodes(impact: strawberry.Parent[Impact]) -> list[str]:
        """The nodes named in the query or selected by labels."""
        return [*impact.question.nodes]

    @strawberry.field
    @staticmethod
    def window(impact: strawberry.Parent[Impact]) -> Window:
        asked = impact.question
        return Window(since=asked.since, until=asked.until)


publish(Workload, name="WorkloadReference")
publish(Totals, name="ImpactTotals")
publish(NodeFailure, name="Failure", shows=["sentence"])
publish(
    Hit,
    name="WorkloadHit",
    adds=_HitFields,
    shows=["workload"],
    without=("kind", "namespace", "name", "uid"),
)
publish(
    Impact,
    adds=_ImpactFields,
    without=("question",),
    order=("nodes", "window", "failures"),
)
