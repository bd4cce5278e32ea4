"""Tales: facts by hand, one after another, and what is judged of them.

A tale shows what matters for a verdict and nothing else; times are seconds
from its beginning, and each fact has an entry of its own.
"""

# ruff: noqa: PLR0913 - who tells a fact names its parts

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

from recorder.explain.chains import chains_of
from recorder.explain.fleet import Fleet
from recorder.explain.judging import Hole, judge
from recorder.explain.verdict import Verdict
from recorder.knowledge import Knowledge, shipped
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.projections import NodeState
from tests.support.builders import at

__all__ = ["Tale", "a_node_thing"]

NODE_LOST = "Kubelet stopped posting node status."


def a_node_thing(name: str, uid: str | None = None) -> ObjectIdentity:
    return ObjectIdentity("", "Node", "", name, uid or f"uid-{name}")


class Tale:
    """What is told of a cluster."""

    def __init__(self, *nodes: str, racks: Mapping[str, str] = {}) -> None:
        self.facts: list[StoredFact] = []
        self.holes: list[Hole] = []
        self.audited = False
        for node in nodes or ("n1",):
            labels = {"rack": racks[node]} if node in racks else {}
            self.appears(0, node, labels=labels)

    def tell(
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
            detail=detail,
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
        return self.tell(
            seconds, FactKind.APPEARED, detail, node=node, about=thing
        )

    def vanishes(
        self, seconds: float, node: str = "n1", *, inferred: bool = False
    ) -> Self:
        detail = {"inferred": inferred, "state": {}}
        return self.tell(seconds, FactKind.VANISHED, detail, node=node)

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
        return self.tell(
            seconds,
            FactKind.CONDITION_CHANGED,
            detail,
            node=node,
            actor=actor,
        )

    def lost(self, seconds: float, node: str = "n1") -> Self:
        """Let the node controller hear nothing more of a node."""
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
        return self.tell(
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

    def crashes(self, seconds: float, node: str = "n1") -> Self:
        """Let a node go without a word and come back from a new boot."""
        self.silent(seconds + 50, node, renewed=seconds)
        self.lost(seconds + 50, node)
        self.boots(seconds + 200, node)
        self.kubelet_starts(seconds + 200, node)
        return self.ready(seconds + 210, node)

    def silent(
        self, seconds: float, node: str = "n1", *, renewed: float
    ) -> Self:
        lease = ObjectIdentity(
            "coordination.k8s.io", "Lease", "kube-node-lease", node, None
        )
        return self.tell(
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
        told = {"reason": reason, "message": message, "count": 1, **detail}
        return self.tell(
            seconds,
            FactKind.EVENT,
            told,
            node=node,
            about=thing,
            actor=reporter,
            occurred=seconds if occurred is None else occurred,
        )

    def cordons(
        self, seconds: float, actor: str | None = None, node: str = "n1"
    ) -> Self:
        return self.tell(
            seconds, FactKind.CORDONED, {}, node=node, actor=actor
        )

    def uncordons(
        self, seconds: float, actor: str | None = None, node: str = "n1"
    ) -> Self:
        return self.tell(
            seconds, FactKind.UNCORDONED, {}, node=node, actor=actor
        )

    def taints(
        self,
        seconds: float,
        key: str,
        effect: str = "NoSchedule",
        *,
        actor: str | None = None,
        off: bool = False,
        node: str = "n1",
    ) -> Self:
        kind = FactKind.UNTAINTED if off else FactKind.TAINTED
        detail = {"key": key, "value": None, "effect": effect}
        return self.tell(seconds, kind, detail, node=node, actor=actor)

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
        return self.tell(seconds, kind, detail, node=node, actor=actor)

    def gpus(self, seconds: float, old: int, new: int, whole: int = 8) -> Self:
        detail = {
            "list": "allocatable",
            "resource": "nvidia.com/gpu",
            "old": str(old),
            "new": str(new),
            "capacity": str(whole),
        }
        return self.tell(seconds, FactKind.RESOURCE_CHANGED, detail)

    def version(self, seconds: float, field: str, old: str, new: str) -> Self:
        detail = {"field": field, "old": old, "new": new}
        return self.tell(seconds, FactKind.FIELD_CHANGED, detail)

    def pod(
        self,
        seconds: float,
        reason: str,
        message: str = "",
        *,
        name: str = "pod-1",
        node: str = "n1",
    ) -> Self:
        """Let a Pod be disrupted."""
        new = {"status": "True", "reason": reason, "message": message}
        detail = {"type": "DisruptionTarget", "old": None, "new": new}
        thing = ObjectIdentity("", "Pod", "train", name, f"uid-{name}")
        return self.tell(
            seconds,
            FactKind.CONDITION_CHANGED,
            detail,
            node=node,
            about=thing,
        )

    def container_ends(
        self, seconds: float, reason: str, code: int = 137
    ) -> Self:
        detail = {"container": "main", "reason": reason, "exit_code": code}
        thing = ObjectIdentity("", "Pod", "train", "pod-1", "uid-pod-1")
        return self.tell(
            seconds, FactKind.CONTAINER_ENDED, detail, about=thing
        )

    def made(
        self, seconds: float, group: str, kind: str, node: str = "n1"
    ) -> Self:
        thing = ObjectIdentity(group, kind, "", f"for-{node}", f"uid-{kind}")
        detail = {"created": True, "state": {"node": node}}
        return self.tell(
            seconds, FactKind.APPEARED, detail, node=node, about=thing
        )

    def locks(
        self, seconds: float, node: str = "n1", *, off: bool = False
    ) -> Self:
        text = json.dumps({"nodeID": node})
        detail = {
            "key": "weave.works/kured-node-lock",
            "old": text if off else None,
            "new": None if off else text,
        }
        thing = ObjectIdentity(
            "apps", "DaemonSet", "kube-system", "kured", "u"
        )
        return self.tell(
            seconds,
            FactKind.ANNOTATION_CHANGED,
            detail,
            node=node,
            about=thing,
        )

    def asks(
        self,
        seconds: float,
        user: str,
        verb: str,
        body: str = "",
        *,
        node: str = "n1",
        resource: str = "nodes",
        code: int = 200,
        **detail: Any,
    ) -> Self:
        """Let audit tell who asked for what."""
        self.audited = True
        told = {
            "verb": verb,
            "resource": resource,
            "name": node,
            "body": body,
            "code": code,
            "user": user,
            **detail,
        }
        return self.tell(
            seconds,
            FactKind.REQUESTED,
            told,
            node=node,
            actor=user,
            occurred=seconds,
        )

    def gap(self, since: float, until: float) -> Self:
        self.holes.append(Hole(at(since), at(until)))
        return self

    def verdicts(
        self,
        node: str = "n1",
        *,
        knowledge: Knowledge | None = None,
        base: NodeState | None = None,
        facts: Sequence[StoredFact] | None = None,
    ) -> list[Verdict]:
        """Judge what is told of a node."""
        told = self.facts if facts is None else facts
        mine = [fact for fact in told if fact.fact.node == node]
        chains = chains_of(node, mine, knowledge or shipped(), base)
        fleet = Fleet(told)
        found = [
            judge(chain, fleet, holes=self.holes, audited=self.audited)
            for chain in chains
        ]
        return [verdict for verdict in found if verdict is not None]

    def verdict(self, node: str = "n1", **more: Any) -> Verdict:
        """Judge a tale in which one thing happened to a node."""
        found = self.verdicts(node, **more)
        assert len(found) == 1, [v.sentence for v in found]
        return found[0]
