"""Questions about nodes, and about what happened to them."""

from typing import Annotated

import strawberry

from api.answers import counting, finding, overview
from api.answers.incidents import Shape, incidents
from api.answers.paging import Page
from api.answers.windows import window
from api.asking import Asked, asks
from api.context import Info
from api.describing import described
from api.resolvers.incident import IncidentAnswer
from api.resolvers.node import Node
from api.selecting import selected
from api.types.arguments import (
    ClusterArgument,
    Clusters,
    First,
    LogArgument,
    Since,
    Until,
)
from api.types.impact import Impact
from api.types.incidents import IncidentConnection
from api.types.postmortem import Postmortem
from api.types.series import Annotations, ConditionSeries
from api.types.stats import Stats
from api.types.verdicts import Why
from api.types.words import GroupBy
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentsQuestion,
    PostmortemQuestion,
    StatsQuestion,
    WhyQuestion,
)

__all__ = ["AboutNodes"]


NodeName = Annotated[
    str, strawberry.argument(description="`gpu-002` or `node/gpu-002`.")
]
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

    @strawberry.field
    async def node(
        self,
        info: Info,
        name: NodeName,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> Node | None:
        """A node in the log."""
        reading = await info.context.reading(cluster, log)
        return await Node.named(reading, name)

    @strawberry.field
    async def node_names(
        self,
        info: Info,
        prefix: Annotated[
            str, strawberry.argument(description="Prefix of the names.")
        ] = "",
        first: First = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> list[str] | None:
        """Sorted node names, for dashboard variables."""
        reading = await info.context.reading(cluster, log)
        return await finding.node_names(reading, prefix, first)

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
        shape = Shape(page, steps, selected(asked.info))
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

    @strawberry.field
    async def incident(
        self,
        info: Info,
        id: IncidentId,  # noqa: A002 - its name
    ) -> IncidentAnswer | None:
        """One incident, by the ID of any of its verdicts."""
        return await IncidentAnswer.named(info.context, id)

    @asks("postmortem", last=("rack",))
    @staticmethod
    async def postmortem(
        asked: Asked[PostmortemQuestion],
    ) -> Postmortem | None:
        """The report of an incident."""
        return await asked.answer(Postmortem)

    @strawberry.field
    async def node_condition_series(
        self,
        info: Info,
        nodes: Annotated[
            list[str], strawberry.argument(description="At most 50.")
        ],
        conditions: Annotated[
            list[str] | None,
            strawberry.argument(description="Only these types."),
        ] = None,
        since: Since = None,
        until: Until = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> ConditionSeries | None:
        """Conditions as flat rows, for a state timeline panel."""
        reading = await info.context.reading(cluster, log)
        return await overview.condition_series(
            info.context,
            reading,
            (nodes, conditions),
            window(since, until),
        )

    @strawberry.field
    async def incident_annotations(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> Annotations | None:
        """Incidents as flat rows, for dashboard annotations."""
        reading = await info.context.reading(cluster, log)
        return await overview.annotations(
            info.context, reading, (since, until)
        )
