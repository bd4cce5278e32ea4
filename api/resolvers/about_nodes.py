"""Questions about nodes, and about what happened to them."""

from typing import Annotated

import strawberry

from api.answers import asking, finding, overview, paging
from api.answers.incidents import IncidentFilter, incident_page
from api.answers.windows import window
from api.context import Info
from api.describing import described
from api.resolvers.incident import IncidentAnswer
from api.resolvers.node import Node
from api.types.arguments import (
    After,
    At,
    Before,
    ClusterArgument,
    First,
    Last,
    LogArgument,
    OfNode,
    Since,
    Until,
)
from api.types.impact import Impact
from api.types.incidents import IncidentConnection
from api.types.postmortem import Postmortem
from api.types.series import Annotations, ConditionSeries
from api.types.verdicts import Why
from api.types.words import Cause, Confidence, Happened
from recorder.questions.impact import ImpactQuestion

__all__ = ["AboutNodes"]


NodeName = Annotated[
    str, strawberry.argument(description="As `gpu-002` or `node/gpu-002`.")
]
IncidentId = Annotated[
    strawberry.ID,
    strawberry.argument(description="The id of a verdict, `LOG/POSITION`."),
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
        """A node of the log."""
        reading = await info.context.reading(cluster, log)
        return await Node.named(reading, name)

    @strawberry.field
    async def node_names(
        self,
        info: Info,
        prefix: Annotated[
            str, strawberry.argument(description="What they begin with.")
        ] = "",
        first: First = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> list[str] | None:
        """Names of nodes, in order; for variables of dashboards."""
        reading = await info.context.reading(cluster, log)
        return await finding.node_names(reading, prefix, first)

    @strawberry.field
    async def why(
        self,
        info: Info,
        node: NodeName,
        at: At = None,
        since: Since = None,
        until: Until = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> Why | None:
        """What happened to a node, why, and who decided.

        Without a time: what happened last.
        """
        reading = await info.context.reading(cluster, log)
        return await asking.why(
            info.context, reading, node, at=at, span=(since, until)
        )

    @strawberry.field
    async def impact(
        self,
        info: Info,
        nodes: Annotated[
            list[str] | None, strawberry.argument(description="By name.")
        ] = None,
        rack: Annotated[
            str | None,
            strawberry.argument(description="By a label that names a rack."),
        ] = None,
        labels: Annotated[
            list[str] | None,
            strawberry.argument(
                description="By labels as they were, as `KEY=VALUE`."
            ),
        ] = None,
        since: Since = None,
        until: Until = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> Impact | None:
        """The workloads that failures of nodes hit."""
        reading = await info.context.reading(cluster, log)
        return await asking.impact(
            info.context,
            reading,
            ImpactQuestion.selecting(
                nodes or (),
                rack=rack,
                labels=labels or (),
                window=window(since, until),
            ),
        )

    @strawberry.field
    async def incidents(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        happened: Annotated[
            list[Happened] | None,
            strawberry.argument(description="Only these."),
        ] = None,
        causes: Annotated[
            list[Cause] | None,
            strawberry.argument(description="Only of these causes."),
        ] = None,
        confidence: Annotated[
            list[Confidence] | None,
            strawberry.argument(description="Only as sure as this."),
        ] = None,
        node: OfNode = None,
        workload: Annotated[
            str | None,
            strawberry.argument(
                description="Only what hit a workload with this in its name."
            ),
        ] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        steps: Annotated[
            int,
            strawberry.argument(description="Of the histogram, 1000 at most."),
        ] = 60,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> IncidentConnection | None:
        """What happened to any node in a window: the last day without."""
        reading = await info.context.reading(cluster, log)
        return await incident_page(
            info.context,
            reading,
            IncidentFilter(
                since=since,
                until=until,
                happened=happened,
                causes=causes,
                confidence=confidence,
                node=node,
                workload=workload,
                steps=steps,
            ),
            paging.Page.of(first, after, last, before),
        )

    @strawberry.field
    async def incident(
        self,
        info: Info,
        id: IncidentId,  # noqa: A002 - its name
    ) -> IncidentAnswer | None:
        """One incident, by the id of any of its verdicts."""
        return await IncidentAnswer.named(info.context, id)

    @strawberry.field
    async def postmortem(
        self,
        info: Info,
        subject: Annotated[
            str,
            strawberry.argument(
                description="`node/NAME`, or the id of an incident."
            ),
        ],
        since: Since = None,
        until: Until = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> Postmortem | None:
        """The report of an incident, to paste or to keep."""
        context = info.context
        reading = await finding.log_of(context, subject, cluster, log)
        return await asking.postmortem(
            context, reading, subject, window(since, until)
        )

    @strawberry.field
    async def node_condition_series(
        self,
        info: Info,
        nodes: Annotated[
            list[str], strawberry.argument(description="50 at most.")
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
        """Conditions as flat rows, for a state timeline of a dashboard."""
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
        """Incidents as flat rows, to mark on the graphs of a dashboard."""
        reading = await info.context.reading(cluster, log)
        return await overview.annotations(
            info.context, reading, (since, until)
        )
