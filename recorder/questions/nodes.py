"""Answers of `recorder get nodes`: the nodes as they were at a time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from recorder.classify.times import moment
from recorder.coverage.coverage import Coverage
from recorder.errors import NotFoundError
from recorder.explain.missing import NODES
from recorder.facts import TOPOLOGY, appearance
from recorder.model.moment import shifted
from recorder.model.observation import WATCH
from recorder.model.state import ObjectState
from recorder.projections import NodeState, shown
from recorder.questions.impact import Labels
from recorder.questions.moments import covered_at
from recorder.questions.ports import Reading
from recorder.questions.queries import NodeNames, NodesBefore
from recorder.questions.references import find_node

__all__ = [
    "KnownNode",
    "Nodes",
    "NodesQuestion",
    "ask_labels",
    "ask_nodes",
]

MOMENT = timedelta(microseconds=1)
"""The finest time there is."""

ROLE = "node-role.kubernetes.io/"
OLD_ROLE = "kubernetes.io/role"

AT_ONCE = 500
"""Nodes whose documents are in memory at a time."""


ANY = Labels()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesQuestion:
    """Which nodes, and when; without names or labels all of them."""

    names: Sequence[str] = ()
    labels: Labels = ANY
    at: datetime | None = None


class KnownNode(msgspec.Struct, frozen=True, kw_only=True):
    """One node as it was."""

    name: str
    state: NodeState
    created_at: datetime | None

    @property
    def status(self) -> str:
        """Its status, as kubectl writes it."""
        ready = {"True": "Ready", "False": "NotReady"}
        status = ready.get(self.state.ready or "", "Unknown")
        if self.state.cordoned:
            status += ",SchedulingDisabled"
        return status

    @property
    def roles(self) -> list[str]:
        """The roles that its labels name."""
        labels = self.state.labels
        roles = {
            key.removeprefix(ROLE) for key in labels if key.startswith(ROLE)
        }
        if OLD_ROLE in labels:
            roles.add(labels[OLD_ROLE])
        return sorted(roles - {""})

    @property
    def gpus(self) -> int | None:
        """GPUs that work may use; None where it offers none."""
        counts = [
            int(count)
            for name, count in self.state.resources.items()
            if name.startswith("allocatable/")
            and name.endswith("/gpu")
            and count.isdecimal()
        ]
        return sum(counts) if counts else None

    def version(self, name: str) -> str | None:
        """Return a version or a name of what runs on it."""
        found = self.state.fields.get(name)
        return str(found) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """The nodes that there were."""

    cluster: str
    at: datetime | None
    """When: the end of the record where nobody said it."""

    nodes: Sequence[KnownNode]
    """By name."""

    coverage: Coverage


async def ask_nodes(
    reading: Reading, question: NodesQuestion, *, now: datetime
) -> Nodes:
    """Find the nodes that there were at a time, as they were then.

    Raises:
        NotFoundError: the log has no such node, or it was not there then.
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
        cluster=reading.log.cluster_name,
        at=end,
        nodes=[n for n in nodes if question.labels.fit(n.state.labels)],
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
) -> list[KnownNode]:
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


def _known(name: str, state: ObjectState) -> KnownNode:
    return KnownNode(
        name=name, state=shown(state), created_at=moment(state.created_at)
    )


async def ask_labels(
    reading: Reading, key: str | None, *, now: datetime
) -> Mapping[str, Mapping[str, int]]:
    """Count the nodes by the values of a label, as they are.

    Args:
        reading: of the log.
        key: of the label; None for those that say where a node stands:
            rack, zone and others.
        now: when it is asked.

    Returns:
        How many nodes have each value, by key and value, in order.
    """
    answer = await ask_nodes(reading, NodesQuestion(), now=now)
    counts = Counter(
        (name, value)
        for node in answer.nodes
        for name, value in node.state.labels.items()
        if name == key or (key is None and name.rpartition("/")[2] in TOPOLOGY)
    )
    found: dict[str, dict[str, int]] = {}
    for (name, value), count in sorted(counts.items()):
        found.setdefault(name, {})[value] = count
    return found
