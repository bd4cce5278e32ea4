"""Writes objects as Kubernetes does: nodes, Jobs, Pods, and their ends.

What is watched is written by hand here, because a real cluster would take
five minutes for each Pod that tolerates a node as long as it does by default.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tests.corpus.identities import boot_id, machine_identity
from tests.corpus.writing.tape import BEGAN, NODES, PODS, Made, WrittenTape

__all__ = ["NODES", "PODS", "Made", "Written", "refers_to"]

JOBS = "batch/v1/jobs"
LEASES = "coordination.k8s.io/v1/leases"
SCHEDULER = "default-scheduler"
PRESSURES = {
    "MemoryPressure": "KubeletHasSufficientMemory",
    "DiskPressure": "KubeletHasNoDiskPressure",
    "PIDPressure": "KubeletHasSufficientPID",
}

OF_KUBELET = PRESSURES | {"Ready": "KubeletReady"}
"""Its conditions of a healthy node: reasons by type."""
UNREACHABLE = "node.kubernetes.io/unreachable"


def refers_to(owner: Made) -> Made:
    """Return the reference to the controller of an object."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


class Written(WrittenTape):
    """A cluster as it is watched."""

    def __init__(self, name: str, more: Mapping[str, str] = {}) -> None:
        super().__init__(name, more)
        self.alive: set[str] = set()
        self._lives: Counter[str] = Counter()

    def beat(self) -> None:
        """Let kubelets renew their leases."""
        for node in sorted(self.alive):
            self._lease(node)

    def node(self, name: str, gpus: int = 8) -> Made:
        """Register a node."""
        identity = machine_identity(self.name, name)
        size = {
            "cpu": "128",
            "memory": "2Ti",
            "nvidia.com/gpu": str(gpus),
            "pods": "110",
        }
        made = self._object("v1", "Node", None, name)
        made["metadata"]["labels"] = {"kubernetes.io/hostname": name}
        made |= {
            "spec": {"providerID": f"metal://{name}"},
            "status": {
                "capacity": size,
                "allocatable": dict(size),
                "conditions": [],
                "nodeInfo": {
                    "machineID": identity.hex,
                    "systemUUID": str(identity),
                    "bootID": boot_id(self.name, name, 1),
                    "kernelVersion": "6.8.0-79-generic",
                    "osImage": "Ubuntu 24.04.3 LTS",
                    "containerRuntimeVersion": "containerd://2.1.4",
                    "kubeletVersion": "v1.36.3",
                    "operatingSystem": "linux",
                    "architecture": "amd64",
                },
            },
        }
        self._ready(made)
        self.alive.add(name)
        self.put(NODES, made, "kubelet", "status.conditions")
        self._lease(name)
        return made

    def job(
        self,
        name: str,
        node: str,
        gpus: int = 4,
        *,
        pods: int = 1,
        **spec: Any,
    ) -> Made:
        """Create a Job; its first Pods are made by `run`."""
        made = self._object("batch/v1", "Job", "train", name)
        made |= {
            "spec": {
                "parallelism": pods,
                "completions": pods,
                "backoffLimit": 6,
                "completionMode": "Indexed",
                "suspend": False,
                "gpus": None,
                **spec,
            },
            "status": {
                "startTime": self.at(),
                "active": pods,
                "terminating": 0,
                "ready": pods,
                "uncountedTerminatedPods": {},
            },
        }
        del made["spec"]["gpus"]
        made["spec"]["template"] = {"spec": self._pod_spec(gpus)}
        self.put(JOBS, made, "kubectl-create", "spec.template")
        if node:
            self.run(made, node, gpus)
        return made

    def run(
        self,
        owner: Made | None,
        node: str,
        gpus: int = 4,
        *,
        name: str = "",
        index: int = 0,
        runs: bool = True,
    ) -> Made:
        """Create a Pod of a Job, or of nothing, as `pod` does."""
        self._count += 1
        if owner is None:
            return self.pod(name, node, gpus, by="kubectl-run", runs=runs)
        title = owner["metadata"]["name"]
        label = "batch.kubernetes.io/"
        number = {f"{label}job-completion-index": str(index)}
        return self.pod(
            f"{title}-{index}-{self._count:05x}",
            node,
            gpus,
            owner=owner,
            by="kube-controller-manager",
            created=("SuccessfulCreate", "Created pod: {}", "job-controller"),
            labels={f"{label}job-name": title} | number,
            annotations=number,
            finalizers=[f"{label}job-tracking"],
            runs=runs,
        )

    def pod(
        self,
        name: str,
        node: str,
        gpus: int = 4,
        *,
        owner: Made | None = None,
        by: str,
        **more: Any,
    ) -> Made:
        """Create a Pod, which is scheduled and, unless refused, runs.

        ``created`` is the Event of its owner: reason, text and reporter;
        ``space``, ``scheduler``, ``restart`` and ``runs`` say how it runs,
        other words are its metadata. Without a node it waits for one.
        """
        space = more.pop("space", "train")
        runs = more.pop("runs", True)
        created = more.pop("created", None)
        pod = self._object("v1", "Pod", space, name)
        self._lives[name] += 1
        if self._lives[name] > 1:
            again = self._lives[name]
            pod["metadata"]["uid"] = self.uid("Pod", space, name, again)
        pod["spec"] = self._pod_spec(gpus)
        pod["spec"]["restartPolicy"] = more.pop("restart", "Never")
        pod["spec"]["schedulerName"] = more.pop("scheduler", SCHEDULER)
        pod["metadata"] |= more
        if owner:
            pod["metadata"]["ownerReferences"] = [refers_to(owner)]
        pod["status"] = {"phase": "Pending", "qosClass": "BestEffort"}
        self.put(PODS, pod, by, "spec.containers")
        if owner and created:
            reason, text, reporter = created
            self.event(owner, reason, text.format(name), reporter)
        if node:
            self.place(pod, node, runs=runs)
        return pod

    def place(self, pod: Made, node: str, *, runs: bool = True) -> None:
        """Schedule a Pod, and let it run."""
        meta, by = pod["metadata"], pod["spec"]["schedulerName"]
        pod["spec"]["nodeName"] = node
        self._condition(pod, "PodScheduled", "True")
        self.put(PODS, pod, "kube-scheduler")
        self.event(
            pod,
            "Scheduled",
            f"Successfully assigned {meta['namespace']}/{meta['name']} "
            f"to {node}",
            by,
        )
        if not runs:
            return
        self.wait(2)
        for kind in ("Initialized", "Ready", "ContainersReady"):
            self._condition(pod, kind, "True")
        pod["status"] |= {
            "phase": "Running",
            "startTime": self.at(),
            "containerStatuses": [self._container(pod)],
        }
        self.put(PODS, pod, "kubelet", "status.phase")
        self.event(pod, "Started", "Container started", "kubelet", host=node)

    def exits(self, pod: Made, code: int, reason: str = "") -> None:
        """Let the only container of a Pod end, and with it the Pod."""
        self._ended(pod, code, reason or ("Error" if code else "Completed"))
        pod["status"]["phase"] = "Failed" if code else "Succeeded"
        self._condition(
            pod, "Ready", "False", "PodFailed" if code else "PodCompleted"
        )
        self.put(PODS, pod, "kubelet", "status.phase")

    def disrupt(
        self,
        pod: Made,
        reason: str,
        message: str,
        manager: str = "kube-controller-manager",
    ) -> None:
        """Mark a Pod as the target of a disruption."""
        self._condition(pod, "DisruptionTarget", "True", reason, message)
        self.put(PODS, pod, manager, "status.conditions")

    def delete(self, pod: Made, grace: int = 30) -> None:
        """Ask a Pod to stop."""
        end = BEGAN + timedelta(seconds=self.now + grace)
        pod["metadata"] |= {
            "deletionTimestamp": end.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "deletionGracePeriodSeconds": grace,
        }
        self.put(PODS, pod, "")

    def stopped(self, pod: Made, code: int = 143) -> None:
        """Let a Pod that was asked to stop do so, and be gone."""
        self.wait(2)
        if code >= 0:
            self.exits(pod, code)
        pod["metadata"].pop("finalizers", None)
        self.put(PODS, pod, "kube-controller-manager")
        self.gone(PODS, pod)

    def status(self, job: Made, **more: Any) -> None:
        """Write the status of a Job."""
        condition = more.pop("condition", None)
        job["status"] |= more
        if condition:
            kind, reason, message = condition
            self._condition(job, kind, "True", reason, message)
            self.event(
                job,
                reason or "Completed",
                message,
                "job-controller",
                kind="Normal" if kind == "Complete" else "Warning",
            )
        self.put(JOBS, job, "kube-controller-manager", "status.active")

    def cordon(self, node: Made, user: str, *, back: bool = False) -> None:
        """Cordon a node, or uncordon it."""
        name = node["metadata"]["name"]
        self.audit(
            user,
            "patch",
            f"/api/v1/nodes/{name}",
            {"resource": "nodes", "name": name},
            {"spec": {"unschedulable": None if back else True}},
        )
        key = "node.kubernetes.io/unschedulable"
        if back:
            node["spec"].pop("unschedulable")
            node["spec"].pop("taints")
        else:
            node["spec"] |= {
                "unschedulable": True,
                "taints": [
                    {
                        "key": key,
                        "effect": "NoSchedule",
                        "timeAdded": self.at(),
                    }
                ],
            }
        self.put(NODES, node, "kubectl", "spec.unschedulable")
        say = "NodeSchedulable" if back else "NodeNotSchedulable"
        self.event(
            node,
            say,
            f"Node {name} status is now: {say}",
            "kubelet",
            host=name,
        )

    def evict(self, pod: Made, user: str) -> None:
        """Evict a Pod, until it is gone."""
        name = pod["metadata"]["name"]
        self.audit(
            user,
            "create",
            f"/api/v1/namespaces/train/pods/{name}/eviction",
            {
                "resource": "pods",
                "namespace": "train",
                "name": name,
                "subresource": "eviction",
            },
            {
                "kind": "Eviction",
                "apiVersion": "policy/v1",
                "metadata": {"name": name, "namespace": "train"},
            },
        )
        self.disrupt(
            pod,
            "EvictionByEvictionAPI",
            "Eviction API: evicting",
            "kube-apiserver",
        )
        self.delete(pod)
        self.stopped(pod)

    def crash(self, node: Made) -> list[Made]:
        """Let a machine die, and be given up; return its Pods."""
        self.dies(node)
        self.wait(52)
        return self.given_up(node)

    def dies(
        self, node: Made, label: str = "crash", what: str = "the machine dies"
    ) -> None:
        """Let a machine go silent."""
        name = node["metadata"]["name"]
        self.did(label, f"{name}: {what}")
        self.alive.discard(name)

    def given_up(self, node: Made) -> list[Made]:
        """Let the node controller give a node up; return its Pods."""
        name = node["metadata"]["name"]
        for condition in node["status"]["conditions"]:
            if condition["type"] not in OF_KUBELET:
                continue  # others report those
            condition |= {
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
                "lastTransitionTime": self.at(),
            }
        by = "kube-controller-manager"
        self.put(NODES, node, by, "status.conditions")
        self.event(
            node,
            "NodeNotReady",
            f"Node {name} status is now: NodeNotReady",
            "node-controller",
        )
        pods = [
            p
            for p in self.there[PODS].values()
            if p["spec"].get("nodeName") == name
            and p["status"]["phase"] == "Running"
        ]
        for pod in pods:
            self._condition(pod, "Ready", "False")
            self.put(PODS, pod, by, "status.conditions")
            self.event(
                pod,
                "NodeNotReady",
                "Node is not ready",
                "node-controller",
                kind="Warning",
            )
        node["spec"]["taints"] = [
            {"key": UNREACHABLE, "effect": effect, "timeAdded": self.at()}
            for effect in ("NoSchedule", "NoExecute")
        ]
        self.put(NODES, node, by, "spec.taints")
        return pods

    def taken(self, pod: Made) -> None:
        """Let the taint manager delete a Pod after five minutes."""
        meta = pod["metadata"]
        self.event(
            pod,
            "TaintManagerEviction",
            f"Marking for deletion Pod {meta['namespace']}/{meta['name']}",
            "taint-eviction-controller",
        )
        self.disrupt(
            pod,
            "DeletionByTaintManager",
            "Taint manager: deleting due to NoExecute taint",
        )
        self.delete(pod)

    def boot(self, node: Made, number: int = 2) -> None:
        """Let a machine boot."""
        name = node["metadata"]["name"]
        self.did("boot", f"{name}: the machine boots")
        self.wait(1)
        self.alive.add(name)
        self._lease(name)
        self.event(node, "Starting", "Starting kubelet.", "kubelet", host=name)
        booted = boot_id(self.name, name, number)
        node["status"]["nodeInfo"]["bootID"] = booted
        self._ready(node)
        self.put(NODES, node, "kubelet", "status.nodeInfo")
        self.event(
            node,
            "Rebooted",
            f"Node {name} has been rebooted, boot id: {booted}",
            "kubelet",
            host=name,
            kind="Warning",
        )
        del node["spec"]["taints"]
        self.put(NODES, node, "kube-controller-manager", "spec.taints")
        self.wait(3)

    def forgets(self, node: str) -> None:
        """Let the Lease of a Node be collected with it."""
        uid = self.uid("Lease", "kube-node-lease", node)
        self.gone(LEASES, self.there[LEASES][uid])

    def _ready(self, node: Made) -> None:
        others = [
            condition
            for condition in node["status"].get("conditions", [])
            if condition["type"] not in OF_KUBELET
        ]
        own = [
            {
                "type": kind,
                "status": "True" if kind == "Ready" else "False",
                "lastHeartbeatTime": self.at(),
                "lastTransitionTime": self.at(),
                "reason": reason,
                "message": "kubelet is posting status",
            }
            for kind, reason in OF_KUBELET.items()
        ]
        node["status"]["conditions"] = own + others

    def _ended(self, pod: Made, code: int, reason: str) -> None:
        for one in pod["status"]["containerStatuses"]:
            one |= {
                "ready": False,
                "state": {
                    "terminated": {
                        "exitCode": code,
                        "reason": reason,
                        "startedAt": pod["status"]["startTime"],
                        "finishedAt": self.at(),
                    }
                },
            }

    def _container(self, pod: Made) -> Made:
        return {
            "name": "main",
            "ready": True,
            "restartCount": 0,
            "lastState": {},
            "image": "registry.example/train:3",
            "imageID": "registry.example/train:3",
            "containerID": f"containerd://{pod['metadata']['uid']}",
            "state": {"running": {"startedAt": self.at()}},
        }

    def _pod_spec(self, gpus: int) -> Made:
        limits = {"nvidia.com/gpu": str(gpus)}
        return {
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example/train:3",
                    "resources": {"limits": limits, "requests": dict(limits)},
                }
            ],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 30,
            "schedulerName": SCHEDULER,
            "tolerations": [
                {
                    "key": f"node.kubernetes.io/{key}",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
                for key in ("not-ready", "unreachable")
            ],
        }

    def _lease(self, node: str) -> None:
        uid = self.uid("Lease", "kube-node-lease", node)
        made = self.there[LEASES].get(uid)
        if made is None:
            made = self._object(
                "coordination.k8s.io/v1", "Lease", "kube-node-lease", node
            )
            owner = self.uid("Node", None, node)
            made["metadata"]["ownerReferences"] = [
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "name": node,
                    "uid": owner,
                }
            ]
        made["spec"] = {
            "holderIdentity": node,
            "leaseDurationSeconds": 40,
            "renewTime": self.at(whole=False),
        }
        self.put(LEASES, made, "kubelet", "spec.renewTime")
