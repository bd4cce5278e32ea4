"""What the operators of the eighth set write of their gangs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.corpus.writing.cluster import (
    NODES,
    PODS,
    Made,
    Written,
    refers_to,
)

__all__ = ["JOBSETS", "SLICES", "SYSTEM", "Fleet"]

JOBSETS = "jobset.x-k8s.io/v1alpha2/jobsets"
SLICES = "resource.k8s.io/v1/resourceslices"
WATCHED = {
    JOBSETS: "JobSet",
    "leaderworkerset.x-k8s.io/v1/leaderworkersets": "LeaderWorkerSet",
    "trainer.kubeflow.org/v1alpha1/trainjobs": "TrainJob",
    "kubeflow.org/v1/pytorchjobs": "PyTorchJob",
    "kubeflow.org/v2beta1/mpijobs": "MPIJob",
    "ray.io/v1/rayclusters": "RayCluster",
    "ray.io/v1/rayjobs": "RayJob",
    "batch.volcano.sh/v1alpha1/jobs": "Job",
    "scheduling.volcano.sh/v1beta1/podgroups": "PodGroup",
    SLICES: "ResourceSlice",
}
"""What is recorded besides what Kubernetes itself has; no other kind is."""

SYSTEM = "system:serviceaccount:kube-system:"
GC = f"{SYSTEM}generic-garbage-collector"
MANAGER = "kube-controller-manager"


class Fleet(Written):
    """A cluster with operators."""

    def __init__(self, name: str) -> None:
        super().__init__(name, WATCHED)

    def nodes(self, *names: str) -> list[Made]:
        """Register nodes of sixteen GPUs."""
        return [self.node(name, 16) for name in names]

    def own(
        self,
        resource: str,
        kind: str,
        title: str,
        *,
        by: str = "kubectl-create",
        owner: Made | None = None,
        **more: Any,
    ) -> Made:
        """Create an owner, ``namespace/name``; ``spec``, ``status``, metadata.

        It is watched if its kind is.
        """
        version = resource.rsplit("/", 1)[0]
        space, name = title.split("/")
        made = self._object(version, kind, space, name)
        life = more.pop("life", 1)
        if life > 1:
            made["metadata"]["uid"] = self.uid(kind, space, name, life)
        made |= {
            "spec": more.pop("spec", {}),
            "status": more.pop("status", {}),
        }
        made["metadata"] |= {"generation": 1, **more}
        if owner:
            made["metadata"]["ownerReferences"] = [refers_to(owner)]
        if resource in self.kinds:
            self.put(resource, made, by, "spec")
        return made

    def says(self, resource: str, made: Made, by: str, **status: Any) -> None:
        """Write the status of an owner; ``condition`` is one of several."""
        condition = status.pop("condition", None)
        made["status"] |= status
        if condition:
            kind, value, reason, message = condition
            kept = made["status"].get("conditions", [])
            new = {
                "type": kind,
                "status": value,
                "reason": reason,
                "message": message,
                "lastTransitionTime": self.at(),
            }
            made["status"]["conditions"] = [
                *(one for one in kept if one["type"] != kind),
                new,
            ]
        self.put(resource, made, by, "status")

    def members(self, owner: Made) -> list[Made]:
        """Return the Pods of an owner."""
        uid = owner["metadata"]["uid"]
        return [
            pod
            for pod in self.there[PODS].values()
            if pod["metadata"].get("ownerReferences", [{}])[0].get("uid")
            == uid
        ]

    def only(self, owner: Made) -> Made:
        """Return the only Pod of an owner."""
        (pod,) = self.members(owner)
        return pod

    def stop(self, pods: Iterable[Made], user: str = "", **more: Any) -> None:
        """Ask Pods to stop, as an audited user if there is one."""
        for pod in pods:
            if user:
                self.audited(user, "delete", pod, **more)
            self.delete(pod)
            node = pod["spec"].get("nodeName")
            running = pod["status"]["phase"] == "Running"
            if running and node in self.alive:
                said = "Stopping container main"
                self.event(pod, "Killing", said, "kubelet", host=node)

    def ends(self, *pods: Made, code: int = 143, reason: str = "") -> None:
        """Let Pods that were asked to stop end, and be gone."""
        self.wait(1.5)
        for pod in pods:
            self.exits(pod, code, reason)
            if pod["metadata"].pop("finalizers", None):
                self.put(PODS, pod, MANAGER)
            self.gone(PODS, pod)

    def restarts(self, pod: Made, code: int, reason: str) -> None:
        """Start the container of a Pod again, in its place."""
        (one,) = pod["status"]["containerStatuses"]
        ended = {
            "exitCode": code,
            "reason": reason,
            "startedAt": pod["status"]["startTime"],
            "finishedAt": self.at(),
        }
        self.wait(1)
        one |= {
            "ready": True,
            "restartCount": one["restartCount"] + 1,
            "lastState": {"terminated": ended},
            "state": {"running": {"startedAt": self.at()}},
        }
        self._condition(pod, "Ready", "True")
        self.put(PODS, pod, "kubelet", "status.containerStatuses")
        node = pod["spec"]["nodeName"]
        self.event(pod, "Started", "Container started", "kubelet", host=node)

    def evicted(self, pod: Made, said: str) -> None:
        """Let the kubelet evict a Pod."""
        node = pod["spec"]["nodeName"]
        self.event(pod, "Evicted", said, "kubelet", host=node, kind="Warning")
        pod["status"] |= {"reason": "Evicted", "message": said}
        self.disrupt(pod, "TerminationByKubelet", said, "kubelet")
        self.exits(pod, 137)

    def pressed(self, node: Made, index: int, reason: str) -> None:
        """Set the condition of a pressure."""
        node["status"]["conditions"][index] |= {
            "status": "True",
            "reason": reason,
            "lastTransitionTime": self.at(),
        }
        self.put(NODES, node, "kubelet", "status.conditions")

    def refused(self, user: str, pod: Made) -> None:
        """Refuse an eviction for the budget of the Pod."""
        body = {"kind": "Eviction", "apiVersion": "policy/v1"}
        self.audited(user, "create", pod, body, sub="eviction")
        self.frames[-1]["event"]["responseStatus"] = {
            "metadata": {},
            "status": "Failure",
            "reason": "TooManyRequests",
            "message": "Cannot evict pod as it would violate the pod's "
            "disruption budget.",
            "code": 429,
        }

    def audited(
        self,
        user: str,
        verb: str,
        of: Made,
        body: Made | None = None,
        **more: str,
    ) -> None:
        """Write an audit record of a namespaced object."""
        meta = of["metadata"]
        group, _, _version = of["apiVersion"].rpartition("/")
        plural = more.get("plural", "pods")
        ref = {
            "resource": plural,
            "namespace": meta["namespace"],
            "name": meta["name"],
            "apiVersion": of["apiVersion"].rpartition("/")[2],
        }
        ref |= {"apiGroup": group} if group else {}
        sub = more.get("sub", "")
        ref |= {"subresource": sub} if sub else {}
        root = f"/apis/{of['apiVersion']}" if group else "/api/v1"
        path = f"{root}/namespaces/{meta['namespace']}/{plural}"
        if verb != "create" or sub:
            path += f"/{meta['name']}"
        path += f"/{sub}" if sub else ""
        agent = more.get("agent", "kubectl/v1.36.3")
        if user.startswith(SYSTEM):
            agent = f"{MANAGER}/v1.36.3"
        self.audit(user, verb, path, ref, body, agent)

    def returns(self, node: Made, label: str = "back") -> None:
        """Let a node that was cut off be heard again."""
        name = node["metadata"]["name"]
        self.did(label, f"{name}: the network is back")
        self.wait(1)
        self.alive.add(name)
        self._lease(name)
        self._ready(node)
        self.put(NODES, node, "kubelet", "status.conditions")
        self.event(
            node,
            "NodeReady",
            f"Node {name} status is now: NodeReady",
            "kubelet",
            host=name,
        )
        del node["spec"]["taints"]
        self.put(NODES, node, MANAGER, "spec.taints")
        for pod in self.there[PODS].values():
            if pod["spec"].get("nodeName") == name:
                self._condition(pod, "Ready", "True")
                self.put(PODS, pod, "kubelet", "status.conditions")

    def kubelet_starts(self, node: Made) -> None:
        """Start the kubelet of a node anew."""
        name = node["metadata"]["name"]
        self.event(node, "Starting", "Starting kubelet.", "kubelet", host=name)
        self.put(NODES, node, "kubelet", "status.conditions")

    def set_of(
        self,
        kind: str,
        title: str,
        owner: Made | None = None,
        **spec: Any,
    ) -> Made:
        """Create a Deployment's ReplicaSet, a StatefulSet or a DaemonSet."""
        by = "kubectl-create"
        top = None
        space, name = title.split("/")
        if kind == "Deployment":
            top = self.own("apps/v1/deployments", kind, title, spec=dict(spec))
            kind, title = "ReplicaSet", f"{space}/{name}-6c9f7d8b54"
        return self.own(
            f"apps/v1/{kind.lower()}s",
            kind,
            title,
            by=MANAGER if top or owner else by,
            owner=top or owner,
            spec=spec,
        )

    def replica(
        self,
        owner: Made,
        node: str,
        gpus: int,
        suffix: str,
        labels: Mapping[str, str] | None = None,
    ) -> Made:
        """Create a Pod of a ReplicaSet, a StatefulSet or a DaemonSet."""
        kind, name = owner["kind"], owner["metadata"]["name"]
        text = "Created pod: {}"
        if kind == "StatefulSet":
            text = f"create Pod {{}} in StatefulSet {name} successful"
        return self.pod(
            f"{name}-{suffix}",
            node,
            gpus,
            owner=owner,
            by=MANAGER,
            created=("SuccessfulCreate", text, f"{kind.lower()}-controller"),
            space=owner["metadata"]["namespace"],
            restart="Always",
            labels={"app": name, **(labels or {})},
        )

    def collected(self, pods: Sequence[Made]) -> None:
        """Let the garbage collector delete Pods whose owner is gone."""
        self.wait(0.4)
        self.stop(pods, GC)
