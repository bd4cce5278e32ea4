"""Questions about logs: entries, facts, objects, gaps."""

from typing import Annotated

import strawberry

from api.answers import entries, finding, listing, overview
from api.answers.paging import Page
from api.answers.windows import window
from api.asking import Asked, asks
from api.context import Info
from api.describing import described
from api.resolvers.object import KubernetesObject
from api.selecting import selected
from api.types.arguments import (
    ClusterArgument,
    Clusters,
    First,
    LogArgument,
    Since,
    Until,
)
from api.types.clusters import ClusterStatus, ShownStatus
from api.types.endings import WhyWorkload
from api.types.entries import EntryConnection
from api.types.facts import FactConnection
from api.types.gaps import Gaps
from api.types.links import LinkTemplate
from api.types.nodes import LabelValues, Nodes
from api.types.search import SearchAnswer
from api.types.workloads import WorkloadStory
from recorder.answers.audit_coverage import AuditCoverage
from recorder.answers.entry import Opened
from recorder.answers.log_questions import EntryQuestion
from recorder.answers.node_questions import NodesQuestion, WhyWorkloadQuestion
from recorder.model.window import Window

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
    async def clusters(self, info: Info) -> list[ClusterStatus] | None:
        """All clusters and tapes that have a log."""
        return [*(await overview.status(info.context)).clusters]

    @strawberry.field
    async def status(self, info: Info) -> ShownStatus | None:
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

    @asks("why_workload")
    @staticmethod
    async def why_workload(
        asked: Asked[WhyWorkloadQuestion],
    ) -> WhyWorkload | None:
        """What ended a workload or a Pod, and the node behind it.

        Without a time: all that ever ended Pods of it.
        """
        return await asked.answer(WhyWorkload)

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
    ) -> Opened | None:
        """One entry with its document and what changed in it."""
        return await finding.entry(info.context, name, all_fields=all_fields)

    @asks("entries", without=("source", "operations"), last=("code",))
    @staticmethod
    async def facts(
        asked: Asked[EntryQuestion],
        *,
        page: Page,
    ) -> FactConnection | None:
        """Facts in log order."""
        return await entries.facts(
            asked.context,
            await asked.reading(),
            asked.question,
            page,
            selected(asked.info),
        )

    @asks("entries", without=("kinds",), last=("code",))
    @staticmethod
    async def entries(
        asked: Asked[EntryQuestion],
        *,
        page: Page,
        clusters: Clusters = None,
    ) -> EntryConnection | None:
        """Entries in log order.

        With `clusters`: of all of them, each in log order, merged by when
        they were observed, behind one cursor.
        """
        fields = selected(asked.info)
        context, wanted = asked.context, asked.question
        logs = await asked.reading() if clusters is None else clusters
        return await entries.entries(context, logs, wanted, page, fields)

    @asks("nodes")
    @staticmethod
    async def nodes(asked: Asked[NodesQuestion]) -> Nodes | None:
        """The nodes as they were at a time, also those that are gone."""
        return await asked.answer(Nodes)

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

    @asks("coverage")
    @staticmethod
    async def gaps(asked: Asked[Window]) -> Gaps | None:
        """Time spans in which the log may be incomplete."""
        return await asked.answer(Gaps)

    @asks("audit_coverage")
    @staticmethod
    async def audit_coverage(asked: Asked[Window]) -> AuditCoverage | None:
        """How many versions of objects have an author in the audit log.

        The whole window is read: give one.
        """
        return await asked.answer(AuditCoverage)

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
