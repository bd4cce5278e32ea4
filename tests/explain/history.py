"""Histories of nodes for tests, added fact by fact."""

# ruff: noqa: PLR0913 - a fact has many parts

from collections.abc import Mapping
from typing import Any, Self

from recorder.facts.coverage.hole import Hole
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.reference import EntryName, ObjectIdentity
from tests.support.builders import at
from tests.support.details import detail_of

__all__ = ["History", "a_pod"]

NODE_LOST = "Kubelet stopped posting node status."


def a_node_thing(name: str, uid: str | None = None) -> ObjectIdentity:
    return ObjectIdentity("", "Node", "", name, uid or f"uid-{name}")


def a_pod(name: str) -> ObjectIdentity:
    return ObjectIdentity("", "Pod", "train", name, f"uid-{name}")


class History:
    """The facts of the nodes of a cluster."""

    def __init__(self, *nodes: str, racks: Mapping[str, str] = {}) -> None:
        self.facts: list[StoredFact] = []
        self.holes: list[Hole] = []
        self.audited = False
        self._booted: dict[str, int] = {}
        for node in nodes or ("n1",):
            labels = {"rack": racks[node]} if node in racks else {}
            self.appears(0, node, labels=labels)

    def add(
        self,
        seconds: float,
        kind: FactKind,
        detail: Mapping[str, Any],
        *,
        node: str | None = "n1",
        about: ObjectIdentity | None = None,
        actor: str | None = None,
        occurred: float | None = None,
    ) -> Self:
        """Add a fact, in the order of the log."""
        fact = Fact(
            kind=kind,
            node=node,
            object=about or a_node_thing(node or ""),
            occurred_at=None if occurred is None else at(occurred),
            actor=actor,
            detail=detail_of(kind, detail),
        )
        entry = EntryName(1, len(self.facts) + 1)
        self.facts.append(
            StoredFact(
                entry=entry, index=0, observed_at=at(seconds), fact=fact
            )
        )
        return self

    def appears(
        self,
        seconds: float,
        node: str = "n1",
        *,
        uid: str | None = None,
        boot: str = "boot-1",
        machine: str | None = None,
        created: bool = False,
        ready: str = "True",
        **state: Any,
    ) -> Self:
        detail = {
            "created": created,
            "state": {
                "uid": uid or f"uid-{node}",
                "fields": {
                    "boot_id": boot,
                    "machine_id": machine or f"machine-{node}",
                },
                "conditions": {"Ready": {"status": ready}},
                **state,
            },
        }
        thing = a_node_thing(node, uid)
        return self.add(
            seconds, FactKind.APPEARED, detail, node=node, about=thing
        )

    def vanishes(
        self, seconds: float, node: str = "n1", *, inferred: bool = False
    ) -> Self:
        detail = {"inferred": inferred, "state": {}}
        return self.add(seconds, FactKind.VANISHED, detail, node=node)

    def condition(
        self,
        seconds: float,
        name: str,
        status: str | None,
        reason: str = "",
        message: str = "",
        *,
        was: str | None = None,
        node: str = "n1",
        actor: str | None = None,
    ) -> Self:
        new = {"status": status, "reason": reason, "message": message}
        detail = {
            "type": name,
            "old": None if was is None else {"status": was},
            "new": None if status is None else new,
        }
        return self.add(
            seconds,
            FactKind.CONDITION_CHANGED,
            detail,
            node=node,
            actor=actor,
        )

    def lost(self, seconds: float, node: str = "n1") -> Self:
        """Let the node controller lose a node."""
        return self.condition(
            seconds,
            "Ready",
            "Unknown",
            "NodeStatusUnknown",
            NODE_LOST,
            was="True",
            node=node,
            actor="kube-controller-manager",
        )

    def ready(
        self, seconds: float, node: str = "n1", *, was: str = "Unknown"
    ) -> Self:
        return self.condition(
            seconds, "Ready", "True", "KubeletReady", was=was, node=node
        )

    def boots(
        self,
        seconds: float,
        node: str = "n1",
        *,
        old: str = "boot-1",
        new: str = "boot-2",
    ) -> Self:
        detail = {"old": old, "new": new}
        return self.add(
            seconds,
            FactKind.BOOT_CHANGED,
            detail,
            node=node,
            actor="kubelet",
        )

    def kubelet_starts(
        self,
        seconds: float,
        node: str = "n1",
        *,
        occurred: float | None = None,
    ) -> Self:
        return self.event(
            seconds,
            "kubelet",
            "Starting",
            "Starting kubelet.",
            node=node,
            occurred=occurred,
        )

    def kubelet_counts(self, seconds: float, *, first: float) -> Self:
        """Let a kubelet repeat an Event that it first sent at a given time."""
        return self.event(
            seconds,
            "kubelet",
            "NodeHasSufficientMemory",
            "Node n1 status is now: NodeHasSufficientMemory",
            first=f"{at(first):%Y-%m-%dT%H:%M:%SZ}",
        )

    def crashes(self, seconds: float, node: str = "n1") -> Self:
        """Let a node crash without an Event and return with a new boot."""
        self.silent(seconds + 50, node, renewed=seconds)
        self.lost(seconds + 50, node)
        number = self._booted[node] = self._booted.get(node, 1) + 1
        old, new = f"boot-{number - 1}", f"boot-{number}"
        self.boots(seconds + 200, node, old=old, new=new)
        self.kubelet_starts(seconds + 200, node)
        return self.ready(seconds + 210, node)

    def silent(
        self, seconds: float, node: str = "n1", *, renewed: float
    ) -> Self:
        lease = ObjectIdentity(
            "coordination.k8s.io", "Lease", "kube-node-lease", node, None
        )
        return self.add(
            seconds,
            FactKind.LEASE_SILENT,
            {},
            node=node,
            about=lease,
            occurred=renewed,
        )

    def event(
        self,
        seconds: float,
        reporter: str,
        reason: str,
        message: str = "",
        *,
        node: str | None = "n1",
        about: str = "Node",
        uid: str | None = None,
        occurred: float | None = None,
        **detail: Any,
    ) -> Self:
        thing = ObjectIdentity("", about, "", node or "thing", uid)
        event = {"reason": reason, "message": message, "count": 1, **detail}
        return self.add(
            seconds,
            FactKind.EVENT,
            event,
            node=node,
            about=thing,
            actor=reporter,
            occurred=seconds if occurred is None else occurred,
        )

    def cordons(
        self, seconds: float, actor: str | None = None, node: str = "n1"
    ) -> Self:
        return self.add(seconds, FactKind.CORDONED, {}, node=node, actor=actor)

    def uncordons(
        self, seconds: float, actor: str | None = None, node: str = "n1"
    ) -> Self:
        return self.add(
            seconds, FactKind.UNCORDONED, {}, node=node, actor=actor
        )

    def taints(
        self,
        seconds: float,
        key: str,
        effect: str = "NoSchedule",
        *,
        value: str | None = None,
        actor: str | None = None,
        off: bool = False,
        node: str = "n1",
    ) -> Self:
        kind = FactKind.UNTAINTED if off else FactKind.TAINTED
        detail = {"key": key, "value": value, "effect": effect}
        return self.add(seconds, kind, detail, node=node, actor=actor)

    def labels(
        self,
        seconds: float,
        key: str,
        new: str | None,
        *,
        old: str | None = None,
        annotation: bool = False,
        actor: str | None = None,
        node: str = "n1",
    ) -> Self:
        kind = (
            FactKind.ANNOTATION_CHANGED
            if annotation
            else FactKind.LABEL_CHANGED
        )
        detail = {"key": key, "old": old, "new": new}
        return self.add(seconds, kind, detail, node=node, actor=actor)

    def gpus(self, seconds: float, old: int, new: int, whole: int = 8) -> Self:
        detail = {
            "list": "allocatable",
            "resource": "nvidia.com/gpu",
            "old": str(old),
            "new": str(new),
            "capacity": str(whole),
        }
        return self.add(seconds, FactKind.RESOURCE_CHANGED, detail)

    def version(self, seconds: float, field: str, old: str, new: str) -> Self:
        detail = {"field": field, "old": old, "new": new}
        return self.add(seconds, FactKind.FIELD_CHANGED, detail)
