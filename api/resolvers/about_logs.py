"""Questions about logs: entries, facts, objects, gaps."""

from typing import Annotated

import strawberry

from api.answers import asking, finding, listing, overview, paging
from api.answers.fleet_lists import fleet_entries
from api.answers.windows import window
from api.context import Info
from api.describing import described
from api.resolvers.node import ActorName, Code, Kinds, Reason
from api.resolvers.object import KubernetesObject
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
    OfObject,
    Since,
    Until,
)
from api.types.clusters import Cluster, Status
from api.types.endings import WhyWorkload
from api.types.entries import EntryConnection, EntryDetail
from api.types.facts import FactConnection
from api.types.gaps import Gaps
from api.types.links import LinkTemplate
from api.types.nodes import LabelValues, Nodes
from api.types.search import SearchAnswer
from api.types.words import SourceName
from api.types.workloads import WorkloadStory
from recorder.model.entry import Operation
from recorder.questions.audit_coverage import AuditCoverage, ask_audit_coverage
from recorder.questions.references import Reference

__all__ = ["AboutLogs"]


ObjectName = Annotated[
    str,
    strawberry.argument(
        description="Written as for kubectl: `node/gpu-002`,"
        " `pod/train/llm-0`, `po/llm-0` with `namespace`."
    ),
]
Namespace = Annotated[
    str | None, strawberry.argument(description="Namespace of the object.")
]


@described
class AboutLogs:
    """Questions about logs."""

    @strawberry.field
    def links(self, info: Info) -> list[LinkTemplate] | None:
        """Links that the page offers, as the setting `links` has them."""
        return [LinkTemplate.of(one) for one in info.context.links]

    @strawberry.field
    async def clusters(self, info: Info) -> list[Cluster] | None:
        """All clusters and tapes that have a log."""
        return (await overview.status(info.context)).clusters

    @strawberry.field
    async def status(self, info: Info) -> Status | None:
        """What is recorded, how current it is, and the database."""
        return await overview.status(info.context)

    @strawberry.field
    async def object(
        self,
        info: Info,
        name: ObjectName,
        namespace: Namespace = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> KubernetesObject | None:
        """An object of any kind."""
        reading = await info.context.reading(cluster, log)
        return await KubernetesObject.named(reading, name, namespace)

    @strawberry.field
    async def workload(
        self,
        info: Info,
        name: Annotated[
            str,
            strawberry.argument(
                description="For example `jobset/train/llm`, or `job/llm` with"
                " `namespace`."
            ),
        ],
        namespace: Namespace = None,
        since: Since = None,
        until: Until = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> WorkloadStory | None:
        """A workload: its Pods over nodes and time, and its disruptions."""
        reading = await info.context.reading(cluster, log)
        return await finding.workload(
            info.context,
            reading,
            (name, namespace),
            window(since, until),
        )

    @strawberry.field
    async def why_workload(
        self,
        info: Info,
        name: Annotated[
            str,
            strawberry.argument(
                description="For example `job/train/llm`, or `pod/llm-0` with"
                " `namespace`."
            ),
        ],
        namespace: Namespace = None,
        at: At = None,
        since: Since = None,
        until: Until = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> WhyWorkload | None:
        """What ended a workload or a Pod, and the node behind it.

        Without a time: all that ever ended Pods of it.
        """
        reading = await info.context.reading(cluster, log)
        return await asking.why_workload(
            info.context,
            reading,
            Reference.parse(name, namespace),
            at=at,
            span=(since, until),
        )

    @strawberry.field
    async def entry(
        self,
        info: Info,
        name: Annotated[
            strawberry.ID, strawberry.argument(description="`LOG/POSITION`.")
        ],
        all_fields: Annotated[
            bool,
            strawberry.argument(description="Include insignificant changes."),
        ] = False,
    ) -> EntryDetail | None:
        """One entry with its document and what changed in it."""
        return await finding.entry(info.context, name, all_fields=all_fields)

    @strawberry.field
    async def facts(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        node: OfNode = None,
        object: OfObject = None,  # noqa: A002 - its name
        kinds: Kinds = None,
        reason: Reason = None,
        actor: ActorName = None,
        code: Code = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> FactConnection | None:
        """Facts in log order."""
        reading = await info.context.reading(cluster, log)
        return await paging.facts(
            info.context,
            reading,
            paging.Filter(
                window=window(since, until),
                node=node,
                object=finding.reference(object),
                kinds=kinds,
                reason=reason,
                actor=actor,
                code=code,
            ),
            paging.Page.of(first, after, last, before),
            selected(info),
        )

    @strawberry.field
    async def entries(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        node: OfNode = None,
        object: OfObject = None,  # noqa: A002 - its name
        source: Annotated[
            SourceName | None,
            strawberry.argument(description="Only this source."),
        ] = None,
        operations: Annotated[
            list[Operation] | None,
            strawberry.argument(description="Only these values."),
        ] = None,
        reason: Reason = None,
        actor: ActorName = None,
        code: Code = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        clusters: Clusters = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> EntryConnection | None:
        """Entries in log order.

        With `clusters`: of all of them, each in log order, merged by when
        they were observed, behind one cursor.
        """
        wanted = paging.Filter(
            window=window(since, until),
            node=node,
            object=finding.reference(object),
            source=source,
            operations=operations,
            reason=reason,
            actor=actor,
            code=code,
        )
        page = paging.Page.of(first, after, last, before)
        fields = selected(info)
        if clusters is not None:
            return await fleet_entries(
                info.context, clusters, wanted, page, fields
            )
        reading = await info.context.reading(cluster, log)
        return await paging.entries(
            info.context, reading, wanted, page, fields
        )

    @strawberry.field
    async def nodes(
        self,
        info: Info,
        at: At = None,
        rack: Annotated[
            str | None,
            strawberry.argument(
                description="Value of a label that names a rack or a switch."
            ),
        ] = None,
        labels: Annotated[
            list[str] | None,
            strawberry.argument(description="Labels, as `KEY=VALUE`."),
        ] = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> Nodes | None:
        """The nodes as they were at a time, also those that are gone."""
        reading = await info.context.reading(cluster, log)
        return await listing.nodes(
            info.context, reading, at, rack=rack, labels=labels or ()
        )

    @strawberry.field
    async def label_values(
        self,
        info: Info,
        key: Annotated[
            str | None,
            strawberry.argument(
                description="Of the label. Default: those that say where a"
                " node stands: rack, zone, switch and others."
            ),
        ] = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> list[LabelValues] | None:
        """The values of node labels, for dashboard variables."""
        reading = await info.context.reading(cluster, log)
        return await listing.label_values(info.context, reading, key)

    @strawberry.field
    async def gaps(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> Gaps | None:
        """Time spans in which the log may be incomplete."""
        reading = await info.context.reading(cluster, log)
        return await overview.gaps(info.context, reading, window(since, until))

    @strawberry.field
    async def audit_coverage(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> AuditCoverage | None:
        """How many versions of objects have an author in the audit log.

        The whole window is read: give one.
        """
        reading = await info.context.reading(cluster, log)
        return await ask_audit_coverage(
            reading, window(since, until), now=info.context.now
        )

    @strawberry.field
    async def search(
        self,
        info: Info,
        text: Annotated[
            str,
            strawberry.argument(
                description="Part of a name, `kind/name`, or an entry."
            ),
        ],
        first: First = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> SearchAnswer | None:
        """Search for nodes, objects and entries by name."""
        reading = await info.context.reading(cluster, log)
        return await finding.search(info.context, reading, text, first)
