"""A node's timeline: what to draw, lane by lane."""

from collections.abc import Awaitable, Callable
from datetime import datetime

import strawberry

from api.describing import described
from api.publishing import publish
from api.scalars import Json
from api.types.coverage import Coverage, Hole, Window
from api.types.impact import Workload
from api.types.words import ServiceState
from recorder.answers.facts import ShownNode
from recorder.model.fact import StoredFact

__all__ = [
    "BootSpan",
    "ConditionSpan",
    "CordonSpan",
    "Placement",
    "ServiceSpan",
    "TaintSpan",
    "Timeline",
]

FROM = "Null if it began before the window."
TO = "Null if it lasts beyond the window."


@described
class ServiceSpan:
    """The service state of the node from one change to the next."""

    from_: datetime | None = strawberry.field(name="from", description=FROM)

    to: datetime | None = strawberry.field(description=TO)

    state: ServiceState

    entry: strawberry.ID | None
    """The entry that began it; null at the edge of the window."""


@described
class ConditionSpan:
    """One status of one condition."""

    type: str

    from_: datetime | None = strawberry.field(name="from", description=FROM)

    to: datetime | None = strawberry.field(description=TO)

    status: str
    """`True`, `False` or `Unknown`."""

    reason: str | None

    message: str | None

    is_fault: bool
    """Whether a rule calls this status a fault."""

    entry: strawberry.ID | None


@described
class BootSpan:
    """One boot of the machine."""

    boot_id: str

    from_: datetime | None = strawberry.field(name="from", description=FROM)

    to: datetime | None = strawberry.field(description=TO)

    entry: strawberry.ID | None


@described
class TaintSpan:
    """One taint while it was there."""

    key: str

    effect: str

    value: str | None

    from_: datetime | None = strawberry.field(name="from", description=FROM)

    to: datetime | None = strawberry.field(description=TO)

    actor: str | None
    """Who set it, if known."""

    entry: strawberry.ID | None


@described
class CordonSpan:
    """A time in which the node was cordoned."""

    from_: datetime | None = strawberry.field(name="from", description=FROM)

    to: datetime | None = strawberry.field(description=TO)

    actor: str | None
    """Who set it, if known."""

    entry: strawberry.ID | None


@described
class Placement:
    """One Pod on its node, from binding to end."""

    namespace: str

    pod: str

    uid: str | None

    node: str | None

    workload: Workload | None
    """Null for Pods that belong to a node: DaemonSet and mirror Pods."""

    gpus: int

    bound_at: datetime | None

    running_at: datetime | None

    deleting_at: datetime | None
    """When its deletion was requested."""

    ended_at: datetime | None
    """When it ended: failed, succeeded or gone."""

    restarted_at: datetime | None
    """When one of its containers restarted."""

    phase: str | None
    """The last that is known."""

    disruption: str | None
    """Why it was disrupted, as its condition DisruptionTarget says."""

    exit_codes: list[int]

    entries: list[strawberry.ID]
    """About its end."""


class _Node:
    service: ServiceState
    conditions: Json
    labels: Json
    fields: Json


publish(
    ShownNode,
    name="NodeState",
    adds=_Node,
    shows=("service", "labels", "fields"),
)


@described
class Timeline:
    """What happened on a node in a window, and its state all along."""

    node: str

    window: Window
    """With its ends as far as they are known."""

    before: ShownNode
    """The node as the window begins."""

    after: ShownNode
    """The node as the window ends."""

    service: list[ServiceSpan]

    conditions: list[ConditionSpan]
    """In order of their type, then of time."""

    boots: list[BootSpan]

    taints: list[TaintSpan]

    cordons: list[CordonSpan]

    placed: strawberry.Private[Callable[[], Awaitable[list[Placement]]]]
    """RequestContext where it is wanted: it costs as much as all the rest."""

    @strawberry.field
    async def placements(self) -> list[Placement]:
        """Pods on the node in the window, including DaemonSet Pods."""
        return await self.placed()

    facts: list[StoredFact]
    """In log order, Events among them; the first 5000."""

    more_facts: int
    """How many are not included: narrow the window, or page through
    `facts`."""

    gaps: list[Hole]
    """Gaps that affect the timeline, without healed ones."""

    coverage: Coverage
