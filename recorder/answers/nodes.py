"""Answers of `recorder get nodes`: the nodes as they were at a time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from recorder.answers.loading.places import selected
from recorder.answers.moments import covered_at
from recorder.answers.node_questions import NodesQuestion
from recorder.answers.places import rack_of
from recorder.answers.ports import Reading
from recorder.answers.queries import NodeNames, NodesBefore
from recorder.answers.references import find_node
from recorder.answers.text.shown import Item, Listing
from recorder.answers.text.table import Cell, Column, age
from recorder.explain.knowledge import Knowledge
from recorder.facts import appearance
from recorder.facts.classify.times import moment
from recorder.facts.coverage.coverage import Coverage
from recorder.facts.projections import NodeState, shown
from recorder.facts.topology import level_of
from recorder.model.document import Document
from recorder.model.errors import NotFoundError
from recorder.model.moment import shifted, written
from recorder.model.observation import NODES, WATCH
from recorder.model.state import ObjectState

MOMENT = timedelta(microseconds=1)
"""The resolution of times."""

ROLE = "node-role.kubernetes.io/"
OLD_ROLE = "kubernetes.io/role"

AT_ONCE = 500
"""Nodes whose documents are in memory at the same time."""


class NodeAtTime(Document, frozen=True, kw_only=True):
    """One node as it was."""

    name: str
    uid: str | None
    status: str
    """As kubectl writes it: `Ready`, `NotReady,SchedulingDisabled`, ..."""

    ready: str | None
    """`True`, `False` or `Unknown`; null where nothing says so."""

    cordoned: bool
    in_service: bool
    roles: Sequence[str]
    taints: Sequence[str]
    """As `KEY:EFFECT`."""

    gpus: int | None
    """Allocatable; null where it offers none."""

    created_at: datetime | None
    boot_id: str | None
    kubelet_version: str | None
    kernel_version: str | None
    os_image: str | None
    container_runtime_version: str | None
    labels: Mapping[str, str]


class NodesSubject(Document, frozen=True, kw_only=True):
    """Which cluster, and when."""

    cluster: str
    at: datetime | None


class Nodes(Document, frozen=True, kw_only=True):
    """The nodes that there were at a time, by name."""

    question: NodesSubject
    nodes: Sequence[NodeAtTime]
    coverage: Coverage


async def ask_nodes(
    reading: Reading,
    question: NodesQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Nodes:
    """Return the selected nodes that existed at a time, as they were then.

    Raises:
        NotFoundError: the log has no such node, or it did not exist then.
    """
    found = await nodes_at(reading, question, now=now)
    chosen = await selected(reading, question.labels, knowledge)
    return replace(
        found,
        nodes=[
            node
            for node in found.nodes
            if found.question.at is None
            or chosen.fits(node.name, node.labels, found.question.at)
        ],
    )


async def nodes_at(
    reading: Reading, question: NodesQuestion, *, now: datetime
) -> Nodes:
    """Return the nodes of a question, whatever their labels.

    Raises:
        NotFoundError: the log has no such node, or it did not exist then.
    """
    at = question.at
    await reading.reach(at, at)
    if question.names:
        await find_node(reading, *question.names)
    names = question.names or await reading.names(NodeNames())
    end = at or reading.log.observed_at
    nodes = await _nodes(reading, names, end)
    missing = sorted(set(question.names) - {node.name for node in nodes})
    if missing:
        msg = f'there was no node "{missing[0]}" at that time'
        raise NotFoundError(
            msg, advice=f"see `recorder history node/{missing[0]}`"
        )
    return Nodes(
        question=NodesSubject(cluster=reading.log.cluster_name, at=end),
        nodes=nodes,
        coverage=await covered_at(
            reading,
            at,
            now=now,
            reads=lambda source, resource: (
                (source, resource) == (WATCH, NODES)
            ),
        ),
    )


async def _nodes(
    reading: Reading, names: Sequence[str], at: datetime | None
) -> list[NodeAtTime]:
    if at is None:
        return []
    found = []
    for first in range(0, len(names), AT_ONCE):
        some = names[first : first + AT_ONCE]
        versions = await reading.states(
            NodesBefore(names=some, at=shifted(at, MOMENT))
        )
        for name, version in versions.items():
            appeared = appearance(version.raw, version.resource)
            if not version.gone and appeared is not None:
                found.append(_known(name, appeared.state))
    return sorted(found, key=lambda node: node.name)


def _known(name: str, found: ObjectState) -> NodeAtTime:
    state = shown(found)
    fields = {key: str(value) for key, value in state.fields.items() if value}
    return NodeAtTime(
        name=name,
        uid=state.uid,
        status=_status(state),
        ready=state.ready,
        cordoned=state.cordoned,
        in_service=state.in_service,
        roles=_roles(state.labels),
        taints=sorted(state.taints),
        gpus=_gpus(state.resources),
        created_at=moment(found.created_at),
        boot_id=state.boot_id,
        kubelet_version=fields.get("kubelet_version"),
        kernel_version=fields.get("kernel_version"),
        os_image=fields.get("os_image"),
        container_runtime_version=fields.get("container_runtime_version"),
        labels=state.labels,
    )


def _status(state: NodeState) -> str:
    """Return the status of a node, as kubectl writes it."""
    ready = {"True": "Ready", "False": "NotReady"}
    status = ready.get(state.ready or "", "Unknown")
    return f"{status},SchedulingDisabled" if state.cordoned else status


def _roles(labels: Mapping[str, str]) -> Sequence[str]:
    roles = {key.removeprefix(ROLE) for key in labels if key.startswith(ROLE)}
    return sorted((roles | {labels.get(OLD_ROLE, "")}) - {""})


def _gpus(resources: Mapping[str, str]) -> int | None:
    """Return the number of allocatable GPUs; None if it has none."""
    counts = [
        int(count)
        for name, count in resources.items()
        if name.startswith("allocatable/")
        and name.endswith("/gpu")
        and count.isdecimal()
    ]
    return sum(counts) if counts else None


async def ask_labels(
    reading: Reading, key: str | None, *, now: datetime
) -> Mapping[str, Mapping[str, int]]:
    """Count the current nodes by the values of labels.

    Args:
        reading: the log.
        key: of the label; None for all labels of a place, such as rack and
            zone.
        now: the current time.

    Returns:
        How many nodes have each value, by key and value, in order.
    """
    answer = await nodes_at(reading, NodesQuestion(), now=now)
    counts = Counter(
        (name, value)
        for node in answer.nodes
        for name, value in node.labels.items()
        if name == key or (key is None and level_of(name) is not None)
    )
    found: dict[str, dict[str, int]] = {}
    for (name, value), count in sorted(counts.items()):
        found.setdefault(name, {})[value] = count
    return found


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
    """Return a node as a row of the table, with its age at that time."""
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


def shown_nodes(
    answer: Nodes, question: NodesQuestion, *, verbose: bool
) -> Listing:
    """Return an answer as `recorder get nodes` prints it."""
    del verbose
    at = answer.question.at
    is_end = question.at is None and at is not None
    return Listing(
        columns=COLUMNS,
        items=[
            Item(f"node/{one.name}", node_cells(one, at), one)
            for one in answer.nodes
        ],
        whole=lambda nodes: replace(answer, nodes=nodes),
        nothing="no nodes recorded at that time",
        text_notes=[f"as of {written(at)}, the end of the record"]
        if is_end and at is not None
        else [],
    )
