"""A scene: work on a cluster, and what is true of what happens to it."""

# ruff: noqa: PLR0913 - a truth has many parts

from collections.abc import Mapping, Sequence
from typing import Any, Self

from tests.corpus.blinding import Blind, blinded
from tests.corpus.told import Told
from tests.corpus.truth import (
    Actor,
    ClusterFacts,
    NodeFacts,
    Question,
    Truth,
    Verdict,
    Workload,
)
from tests.explain.heldout.cluster import Cluster
from tests.explain.heldout.parts import boot_id, clock, fine, uid_of
from tests.explain.heldout.world import PODS

__all__ = ["Scene", "owner"]

_Asked = tuple[
    float,
    float,
    str,
    str | None,
    Mapping[str, str],
    Sequence[int],
    Sequence[str],
]


def owner(kind: str, name: str, api: str, space: str = "train") -> Any:
    """Refer to an owner."""
    return {
        "apiVersion": api,
        "kind": kind,
        "name": name,
        "uid": uid_of(kind, space, name, "1"),
        "controller": True,
    }


class Scene(Cluster):
    """Pods come and go, and it is said what is to be concluded."""

    def __init__(
        self,
        *nodes: str,
        racks: Mapping[str, str] | None = None,
        gpus: int = 8,
        audit: bool = False,
    ) -> None:
        super().__init__(*nodes, racks=racks, gpus=gpus)
        self._racks = racks or {}
        self._audit = audit
        self._verdicts: list[Verdict] = []
        self._workloads: list[Workload] = []
        self._questions: list[_Asked] = []
        self._blind: list[Blind] = []

    def runs(
        self,
        at: float,
        pod: str,
        on: str,
        *,
        of: Any = None,
        labels: Mapping[str, str] = {},
        notes: Mapping[str, str] = {},
        gpus: int = 8,
        space: str = "train",
    ) -> Self:
        """Let a Pod run on a node."""
        self.makes(
            at,
            PODS,
            "Pod",
            pod,
            by="kube-controller-manager",
            space=space,
            metadata={
                "labels": dict(labels),
                "annotations": dict(notes),
                "ownerReferences": [of] if of else [],
            },
            spec={
                "nodeName": on,
                "containers": [
                    {
                        "name": "main",
                        "resources": {"limits": {"nvidia.com/gpu": str(gpus)}},
                    }
                ],
            },
            status={"phase": "Pending", "startTime": clock(at)},
        )

        def change(made: dict[str, Any]) -> None:
            made["status"] |= {
                "phase": "Running",
                "containerStatuses": [
                    {"name": "main", "restartCount": 0, "ready": True}
                ],
            }

        return self.alters(
            at + 0.01, PODS, pod, change, by="kubelet", space=space
        )

    def pod(
        self,
        at: float,
        name: str,
        by: str,
        *,
        space: str = "train",
        disrupted: tuple[str, str] | None = None,
        deleting: bool = False,
        ended: tuple[int, str] | None = None,
        again: bool = False,
        **status: Any,
    ) -> Self:
        """Change a Pod: disrupted, to be deleted, its container ended."""

        def change(pod: dict[str, Any]) -> None:
            if disrupted is not None:
                reason, message = disrupted
                pod["status"].setdefault("conditions", []).append(
                    {
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": reason,
                        "message": message,
                        "lastTransitionTime": clock(at),
                    }
                )
            if deleting:
                pod["metadata"]["deletionTimestamp"] = clock(at + 30)
            if ended is not None:
                container = pod["status"]["containerStatuses"][0]
                end = {
                    "exitCode": ended[0],
                    "reason": ended[1],
                    "finishedAt": clock(at),
                }
                if again:
                    container["restartCount"] += 1
                    container["lastState"] = {"terminated": end}
                else:
                    container["state"] = {"terminated": end}
            pod["status"] |= status

        return self.alters(at, PODS, name, change, by=by, space=space)

    def fails(
        self, at: float, name: str, code: int, reason: str = "Error"
    ) -> Self:
        """Let a Pod fail."""
        ended = code, reason
        return self.pod(at, name, "kubelet", ended=ended, phase="Failed")

    def gone(self, at: float, name: str, space: str = "train") -> Self:
        """Let a Pod be gone."""
        return self.removes(at, PODS, name, space=space)

    def evicts(
        self, at: float, *pods: str, by: str = "kube-apiserver"
    ) -> Self:
        """Evict Pods, as a drain does."""
        for pod in pods:
            why = "EvictionByEvictionAPI", "Eviction API: evicting"
            self.pod(at, pod, by, disrupted=why, deleting=True)
            self.fails(at + 3, pod, 143)
            self.gone(at + 3.2, pod)
        return self

    def expect(
        self,
        node: str,
        happened: Any,
        mode: Any,
        *,
        fault: Any = None,
        decision: Any = None,
        actor: tuple[Sequence[Any], str | None] | None = None,
        never: Sequence[str] = (),
        most: Any = "proven",
        back: bool | None = None,
        boots: tuple[int, int] | None = None,
        accept: Mapping[str, Sequence[str | None]] = {},
    ) -> Self:
        """Say what is to be concluded of a node."""
        kinds, name = actor or ((), None)
        self._verdicts.append(
            Verdict(
                id=f"{node} {happened} {len(self._verdicts)}",
                node=node,
                happened=happened,
                mode=mode,
                cause=fault or decision or "unrecorded",
                fault=fault,
                decision=decision,
                actor=(
                    Actor(kinds=list(kinds), name=name, never=list(never))
                    if actor is not None
                    else None
                ),
                boot_id_before=boots and boot_id(node, boots[0]),
                boot_id_after=boots and boot_id(node, boots[1]),
                back_in_service=back,
                confidence_at_most=most,
                accept={key: list(value) for key, value in accept.items()},
            )
        )
        return self

    def hit(
        self,
        kind: str,
        name: str,
        first: str,
        pods: Sequence[str],
        *,
        nodes: Sequence[str] = (),
        size: int,
        gpus: int,
        outcome: Any = "down",
        by: Any = "node-failure",
        space: str = "train",
        optional: bool = False,
        accept: Mapping[str, Sequence[Any]] = {},
    ) -> Self:
        """Say which workload is hit."""
        self._workloads.append(
            Workload(
                kind=kind,
                namespace=space,
                name=name,
                hit_by=by,
                outcome=outcome,
                first_node=first,
                nodes=list(nodes or [first]),
                pods_hit=list(pods),
                gang_size=size,
                gpus=gpus,
                optional=optional,
                accept={key: list(value) for key, value in accept.items()},
            )
        )
        return self

    def asks(
        self,
        since: float,
        until: float,
        *,
        node: str = "",
        rack: str | None = None,
        labels: Mapping[str, str] = {},
        verdicts: Sequence[int] = (),
        workloads: Sequence[str] = (),
    ) -> Self:
        """Ask about a window; verdicts go by when they were expected."""
        asked = since, until, node, rack, labels, verdicts, workloads
        self._questions.append(asked)
        return self

    def blind(self, span: Blind) -> Self:
        """Let nobody listen for a while."""
        self._blind.append(span)
        return self

    def _asked(self, asked: _Asked) -> Question:
        since, until, node, rack, labels, verdicts, workloads = asked
        return Question(
            node=node,
            since="",
            until="",
            since_at=fine(since),
            until_at=fine(until),
            verdicts=[self._verdicts[place].id for place in verdicts],
            workloads=list(workloads),
            rack=rack,
            labels=dict(labels),
        )

    def told(self, name: str) -> Told:
        """Give the tape and what is true of it."""
        cluster = ClusterFacts(
            kubernetes="v1.36.3",
            nodes=[
                NodeFacts(name=node, rack=self._racks.get(node), gpus=8)
                for node in sorted(self.lives)
            ],
            audit=self._audit,
            real=[],
        )
        truth = Truth(
            incident=name,
            says=name,
            cluster=cluster,
            acts=[],
            verdicts=list(self._verdicts),
            workloads=list(self._workloads),
            not_workloads=[],
            questions=[self._asked(asked) for asked in self._questions],
        )
        tape = self.tape(name)
        for span in self._blind:
            tape = blinded(tape, fine(span.since), fine(span.until))
        return Told(tape, truth)
