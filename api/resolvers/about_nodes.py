"""Questions about nodes, and about what happened to them."""

from typing import Annotated, Any

import strawberry

from api.answers import asking, counting, finding, overview, paging
from api.answers.fleet_lists import fleet_incidents
from api.answers.incidents import Shape, incident_page
from api.answers.windows import window
from api.context import Info
from api.describing import described
from api.resolvers.incident import IncidentAnswer
from api.resolvers.node import Node
from api.selecting import selected
from api.types.arguments import (
    After,
    At,
    Before,
    ClusterArgument,
    Clusters,
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
from api.types.stats import Stats
from api.types.verdicts import Why
from api.types.words import Cause, Confidence, GroupBy, Happened
from recorder.questions.arguments import Asking, read
from recorder.questions.impact import ImpactQuestion
from recorder.questions.incidents import IncidentFilter

__all__ = ["AboutNodes"]


NodeName = Annotated[
    str, strawberry.argument(description="`gpu-002` or `node/gpu-002`.")
]
HappenedOnly = Annotated[
    list[Happened] | None,
    strawberry.argument(description="Only these values."),
]
CausesOnly = Annotated[
    list[Cause] | None,
    strawberry.argument(description="Only these causes."),
]
ConfidenceOnly = Annotated[
    list[Confidence] | None,
    strawberry.argument(description="Only these confidence levels."),
]
WorkloadPart = Annotated[
    str | None,
    strawberry.argument(
        description="Only incidents that affected a workload whose"
        " name contains this."
    ),
]
Racks = Annotated[
    list[str | None] | None,
    strawberry.argument(
        description="Only incidents that struck a node of one of these"
        " racks, or switches; null selects those of no known rack."
    ),
]
Namespaces = Annotated[
    list[str | None] | None,
    strawberry.argument(
        description="Only incidents that affected a workload of one of"
        " these namespaces; null selects those that affected none."
    ),
]
Controllers = Annotated[
    list[str | None] | None,
    strawberry.argument(
        description="Only incidents whose decision one of these"
        " programs carried out; null selects those of no program."
    ),
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

        Without a time: the most recent incident.
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
            list[str] | None, strawberry.argument(description="Node names.")
        ] = None,
        rack: Annotated[
            str | None,
            strawberry.argument(
                description="Value of a label that names a rack or a switch."
            ),
        ] = None,
        labels: Annotated[
            list[str] | None,
            strawberry.argument(
                description="Labels at the time, as `KEY=VALUE`."
            ),
        ] = None,
        since: Since = None,
        until: Until = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> Impact | None:
        """The workloads affected by node failures."""
        reading = await info.context.reading(cluster, log)
        question: Any = read(
            ImpactQuestion,
            {"nodes": nodes, "rack": rack, "labels": labels},
            Asking(now=info.context.now, window=window),
            window=window(since, until),
        )
        return await asking.impact(info.context, reading, question)

    @strawberry.field
    async def incidents(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        happened: HappenedOnly = None,
        causes: CausesOnly = None,
        confidence: ConfidenceOnly = None,
        node: OfNode = None,
        workload: WorkloadPart = None,
        racks: Racks = None,
        namespaces: Namespaces = None,
        controllers: Controllers = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        steps: Steps = 60,
        clusters: Clusters = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> IncidentConnection | None:
        """Incidents on all nodes in a window. Default: the last day.

        With `clusters`: of all of them, in order of time, behind one cursor.
        """
        wanted = IncidentFilter(
            happened=happened,
            causes=causes,
            confidence=confidence,
            node=node,
            workload=workload,
            racks=racks,
            namespaces=namespaces,
            controllers=controllers,
        )
        span, page = (since, until), paging.Page.of(first, after, last, before)
        shape = Shape(page, steps, selected(info))
        if clusters is not None:
            return await fleet_incidents(
                info.context, clusters, wanted, span, shape
            )
        reading = await info.context.reading(cluster, log)
        return await incident_page(info.context, reading, wanted, span, shape)

    @strawberry.field
    async def stats(
        self,
        info: Info,
        by: Annotated[
            list[GroupBy] | None,
            strawberry.argument(
                description="What to count by. Default: the cause."
            ),
        ] = None,
        since: Since = None,
        until: Until = None,
        clusters: Clusters = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> list[Stats] | None:
        """Incidents, reboots, time away and GPU-hours lost, counted.

        One for each cluster. Default: the last day.
        """
        return await counting.stats(
            info.context,
            by or [GroupBy.CAUSE],
            (since, until),
            clusters=clusters,
            one=(cluster, log),
        )

    @strawberry.field
    async def incident(
        self,
        info: Info,
        id: IncidentId,  # noqa: A002 - its name
    ) -> IncidentAnswer | None:
        """One incident, by the ID of any of its verdicts."""
        return await IncidentAnswer.named(info.context, id)

    @strawberry.field
    async def postmortem(
        self,
        info: Info,
        subject: Annotated[
            str | None,
            strawberry.argument(
                description="`node/NAME`, `KIND/NAMESPACE/NAME` of a workload,"
                " or the id of an incident."
            ),
        ] = None,
        since: Since = None,
        until: Until = None,
        rack: Annotated[
            str | None,
            strawberry.argument(description="In place of a subject."),
        ] = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> Postmortem | None:
        """The report of an incident."""
        context = info.context
        reading = await finding.log_of(context, subject or "", cluster, log)
        return await asking.postmortem(
            context, reading, subject, window(since, until), rack=rack
        )

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
