"""Work: Pods come to nodes, are taken from them, and end."""

# ruff: noqa: PLR0913 - a Pod has many parts

from collections.abc import Mapping
from typing import Any, Self

from tests.scenarios.telling.cluster import KCM, Cluster
from tests.scenarios.telling.parts import clock, uid_of
from tests.scenarios.telling.world import PODS

__all__ = ["Work", "owner"]

TAINTED = (
    "DeletionByTaintManager",
    "Taint manager: deleting due to NoExecute taint",
)


def owner(
    kind: str, name: str, api: str, space: str = "train", life: int = 1
) -> Any:
    """Refer to an owner."""
    return {
        "apiVersion": api,
        "kind": kind,
        "name": name,
        "uid": uid_of(kind, space, name, str(life)),
        "controller": True,
    }


class Work(Cluster):
    """Nodes, and Pods on them."""

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
        life: int = 1,
        starts: bool = True,
        **spec: Any,
    ) -> Self:
        """Let a Pod run on a node, or only be bound to it.

        ``spec`` replaces parts of its own, as other containers.
        """
        self.makes(
            at,
            PODS,
            "Pod",
            pod,
            by="kube-controller-manager",
            space=space,
            life=life,
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
                **spec,
            },
            status={"phase": "Pending", "startTime": clock(at)},
        )
        if not starts:
            return self

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

    def tainted_away(self, at: float, *pods: str) -> Self:
        """Let the taint manager delete Pods of a node that was lost."""
        for pod in pods:
            self.pod(at, pod, KCM, disrupted=TAINTED, deleting=True)
        return self
