"""Questions about logs: entries, facts, objects, gaps."""

from dataclasses import replace
from typing import Annotated, Self

import strawberry

from api.resolvers.answers import entries, overview
from api.resolvers.answers.paging import Page, page_size
from api.resolvers.asking import Asked, asks
from api.resolvers.context import Info
from api.resolvers.object import KubernetesObject
from api.resolvers.types.arguments import (
    Clusters,
    First,
)
from api.resolvers.types.clusters import ClusterStatus, ShownStatus
from api.resolvers.types.coverage import Gaps
from api.resolvers.types.describing import described
from api.resolvers.types.endings import WhyWorkload
from api.resolvers.types.entries import EntryConnection
from api.resolvers.types.facts import FactConnection
from api.resolvers.types.nodes import LabelValues, Nodes
from api.resolvers.types.objects_then import Objects
from api.resolvers.types.places import PlaceFound, Places
from api.resolvers.types.search import SearchAnswer
from api.resolvers.types.timeline import WorkloadHistory
from recorder.answers.audit_coverage import AuditCoverage
from recorder.answers.entry import Opened
from recorder.answers.log_questions import (
    EntryQuestion,
    ObjectNamed,
    ObjectsQuestion,
    OpenedQuestion,
    SearchQuestion,
)
from recorder.answers.node_questions import (
    NodesQuestion,
    WhyWorkloadQuestion,
    WorkloadQuestion,
)
from recorder.answers.nodes import ask_labels
from recorder.answers.place_questions import PlaceQuestion, PlacesQuestion
from recorder.answers.search import ask_search
from recorder.model.window import Window


@described
class LinkTemplate:
    """A link with names in braces, for the page to fill in."""

    name: str

    url: str

    @classmethod
    def of(cls, setting: str) -> Self:
        """Parse an item of the setting `links`."""
        name, _, url = setting.partition("=")
        return cls(name=name.strip(), url=url.strip())


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
        return await overview.clusters(info.context)

    @strawberry.field
    async def status(self, info: Info) -> ShownStatus | None:
        """What is recorded, how current it is, and the database."""
        return await overview.status(info.context)

    @asks(ObjectNamed)
    @staticmethod
    async def object(asked: Asked[ObjectNamed]) -> KubernetesObject | None:
        """An object of any kind."""
        reference = asked.question.object
        return await KubernetesObject.named(await asked.reading(), reference)

    @asks("workload")
    @staticmethod
    async def workload(
        asked: Asked[WorkloadQuestion],
    ) -> WorkloadHistory | None:
        """A workload: its Pods over nodes and time, and its disruptions."""
        return await asked.answer(WorkloadHistory)

    @asks("why_workload")
    @staticmethod
    async def why_workload(
        asked: Asked[WhyWorkloadQuestion],
    ) -> WhyWorkload | None:
        """What ended a workload or a Pod, and the node behind it.

        Without a time: all that ever ended Pods of it.
        """
        return await asked.answer(WhyWorkload)

    @asks("entry", opens=True)
    @staticmethod
    async def entry(asked: Asked[OpenedQuestion]) -> Opened | None:
        """One entry with its document and what changed in it."""
        return await asked.answer(Opened)

    @asks("entries", without=("source", "operations"), last=("code",))
    @staticmethod
    async def facts(
        asked: Asked[EntryQuestion],
        *,
        page: Page,
    ) -> FactConnection | None:
        """Facts in log order."""
        return await asked.page(entries.facts, page)

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
        fields = asked.fields
        context, wanted = asked.context, asked.question
        logs = await asked.reading() if clusters is None else clusters
        return await entries.entries(context, logs, wanted, page, fields)

    @asks("nodes")
    @staticmethod
    async def nodes(asked: Asked[NodesQuestion]) -> Nodes | None:
        """The nodes as they were at a time, also those that are gone."""
        return await asked.answer(Nodes)

    @asks("places")
    @staticmethod
    async def places(asked: Asked[PlacesQuestion]) -> Places | None:
        """The places that nodes were behind at a time, by name."""
        return await asked.answer(Places)

    @asks("place")
    @staticmethod
    async def place(asked: Asked[PlaceQuestion]) -> PlaceFound | None:
        """What was behind a place in a window, and claimed of it.

        What happened to the nodes there: `incidents` with the same `place`.
        """
        return await asked.answer(PlaceFound)

    @asks("objects")
    @staticmethod
    async def objects(asked: Asked[ObjectsQuestion]) -> Objects | None:
        """The objects of a kind as they were at a time."""
        return await asked.answer(Objects)

    @asks()
    @staticmethod
    async def label_values(
        asked: Asked[None],
        *,
        key: Annotated[
            str | None,
            strawberry.argument(
                description="Of the label. Default: those that show where a"
                " node is: rack, zone, switch and others."
            ),
        ] = None,
    ) -> list[LabelValues] | None:
        """The values of node labels, for dashboard variables."""
        found = await ask_labels(
            await asked.reading(), key, now=asked.context.now
        )
        return [LabelValues.of(*one) for one in found.items()]

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

    @asks("search")
    @staticmethod
    async def search(
        asked: Asked[SearchQuestion], *, first: First = None
    ) -> SearchAnswer | None:
        """Search for nodes, objects and entries by name."""
        question = replace(asked.question, limit=page_size(first))
        return await ask_search(
            await asked.reading(), question, now=asked.context.now
        )
