"""DPUs of hosts, whose own Nodes are in the log of another cluster.

The cluster of the hosts has the objects of DPF: a DPUNode names the Node of
its host, a DPU its DPUNode and its serial number. In the cluster of the DPUs
the Node of a DPU has the name of the DPUNode in a label, and the serial number
in its own name. Both logs are asked; one that is away is named.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final, NamedTuple

import msgspec

from recorder.answers.ports import Reading
from recorder.answers.queries import (
    FactQuery,
    NodeLabels,
    NodesLike,
    ObjectNames,
    ObjectsBefore,
    Purpose,
)
from recorder.explain.breadth import dpu_signals
from recorder.explain.knowledge import Knowledge
from recorder.explain.signals.signal import Signal
from recorder.facts import appearance
from recorder.model.moment import LAST
from recorder.model.observation import WATCH

GROUP: Final = "provisioning.dpu.nvidia.com"
NODES: Final = [(GROUP, "DPUNode"), (GROUP, "dpunodes")]
DPUS: Final = [(GROUP, "DPU"), (GROUP, "dpus")]
LABEL: Final = f"{GROUP}/dpunode-name"

HOST_DPUS_MAX: Final = 8
"""DPUs with one serial number in their names: a Node may have had several."""

HOSTS_MAX: Final = 64
"""Hosts whose DPUs are asked about at once."""


@dataclass(slots=True)
class Dpus:
    """What the DPUs of some hosts reported, by host."""

    signals: dict[str, list[Signal]] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)
    """Where the Node of a DPU would be, of hosts whose DPU was not found."""


class DpuNodes(NamedTuple):
    """The Nodes of the DPUs of some hosts, in the logs of other clusters."""

    hosts: Mapping[str, Sequence[tuple[Reading, Collection[str]]]]
    """By host that has a DPU: logs that have its Nodes, and their names."""

    away: Sequence[str] = ()
    """Clusters whose log cannot be read now."""


class _Spec(msgspec.Struct, rename="camel"):
    dpu_node_name: str = ""
    serial_number: Annotated[str, msgspec.Meta(max_length=63)] = ""


class _Dpu(msgspec.Struct):
    spec: _Spec


async def dpus_of(
    reading: Reading,
    hosts: Collection[str],
    knowledge: Knowledge,
    *,
    since: datetime | None,
    until: datetime | None,
) -> Dpus:
    """Return what DPUs of hosts reported in a span, by all logs."""
    found = Dpus()
    known = await dpu_nodes(reading, hosts, since=since, until=until)
    for host, nodes in known.hosts.items():
        for other, names in nodes:
            facts = await other.facts(
                FactQuery(
                    purpose=Purpose.EVIDENCE,
                    nodes=sorted(names),
                    since=since,
                    until=until,
                )
            )
            signals = found.signals.setdefault(host, [])
            signals += dpu_signals(facts, knowledge)
    away = ", ".join(known.away)
    for host in known.hosts.keys() - found.signals.keys():
        found.unseen[host] = f"log of {away}" if away else "log of the DPU"
    return found


async def dpu_nodes(
    reading: Reading,
    hosts: Collection[str],
    *,
    since: datetime | None,
    until: datetime | None,
) -> DpuNodes:
    """Return the Nodes of the DPUs of hosts, by all logs."""
    if not hosts or not _has_dpus(reading):
        return DpuNodes({})
    serials = await _serials(reading, hosts)
    if not serials:
        return DpuNodes({})
    beside = await reading.beside()
    found: dict[str, list[tuple[Reading, Collection[str]]]] = {
        host: [] for host in serials
    }
    for other in beside.readings:
        for host, keys in serials.items():
            names = await _nodes(other, keys, since, until)
            if names:
                found[host].append((other, names))
    return DpuNodes(found, beside.away)


def _has_dpus(reading: Reading) -> bool:
    return any(
        one.source == WATCH and one.resource.startswith(f"{GROUP}/")
        for one in reading.streams
    )


async def _serials(
    reading: Reading, hosts: Collection[str]
) -> Mapping[str, tuple[set[str], set[str]]]:
    """Return the names of DPUNodes and the serial numbers of DPUs, by host."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    host_of: dict[str, str] = {}
    for kinds in (NODES, DPUS):
        known = await reading.names(ObjectNames(kinds))
        versions = await reading.states(
            ObjectsBefore(
                kinds=kinds,
                names=sorted({name for _, name in known}),
                namespace=None,
                at=LAST,
            )
        )
        for (_, name), version in versions.items():
            if kinds is NODES:
                shown = appearance(version.raw, version.resource)
                host = None if shown is None else shown.state.node
                if host is None or len(found) == HOSTS_MAX:
                    continue
                if host in hosts:
                    host_of[name] = host
                    found.setdefault(host, (set(), set()))[0].add(name)
            else:
                spec = _spec(version.raw)
                of = host_of.get(spec.dpu_node_name)
                if of is not None and spec.serial_number:
                    found[of][1].add(spec.serial_number.lower())
    return found


def _spec(raw: bytes) -> _Spec:
    try:
        return msgspec.json.decode(raw, type=_Dpu).spec
    except ValueError:
        return _Spec()


async def _nodes(
    other: Reading,
    keys: tuple[set[str], set[str]],
    since: datetime | None,
    until: datetime | None,
) -> set[str]:
    """Return the Nodes of the DPUs, by their label and by serial number."""
    names, serials = keys
    found: set[str] = set()
    for name in sorted(names):
        found |= (
            await other.states(
                NodeLabels(value=name, key=LABEL, since=since, until=until)
            )
        ).keys()
    for serial in sorted(serials):
        like = NodesLike(text=serial, limit=HOST_DPUS_MAX)
        found |= {*await other.names(like)}
    return found
