"""Nodes as they were at a time, and the values of their labels."""

from datetime import datetime
from typing import Self

from api.describing import described
from api.scalars import Json
from api.types.coverage import Coverage
from recorder.documents.nodes import NodeDocument
from recorder.questions.nodes import Nodes

__all__ = ["LabelValue", "LabelValues", "NodeAtTime", "NodesAtTime"]


@described
class NodeAtTime:
    """One node as it was."""

    name: str

    uid: str | None

    status: str
    """As kubectl writes it: `Ready`, `NotReady,SchedulingDisabled`, ..."""

    ready: str | None
    """`True`, `False` or `Unknown`; null where nothing says so."""

    cordoned: bool

    in_service: bool

    roles: list[str]

    taints: list[str]
    """As `KEY:EFFECT`."""

    gpus: int | None
    """Allocatable; null where it offers none."""

    created_at: datetime | None

    boot_id: str | None

    kubelet_version: str | None

    kernel_version: str | None

    os_image: str | None

    container_runtime_version: str | None

    labels: Json

    @classmethod
    def of(cls, node: NodeDocument) -> Self:
        """Take it from an answer, in the words of its JSON."""
        return cls(
            name=node.name,
            uid=node.uid,
            status=node.status,
            ready=node.ready,
            cordoned=node.cordoned,
            in_service=node.in_service,
            roles=list(node.roles),
            taints=list(node.taints),
            gpus=node.gpus,
            created_at=node.created_at,
            boot_id=node.boot_id,
            kubelet_version=node.kubelet_version,
            kernel_version=node.kernel_version,
            os_image=node.os_image,
            container_runtime_version=node.container_runtime_version,
            labels=Json(dict(node.labels)),
        )


@described
class NodesAtTime:
    """The nodes that there were at a time, by name."""

    at: datetime | None
    """The time of the query, or the end of the record."""

    nodes: list[NodeAtTime]

    coverage: Coverage

    @classmethod
    def of(cls, answer: Nodes) -> Self:
        """Take it from an answer."""
        return cls(
            at=answer.at,
            nodes=[
                NodeAtTime.of(NodeDocument.of(node)) for node in answer.nodes
            ],
            coverage=Coverage.of(answer.coverage),
        )


@described
class LabelValue:
    """One value of a label of nodes."""

    value: str

    nodes: int
    """How many nodes have it."""


@described
class LabelValues:
    """The values of one label of nodes, in order."""

    key: str

    values: list[LabelValue]
