"""A node: the entry point of everything that is known of one machine."""

from typing import Annotated, Self

import strawberry

from api.answers import asking, paging
from api.answers.windows import window
from api.context import Info
from api.describing import described
from api.selecting import selected
from api.types.arguments import After, At, Before, First, Last, Since, Until
from api.types.entries import EntryConnection
from api.types.facts import FactConnection
from api.types.impact import Impact
from api.types.postmortem import Postmortem
from api.types.timeline import Timeline
from api.types.verdicts import Why
from recorder.model.fact import FactKind
from recorder.questions.impact import ImpactQuestion, ask_impact
from recorder.questions.ports import Reading
from recorder.questions.references import find_node, node_name

__all__ = ["Node"]

Kinds = Annotated[
    list[FactKind] | None,
    strawberry.argument(description="Only facts of these kinds."),
]
Reason = Annotated[
    str | None,
    strawberry.argument(description="Only Events with this reason."),
]
Code = Annotated[
    int | None,
    strawberry.argument(
        description="Only requests refused with this HTTP status code."
    ),
]
ActorName = Annotated[
    str | None, strawberry.argument(description="Only facts with this actor.")
]


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
        """Find it in a log.

        Raises:
            NotFoundError: the log has no such node.
        """
        name = node_name(name)
        await find_node(reading, name)
        return cls.of(reading, name)

    @classmethod
    def of(cls, reading: Reading, name: str) -> Self:
        """Take one that is known to be there."""
        return cls(
            reading=reading,
            name=name,
            cluster=reading.log.cluster_name,
            log=strawberry.ID(str(reading.log.id)),
        )

    @strawberry.field
    async def why(
        self,
        info: Info,
        at: At = None,
        since: Since = None,
        until: Until = None,
    ) -> Why | None:
        """What happened to it, why, and who decided.

        Without a time: the most recent incident.
        """
        return await asking.why(
            info.context, self.reading, self.name, at=at, span=(since, until)
        )

    @strawberry.field
    async def impact(
        self, info: Info, since: Since = None, until: Until = None
    ) -> Impact | None:
        """The workloads affected by its failures, on any node."""
        question = ImpactQuestion(
            nodes=(self.name,),
            rack=None,
            labels=(),
            window=window(since, until),
        )
        context = info.context
        return await ask_impact(
            self.reading, question, context.knowledge, now=context.now
        )

    @strawberry.field
    async def timeline(
        self, info: Info, since: Since = None, until: Until = None
    ) -> Timeline | None:
        """The state of the node over the window, for a timeline."""
        return await asking.timeline(
            info.context, self.reading, self.name, window(since, until)
        )

    @strawberry.field
    async def facts(
        self,
        info: Info,
        since: Since = None,
        until: Until = None,
        kinds: Kinds = None,
        reason: Reason = None,
        actor: ActorName = None,
        code: Code = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> FactConnection | None:
        """Facts about the node, in log order."""
        return await paging.facts(
            info.context,
            self.reading,
            paging.Filter(
                window=window(since, until),
                node=self.name,
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
        reason: Reason = None,
        actor: ActorName = None,
        code: Code = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> EntryConnection | None:
        """Entries about the node, in log order."""
        return await paging.entries(
            info.context,
            self.reading,
            paging.Filter(
                window=window(since, until),
                node=self.name,
                reason=reason,
                actor=actor,
                code=code,
            ),
            paging.Page.of(first, after, last, before),
            selected(info),
        )

    @strawberry.field
    async def postmortem(
        self, info: Info, since: Since = None, until: Until = None
    ) -> Postmortem | None:
        """The report that `recorder postmortem` writes."""
        return await asking.postmortem(
            info.context, self.reading, self.name, window(since, until)
        )
