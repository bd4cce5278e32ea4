"""What happened to nodes of Slurm, from one answer to the next.

A drain, DOWN by a person, a reboot that was asked for: acts with a reason and
who. The asker of a reboot is kept, because it is overwritten when the reboot
is issued. A boot time of zero is unknown, and one that differs by seconds is
the same boot.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

import msgspec

from recorder.model.moment import written
from recorder.sources.slurm.shapes import Node

NODE: Final = "slurm.node"

BOOTS_APART: Final = 5
"""Seconds by which boot times must differ; they jitter by one."""

SLURM: Final = "slurm"
"""The user of what slurmctld does by itself."""

BRIDGES: Final = (
    *("slurm-operator:", "slurm-bridge:", "k8s:"),
    *("[user_problem]", "[node_problem]", "[hardware_problem]"),
    "[compute_maintenance]",
)
"""How reasons begin that a bridge wrote because of an act in Kubernetes."""

FLAGS: Final = frozenset(
    {
        *("DOWN", "DRAIN", "FAIL", "NOT_RESPONDING", "REBOOT_REQUESTED"),
        *("REBOOT_ISSUED", "MAINTENANCE", "FUTURE", "POWERED_DOWN"),
        "POWERING_DOWN",
    }
)
"""States of a node that do not change with each job."""


AWAY: Final = frozenset({"DOWN", "DRAIN", "FAIL"})
"""States in which a node gets no jobs."""


class NodeSeen(msgspec.Struct):
    """A node, as it was seen last."""

    states: list[str] = []
    reason: str = ""
    by: str = ""
    boot: int = 0
    asked_by: str = ""
    """Who asked for the reboot that is on its way."""


def fold_nodes(
    before: Mapping[str, NodeSeen],
    nodes: Iterable[Node],
    *,
    cluster: str,
    place: Callable[[str], str | None],
    at: int,
) -> tuple[dict[str, NodeSeen], list[dict[str, Any]]]:
    """Return the nodes after an answer, and the claims that it gives."""
    after: dict[str, NodeSeen] = {}
    events: list[dict[str, Any]] = []
    for node in nodes:
        seen = before.get(node.name)
        now = _seen(node, seen)
        after[node.name] = now
        events += [
            _event(node, now, act, cluster, place, at)
            for act in _acts(node, seen, now)
        ]
    for name in sorted(before.keys() - after.keys()):
        gone = Node(name=name)
        events.append(_event(gone, NodeSeen(), "gone", cluster, place, at))
    return after, events


def _seen(node: Node, seen: NodeSeen | None) -> NodeSeen:
    asked = seen.asked_by if seen else ""
    if "REBOOT_REQUESTED" in node.states and node.by != SLURM:
        asked = node.by
    elif not {"REBOOT_REQUESTED", "REBOOT_ISSUED"} & node.states:
        asked = ""
    return NodeSeen(
        sorted(node.states & FLAGS),
        node.reason,
        node.by,
        node.boot or (seen.boot if seen else 0),
        asked,
    )


def _acts(node: Node, seen: NodeSeen | None, now: NodeSeen) -> Sequence[str]:
    """Return what happened, in words."""
    had = set(seen.states) if seen else set()
    has = set(now.states)
    found = [act for act in (_came(node, has - had, had - has),) if act]
    if seen and now.boot - seen.boot > BOOTS_APART and seen.boot:
        found.append("boot")
    if (had - has) & AWAY and not has & (AWAY | {"REBOOT_ISSUED"}):
        found.append("resume")
    return found


def _came(node: Node, new: set[str], freed: set[str]) -> str:
    """Return what new states mean; empty if nothing."""
    if "REBOOT_REQUESTED" in new:
        return "reboot-asked"
    if "REBOOT_ISSUED" in new:
        return "reboot-issued"
    if "DOWN" in new:
        return _down(node)
    if "DRAIN" in new:
        return "drain"
    return "not-responding" if "NOT_RESPONDING" in new and not freed else ""


def _down(node: Node) -> str:
    reason = node.reason.lower()
    if "not responding" in reason:
        return "lost"
    if "unexpectedly rebooted" in reason:
        return "rebooted"
    return "down"


def _event(
    node: Node,
    now: NodeSeen,
    act: str,
    cluster: str,
    place: Callable[[str], str | None],
    at: int,
) -> dict[str, Any]:
    where = place(node.name)
    data: dict[str, Any] = {
        "cluster": cluster,
        "name": node.name,
        "act": act,
        "state": sorted(node.states),
        "echo": node.reason.strip("( ").startswith(BRIDGES),
    }
    if where is not None:
        data["node"] = where
    if node.reason:
        data["reason"] = node.reason
    by = now.asked_by if act.startswith("reboot-") else node.by
    if by:
        data["by"] = by
    if node.boot:
        data["boot"] = node.boot
    # When the reason changed is when most acts were; a boot has its own time.
    when = node.boot if act in {"boot", "rebooted"} else node.changed
    if act in {"resume", "not-responding", "gone"} or not when or when > at:
        when = at
    named = msgspec.json.encode([data, when], order="deterministic")
    return {
        "source": f"slurm/{cluster}",
        "id": sha256(named).hexdigest()[:32],
        "type": NODE,
        "subject": f"node/{where}" if where else f"slurm-node/{node.name}",
        "time": written(datetime.fromtimestamp(when, UTC)),
        "data": data,
    }
