"""Nodes as they were, as the public interface shows them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self

from recorder.documents.coverage import CoverageDocument
from recorder.model.document import Document
from recorder.questions.nodes import KnownNode, Nodes

__all__ = ["NodeDocument", "NodesDocument"]


class NodeDocument(Document, frozen=True, kw_only=True):
    """One node as it was."""

    name: str
    uid: str | None
    status: str
    ready: str | None
    cordoned: bool
    in_service: bool
    roles: Sequence[str]
    taints: Sequence[str]
    gpus: int | None
    created_at: datetime | None
    boot_id: str | None
    kubelet_version: str | None
    kernel_version: str | None
    os_image: str | None
    container_runtime_version: str | None
    labels: Mapping[str, str]

    @classmethod
    def of(cls, node: KnownNode) -> Self:
        """Return the document of a node."""
        state = node.state
        return cls(
            name=node.name,
            uid=state.uid,
            status=node.status,
            ready=state.ready,
            cordoned=state.cordoned,
            in_service=state.in_service,
            roles=node.roles,
            taints=sorted(state.taints),
            gpus=node.gpus,
            created_at=node.created_at,
            boot_id=state.boot_id,
            kubelet_version=node.version("kubelet_version"),
            kernel_version=node.version("kernel_version"),
            os_image=node.version("os_image"),
            container_runtime_version=node.version(
                "container_runtime_version"
            ),
            labels=state.labels,
        )


class NodesQuestionDocument(Document, frozen=True, kw_only=True):
    """Of which cluster, and when."""

    cluster: str
    at: datetime | None


class NodesDocument(Document, frozen=True, kw_only=True):
    """The nodes that there were at a time."""

    question: NodesQuestionDocument
    nodes: Sequence[NodeDocument]
    coverage: CoverageDocument

    @classmethod
    def of(cls, answer: Nodes) -> Self:
        """Return the document of an answer."""
        return cls(
            question=NodesQuestionDocument(
                cluster=answer.cluster, at=answer.at
            ),
            nodes=[NodeDocument.of(node) for node in answer.nodes],
            coverage=CoverageDocument.of(answer.coverage),
        )
