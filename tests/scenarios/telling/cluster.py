"""A cluster: nodes, kubelets and the node controller, as they behave."""

# ruff: noqa: PLR0913 - a change of a node has many parts

from collections.abc import Mapping
from typing import Any, Self

from tests.scenarios.telling.nodes import (
    condition,
    path_of,
    put,
    status_of,
    taint,
    texts,
    turned,
)
from tests.scenarios.telling.parts import boot_id, fine, uid_of
from tests.scenarios.telling.world import LEASES, NODES, World

__all__ = ["Cluster", "KCM"]

KCM = "kube-controller-manager"
PRESSURES = {
    "MemoryPressure": (
        "KubeletHasSufficientMemory",
        "NodeHasSufficientMemory",
    ),
    "DiskPressure": ("KubeletHasNoDiskPressure", "NodeHasNoDiskPressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "NodeHasSufficientPID"),
}
READY = ("True", "KubeletReady", "kubelet is posting ready status")
STALE = (
    "Unknown",
    "NodeStatusUnknown",
    "Kubelet stopped posting node status.",
)
NODE_SPACE = "kube-node-lease"
LIFE = "node.kubernetes.io/"


class Cluster(World):
    """Nodes, each with a kubelet that has run for half an hour."""

    def __init__(
        self,
        *nodes: str,
        racks: Mapping[str, str] | None = None,
        gpus: int = 8,
    ) -> None:
        super().__init__()
        self.names = nodes or ("gpu-001", "gpu-002", "gpu-003")
        self.lives: dict[str, int] = {}
        self._gpus = gpus
        self._leased: set[str] = set()
        for name in self.names:
            labels = {"kubernetes.io/hostname": name}
            if racks is not None:
                labels["topology.example.com/rack"] = racks[name]
            self.joins(-1800, name, labels=labels, ready=True)

    def joins(
        self,
        at: float,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        machine: str = "a",
        box: str = "",
        boot: int = 1,
        ready: bool = False,
        by: str = "kubelet",
    ) -> Self:
        """Let a kubelet register its Node, of the machine that had a name.

        ``box`` is that name, its own for none.
        """
        had = box or name
        life = self.lives[name] = self.lives.get(name, 0) + 1
        amounts = {"cpu": "128", "nvidia.com/gpu": str(self._gpus)}
        status = READY if ready else ("False", "KubeletNotReady", "starting")
        conditions = [
            condition(at, kind, ("False", reasons[0], "kubelet is well"))
            for kind, reasons in PRESSURES.items()
        ] + [condition(at, "Ready", status)]
        self.makes(
            at,
            NODES,
            "Node",
            name,
            by=by,
            life=life,
            metadata={
                "labels": dict(labels or {"kubernetes.io/hostname": name}),
                "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
            },
            spec={"providerID": f"cloud://{had}-{machine}"},
            status={
                "conditions": conditions,
                "capacity": dict(amounts),
                "allocatable": dict(amounts),
                "nodeInfo": {
                    "machineID": uid_of("machine", had, machine),
                    "systemUUID": uid_of("system", had, machine),
                    "bootID": boot_id(name, boot),
                    "kernelVersion": "6.8.0-79-generic",
                    "osImage": "Ubuntu 24.04.3 LTS",
                    "containerRuntimeVersion": "containerd://2.1.4",
                    "kubeletVersion": "v1.36.3",
                },
            },
        )
        self.starts(at, name)
        if ready:
            self.kubelet(at, name, "NodeReady", "NodeReady")
        return self.renews(max(0, at), name)

    def kubelet(
        self, at: float, name: str, reason: str, says: str, **more: Any
    ) -> Self:
        """Let a kubelet report an Event about its Node."""
        message = f"Node {name} status is now: {says}"
        message = message if says == reason else says
        return self.says(
            at, "kubelet", reason, message, node=name, host=name, **more
        )

    def starts(self, at: float, name: str) -> Self:
        """Let a kubelet start and say so."""
        self.forgets(at, name)
        self.kubelet(at, name, "Starting", "Starting kubelet.")
        for _, reason in PRESSURES.values():
            self.kubelet(at + 0.1, name, reason, reason)
        return self.kubelet(
            at + 0.12,
            name,
            "NodeAllocatableEnforced",
            "Updated Node Allocatable limit across pods",
        )

    def renews(self, at: float, name: str) -> Self:
        """Renew the lease of a node."""
        spec = {"holderIdentity": name, "renewTime": fine(at)}
        if name not in self._leased:
            self._leased.add(name)
            return self.makes(
                at,
                LEASES,
                "Lease",
                name,
                by="kubelet",
                space=NODE_SPACE,
                spec=spec,
            )

        def change(lease: dict[str, Any]) -> set[tuple[str, ...]]:
            lease["spec"] = spec
            return {("f:spec",)}

        return self.alters(
            at, LEASES, name, change, by="kubelet", space=NODE_SPACE
        )

    def node(
        self,
        at: float,
        name: str,
        by: str,
        *,
        labels: Mapping[str, str | None] = {},
        notes: Mapping[str, str | None] = {},
        taints: Mapping[str, str | None] = {},
        conditions: Mapping[str, tuple[str, str, str] | None] = {},
        cordon: bool | None = None,
        info: Mapping[str, str] = {},
        gpus: int | None = None,
    ) -> Self:
        """Change a Node; None takes something away.

        ``taints`` are ``KEY:EFFECT`` to a value, an empty text for none.
        """
        paths: set[tuple[str, ...]] = set()

        def change(node: dict[str, Any]) -> set[tuple[str, ...]]:
            paths.update(texts(node, "labels", labels))
            paths.update(texts(node, "annotations", notes))
            if taints:
                taint(at, node["spec"], taints)
                paths.add(("f:spec", "f:taints"))
            if cordon is not None:
                put(node["spec"], "unschedulable", cordon or None)
                place = ("f:spec", "f:unschedulable")
                paths.add(place if cordon else ("-", *place))
            status = node["status"]
            for kind, value in conditions.items():
                turned(at, status["conditions"], kind, value)
                paths.add(path_of(kind))
            if info:
                status["nodeInfo"] |= info
                paths.update(
                    ("f:status", "f:nodeInfo", f"f:{key}") for key in info
                )
            if gpus is not None:
                status["allocatable"]["nvidia.com/gpu"] = str(gpus)
                paths.add(("f:status", "f:allocatable", "f:nvidia.com/gpu"))
            return paths

        of_status = bool(conditions or info) or gpus is not None
        sub = "status" if of_status else ""
        return self.alters(at, NODES, name, change, by=by, sub=sub)

    def stale(self, at: float, *names: str) -> Self:
        """Let the node controller give nodes up."""
        for name in names:
            conditions = dict.fromkeys([*PRESSURES, "Ready"], STALE)
            self.node(at, name, KCM, conditions=conditions)
            self.says(
                at,
                "node-controller",
                "NodeNotReady",
                f"Node {name} status is now: NodeNotReady",
                node=name,
            )
            taints = {f"{LIFE}unreachable:NoSchedule": ""}
            self.node(at + 0.05, name, KCM, taints=taints)
        return self

    def unreachable(self, at: float, *names: str) -> Self:
        """Let the node controller evict what is on nodes that are lost."""
        for name in names:
            taints = {f"{LIFE}unreachable:NoExecute": ""}
            self.node(at, name, KCM, taints=taints)
        return self

    def silent(self, at: float, *names: str) -> Self:
        """Let nodes stop, with the last renewal then."""
        for name in names:
            self.renews(at, name)
        return self

    def fell_silent(self, since: float, name: str) -> Self:
        """Let a node have stopped before the log began, and be missed."""

        def old(lease: dict[str, Any]) -> set[tuple[str, ...]]:
            lease["spec"]["renewTime"] = fine(since)
            return {("f:spec",)}

        self.alters(0, LEASES, name, old, by="kubelet", space=NODE_SPACE)
        return self.stale(since + 46, name)

    def heals(self, at: float, name: str) -> Self:
        """Let a kubelet be heard again."""
        self.renews(at, name)
        return self.later(at, lambda: self._heal(at, name))

    def _heal(self, at: float, name: str) -> None:
        conditions = {
            kind: ("False", reasons[0], "kubelet is well")
            for kind, reasons in PRESSURES.items()
        }
        node = self.document(NODES, name)
        ready = status_of(node, "Ready")
        self.node(
            at, name, "kubelet", conditions={**conditions, "Ready": READY}
        )
        if ready == "Unknown":
            for _, reason in PRESSURES.values():
                self.kubelet(at + 0.1, name, reason, reason)
        if ready != "True":
            self.kubelet(at + 0.1, name, "NodeReady", "NodeReady")
        gone = {
            f"{taint['key']}:{taint['effect']}": None
            for taint in node["spec"].get("taints", [])
            if taint["key"] in {f"{LIFE}unreachable", f"{LIFE}not-ready"}
        }
        if gone:
            self.node(at + 0.2, name, KCM, taints=gone)

    def boots(
        self, at: float, name: str, number: int = 2, **info: str
    ) -> Self:
        """Let a machine come up from another boot."""
        self.starts(at, name).reports_boot(at + 0.1, name, number)
        self.node(
            at + 0.1,
            name,
            "kubelet",
            info={"bootID": boot_id(name, number), **info},
            gpus=self._gpus,
        )
        return self.heals(at + 10, name)

    def reports_boot(self, at: float, name: str, number: int) -> Self:
        """Let a kubelet say that its machine was rebooted."""
        boot = boot_id(name, number)
        says = f"Node {name} has been rebooted, boot id: {boot}"
        return self.kubelet(at, name, "Rebooted", says, type="Warning")

    def dies(self, at: float, name: str, back: float | None = None) -> Self:
        """Let a machine go without a word, and come back if it does."""
        self.silent(at, name).stale(at + 46, name)
        self.unreachable(at + 51, name)
        return self if back is None else self.boots(back, name)

    def joined(self, at: float, name: str) -> Self:
        """Let the node controller note a Node."""
        says = f"Node {name} event: Registered Node {name} in Controller"
        return self.says(
            at, "node-controller", "RegisteredNode", says, node=name
        )

    def leaves(self, at: float, name: str) -> Self:
        """Let a Node be deleted."""
        self.removes(at, NODES, name)
        says = f"Node {name} event: Removing Node {name} from Controller"
        return self.says(
            at + 1, "node-controller", "RemovingNode", says, node=name
        )
