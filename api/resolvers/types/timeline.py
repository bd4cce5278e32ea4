"""A node's timeline, lane by lane, and a workload over nodes and time."""

from api.resolvers.types.publishing import publish
from api.resolvers.types.scalars import Json
from recorder.answers.facts import ShownNode
from recorder.answers.placements import PlacedPod
from recorder.answers.timeline import (
    BootSpan,
    ConditionSpan,
    CordonSpan,
    ServiceSpan,
    TaintSpan,
)
from recorder.answers.workload import WorkloadHistory
from recorder.model.outcomes import ServiceState

__all__ = ["PlacedPod", "WorkloadHistory"]


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


for _span in (ServiceSpan, ConditionSpan, BootSpan, TaintSpan, CordonSpan):
    publish(_span)
publish(PlacedPod, name="Placement")
publish(WorkloadHistory, name="WorkloadStory")
