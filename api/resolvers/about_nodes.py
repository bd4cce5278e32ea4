"""Questions about nodes, and about what happened to them."""

from typing import Annotated

import strawberry

from api.resolvers.answers import counting, overview
from api.resolvers.answers.incidents import Shape, incidents
from api.resolvers.answers.paging import Page, page_size
from api.resolvers.asking import Asked, asks
from api.resolvers.context import Info
from api.resolvers.incident import IncidentAnswer
from api.resolvers.node import Node
from api.resolvers.types.arguments import (
    Clusters,
    First,
)
from api.resolvers.types.describing import described
from api.resolvers.types.impact import Impact
from api.resolvers.types.incidents import IncidentConnection
from api.resolvers.types.metrics import Metrics
from api.resolvers.types.postmortem import Postmortem
from api.resolvers.types.series import Annotations, ConditionSeries
from api.resolvers.types.stats import Stats
from api.resolvers.types.verdicts import Why
from api.resolvers.types.words import GroupBy
from recorder.answers.arguments import within
from recorder.answers.node_questions import (
    ConditionsQuestion,
    ImpactQuestion,
    IncidentsQuestion,
    MetricsQuestion,
    NodeNamed,
    PostmortemQuestion,
    StatsQuestion,
    WhyQuestion,
)
from recorder.answers.queries import NodesLike
from recorder.model.window import Window

Steps = Annotated[
    int,
    strawberry.argument(description="Histogram steps, at most 1000."),
]
IncidentId = Annotated[
    strawberry.ID,
    strawberry.argument(description="The ID of a verdict, `LOG/POSITION`."),
]


@described
class AboutNodes:
    """Questions about nodes."""

    @asks(NodeNamed)
    @staticmethod
    async def node(asked: Asked[NodeNamed]) -> Node | None:
        """A node in the log."""
        return await Node.named(await asked.reading(), asked.question.node)

    @asks()
    @staticmethod
    async def node_names(
        asked: Asked[None],
        *,
        prefix: Annotated[
            str, strawberry.argument(description="Prefix of the names.")
        ] = "",
        first: First = None,
    ) -> list[str] | None:
        """Sorted node names, for dashboard variables."""
        begun = NodesLike(text=prefix, limit=page_size(first), anywhere=False)
        reading = await asked.reading()
        return [*await reading.names(begun)]

    @asks("why")
    @staticmethod
    async def why(asked: Asked[WhyQuestion]) -> Why | None:
        """What happened to a node, why, and who decided.

        Without a time: the most recent incident.
        """
        return await asked.answer(Why)

    @asks("impact")
    @staticmethod
    async def impact(asked: Asked[ImpactQuestion]) -> Impact | None:
        """The workloads affected by node failures."""
        return await asked.answer(Impact)

    @asks("incidents")
    @staticmethod
    async def incidents(
        asked: Asked[IncidentsQuestion],
        *,
        page: Page,
        steps: Steps = 60,
        clusters: Clusters = None,
    ) -> IncidentConnection | None:
        """Incidents on all nodes in a window. Default: the last day.

        With `clusters`: of all of them, in order of time, behind one cursor.
        """
        wanted, context = asked.question.wanted, asked.context
        span = asked.question.window.since, asked.question.window.until
        shape = Shape(page, steps, asked.fields)
        logs = await asked.reading() if clusters is None else clusters
        return await incidents(context, logs, wanted, span, shape)

    @asks("stats")
    @staticmethod
    async def stats(
        asked: Asked[StatsQuestion], *, clusters: Clusters = None
    ) -> list[Stats] | None:
        """Incidents, reboots, time away and GPU-hours lost, counted.

        One for each cluster. Default: the last day.
        """
        return await counting.stats(
            asked.context,
            asked.question.by or [GroupBy.CAUSE],
            (asked.question.window.since, asked.question.window.until),
            clusters=clusters,
            one=asked.place,
        )

    # By hand: which log is asked is in the ID of the incident.
    @strawberry.field
    async def incident(
        self,
        info: Info,
        id: IncidentId,  # noqa: A002 - its name
    ) -> IncidentAnswer | None:
        """One incident, by the ID of any of its verdicts."""
        return await IncidentAnswer.named(info.context, id)

    @asks("postmortem", last=("rack", "place", "of_workload"))
    @staticmethod
    async def postmortem(
        asked: Asked[PostmortemQuestion],
    ) -> Postmortem | None:
        """The report of an incident."""
        return await asked.answer(Postmortem)

    @asks("conditions")
    @staticmethod
    async def node_condition_series(
        asked: Asked[ConditionsQuestion],
    ) -> ConditionSeries | None:
        """Conditions as flat rows, for a state timeline panel."""
        overview.check_nodes(asked.question.nodes)
        return await asked.answer(ConditionSeries)

    @asks("metrics")
    @staticmethod
    async def metrics(asked: Asked[MetricsQuestion]) -> Metrics | None:
        """Metrics that were kept of nodes around incidents."""
        overview.check_nodes(asked.question.nodes)
        return await asked.answer(Metrics)

    @asks(within)
    @staticmethod
    async def incident_annotations(
        asked: Asked[Window],
    ) -> Annotations | None:
        """Incidents as flat rows, for dashboard annotations."""
        reading, span = await asked.reading(), asked.question
        return await overview.annotations(
            asked.context, reading, (span.since, span.until)
        )
