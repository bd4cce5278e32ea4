"""Nodes as columns for people, as kubectl has them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from recorder.questions.nodes import NodeAtTime
from recorder.questions.places import rack_of
from recorder.render.table import Cell, Column, age

__all__ = ["COLUMNS", "node_cells"]

STATUSES: Mapping[str, str] = {
    "NotReady": "red",
    "Unknown": "red",
    "Ready,SchedulingDisabled": "yellow",
    "NotReady,SchedulingDisabled": "red",
    "Unknown,SchedulingDisabled": "red",
}

COLUMNS = (
    Column("NAME"),
    Column("STATUS", colours=STATUSES),
    Column("ROLES", rank=4),
    Column("AGE", rank=3),
    Column("VERSION", rank=2),
    Column("KERNEL", wide=True),
    Column("OS-IMAGE", wide=True),
    Column("RUNTIME", wide=True),
    Column("BOOT-ID", wide=True),
    Column("RACK", rank=5),
    Column("GPUS", rank=1),
    Column("TAINTS"),
)


def node_cells(node: NodeAtTime, at: datetime | None) -> Sequence[Cell]:
    """Return a node as the cells of a table, its age at that time."""
    created = node.created_at
    return (
        node.name,
        node.status,
        ",".join(node.roles) or "<none>",
        None if created is None or at is None else age(created, at),
        node.kubelet_version,
        node.kernel_version,
        node.os_image,
        node.container_runtime_version,
        node.boot_id,
        rack_of(node.labels),
        node.gpus,
        ",".join(node.taints) or "<none>",
    )
