"""A node: the entry point of everything recorded about one machine."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

import strawberry

from api.resolvers.answers import entries
from api.resolvers.answers.paging import Page
from api.resolvers.asking import Asked, asks
from api.resolvers.context import Info
from api.resolvers.types.describing import described
from api.resolvers.types.entries import EntryConnection
from api.resolvers.types.facts import FactConnection
from api.resolvers.types.impact import Impact
from api.resolvers.types.postmortem import Postmortem
from api.resolvers.types.publishing import publish
from api.resolvers.types.timeline import PlacedPod
from api.resolvers.types.verdicts import Why
from recorder.answers.log_questions import EntryQuestion
from recorder.answers.node_questions import (
    ImpactQuestion,
    PostmortemQuestion,
    TimelineQuestion,
    WhyQuestion,
)
from recorder.answers.placements import ask_placements
from recorder.answers.ports import Reading
from recorder.answers.references import find_node
from recorder.answers.timeline import DpuTimeline, Timeline, ask_dpus
from recorder.model.fact import FactKind

Kinds = Annotated[
    list[FactKind] | None,
    strawberry.argument(description="Only facts of these kinds."),
]
FACTS = ("node", "object", "source", "operations")
ENTRIES = (*FACTS, "kinds")
"""Filters that lists of a node do not take."""


def _node(parent: "Node") -> Mapping[str, Any]:
    return {"node": parent.name}


def _nodes(parent: "Node") -> Mapping[str, Any]:
    return {"nodes": (parent.name,)}


def _subject(parent: "Node") -> Mapping[str, Any]:
    return {"subject": parent.name}


class _TimelineFields:
    @strawberry.field
    @staticmethod
    async def placements(
        timeline: strawberry.Parent[Timeline], info: Info
    ) -> list[PlacedPod]:
        """Pods on the node in the window, including DaemonSet Pods."""
        # Read only on demand: it costs as much as all other fields.
        reading = await info.context.reading(None, str(timeline.log))
        return await ask_placements(reading, timeline.node, timeline.asked)

    @strawberry.field
    @staticmethod
    async def dpus(
        timeline: strawberry.Parent[Timeline], info: Info
    ) -> list[DpuTimeline]:
        """DPUs that are built into the node, by the logs of their clusters."""
        context = info.context
        reading = await context.reading(None, str(timeline.log))
        return await ask_dpus(
            reading,
            timeline.node,
            timeline.asked,
            context.knowledge,
            now=context.now,
        )


publish(DpuTimeline)
publish(Timeline, adds=_TimelineFields)


@described
class Node:
    """A node, by name, with all its incarnations.

    A field that could not be answered is null; `errors` says why.
    """

    reading: strawberry.Private[Reading]

    name: str

    cluster: str

    log: strawberry.ID

    @classmethod
    async def named(cls, reading: Reading, name: str) -> Self:
        """Find a node in a log.

        Raises:
            NotFoundError: the log has no such node.
        """
        await find_node(reading, name)
        return cls.of(reading, name)

    @classmethod
    def of(cls, reading: Reading, name: str) -> Self:
        """Return a node that is known to exist."""
        return cls(
            reading=reading,
            name=name,
            cluster=reading.log.cluster_name,
            log=strawberry.ID(str(reading.log.id)),
        )

    @asks("why", of=_node, without=("node",))
    @staticmethod
    async def why(asked: Asked[WhyQuestion]) -> Why | None:
        """What happened to it, why, and who decided.

        Without a time: the most recent incident.
        """
        return await asked.answer(Why)

    @asks("impact", of=_nodes, without=("nodes", "rack", "place", "labels"))
    @staticmethod
    async def impact(asked: Asked[ImpactQuestion]) -> Impact | None:
        """The workloads affected by its failures, on any node."""
        return await asked.answer(Impact)

    @asks("timeline", of=_node)
    @staticmethod
    async def timeline(asked: Asked[TimelineQuestion]) -> Timeline | None:
        """The state of the node over the window, for a timeline."""
        return await asked.answer(Timeline)

    @asks(
        "entries",
        of=_node,
        without=("node", "object", "source", "operations"),
        last=("code",),
    )
    @staticmethod
    async def facts(
        asked: Asked[EntryQuestion],
        *,
        page: Page,
    ) -> FactConnection | None:
        """Facts about the node, in log order."""
        return await asked.page(entries.facts, page)

    @asks(
        "entries",
        of=_node,
        without=("node", "object", "source", "operations", "kinds"),
        last=("code",),
    )
    @staticmethod
    async def entries(
        asked: Asked[EntryQuestion],
        *,
        page: Page,
    ) -> EntryConnection | None:
        """Entries about the node, in log order."""
        return await asked.page(entries.entries, page)

    @asks(
        "postmortem",
        of=_subject,
        without=("subject", "rack", "place", "of_workload"),
    )
    @staticmethod
    async def postmortem(
        asked: Asked[PostmortemQuestion],
    ) -> Postmortem | None:
        """The report that `recorder postmortem` writes."""
        return await asked.answer(Postmortem)
