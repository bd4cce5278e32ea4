"""Writes objects as Kubernetes does: ``python -m tests.corpus.blind7.make``.

What is watched is written by hand here, because a real cluster would take
five minutes for each Pod that tolerates a node as long as it does by default.
"""

import copy
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.corpus.identities import boot_id, machine_identity

__all__ = ["Written"]

Made = dict[str, Any]

BEGAN = datetime(2026, 11, 20, 8, tzinfo=UTC)
KINDS = {
    "v1/events": "Event",
    "apiextensions.k8s.io/v1/customresourcedefinitions": (
        "CustomResourceDefinition"
    ),
    "coordination.k8s.io/v1/leases": "Lease",
    "v1/nodes": "Node",
    "batch/v1/cronjobs": "CronJob",
    "apps/v1/deployments": "Deployment",
    "v1/pods": "Pod",
    "batch/v1/jobs": "Job",
    "apps/v1/replicasets": "ReplicaSet",
    "apps/v1/statefulsets": "StatefulSet",
    "apps/v1/daemonsets": "DaemonSet",
    "policy/v1/poddisruptionbudgets": "PodDisruptionBudget",
    "v1/namespaces": "Namespace",
}
NODES, PODS, JOBS = "v1/nodes", "v1/pods", "batch/v1/jobs"
PRESSURES = {
    "MemoryPressure": "KubeletHasSufficientMemory",
    "DiskPressure": "KubeletHasNoDiskPressure",
    "PIDPressure": "KubeletHasSufficientPID",
}
UNREACHABLE = "node.kubernetes.io/unreachable"


class Written:
    """A cluster as it is watched, and what was done when."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.now = 0.0
        self.frames: list[Made] = []
        self.acts: list[dict[str, str]] = []
        self.there: dict[str, dict[str, Made]] = {k: {} for k in KINDS}
        self.alive: set[str] = set()
        self.recording = False
        self._count = 1000

    def uid(self, *words: object) -> str:
        """Return a UID that is always the same."""
        text = "/".join(map(str, (self.name, *words)))
        return str(uuid.uuid5(uuid.NAMESPACE_URL, text))

    def at(self, *, whole: bool = True) -> str:
        """Return the time now."""
        time = BEGAN + timedelta(seconds=self.now)
        form = "%Y-%m-%dT%H:%M:%SZ" if whole else "%Y-%m-%dT%H:%M:%S.%fZ"
        return time.strftime(form)

    def did(self, label: str, what: str) -> None:
        """Keep what was done."""
        self.acts.append(
            {"at": self.at(whole=False), "label": label, "what": what}
        )

    def wait(self, seconds: float) -> None:
        """Let time pass, in which kubelets renew their leases."""
        until = self.now + seconds
        while self.now < until:
            step = min(10 - self.now % 10, until - self.now)
            self.now += step
            if self.now % 10 == 0:
                for node in sorted(self.alive):
                    self._lease(node)
        self.now += 0.013

    def put(self, resource: str, made: Made, manager: str, *f: str) -> None:
        """Write an object, whose fields a manager owns from now on."""
        meta = made["metadata"]
        self._count += 1
        meta["resourceVersion"] = str(self._count)
        sub = "status" if f and f[0].startswith("status") else None
        if f:
            self._own(made, manager, sub, f)
        key = meta["uid"]
        what = "MODIFIED" if key in self.there[resource] else "ADDED"
        self.there[resource][key] = made
        self._watch(resource, what, made)

    def gone(self, resource: str, made: Made) -> None:
        """Delete an object."""
        self._count += 1
        made["metadata"]["resourceVersion"] = str(self._count)
        del self.there[resource][made["metadata"]["uid"]]
        self._watch(resource, "DELETED", made)

    def start(self) -> None:
        """List everything."""
        self.recording = True
        for resource, kind in KINDS.items():
            items = copy.deepcopy(list(self.there[resource].values()))
            for item in items:
                item.pop("kind"), item.pop("apiVersion")
            self.frames.append(
                {
                    "at": self.at(whole=False),
                    "source": "watch",
                    "frame": "list",
                    "resource": resource,
                    "resource_version": str(self._count),
                    "more": False,
                    "kind": kind,
                    "items": items,
                }
            )
            self.now += 0.01
        self.did("start", "everything is listed")
        self.wait(5)

    def end(self) -> None:
        """End the recording."""
        self.wait(15)
        self.did("end", "the recording ends")
        self.wait(15)

    def event(
        self,
        of: Made,
        reason: str,
        message: str,
        by: str,
        *,
        host: str = "",
        kind: str = "Normal",
    ) -> None:
        """Write an Event of an object."""
        meta = of["metadata"]
        space = meta.get("namespace", "default")
        name = f"{meta['name']}.18ec{self._count:012x}"
        source = {"component": by} | ({"host": host} if host else {})
        refers = {
            "kind": of["kind"],
            "name": meta["name"],
            "uid": meta["name"] if of["kind"] == "Node" else meta["uid"],
            "apiVersion": of["apiVersion"],
        }
        if "namespace" in meta:
            refers["namespace"] = space
        made = self._object("v1", "Event", space, name) | {
            "involvedObject": refers,
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": self.at(),
            "lastTimestamp": self.at(),
            "count": 1,
            "type": kind,
            "eventTime": None,
            "reportingComponent": by,
            "reportingInstance": host,
        }
        self.put("v1/events", made, by)

    def audit(
        self,
        user: str,
        verb: str,
        path: str,
        ref: Made,
        body: Made | None = None,
        agent: str = "kubectl/v1.36.3",
    ) -> None:
        """Write an audit record."""
        said: Made = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Request" if body else "Metadata",
            "auditID": self.uid("audit", self._count, path),
            "stage": "ResponseComplete",
            "requestURI": path,
            "verb": verb,
            "user": {"username": user, "groups": ["system:authenticated"]},
            "sourceIPs": ["192.0.2.77"],
            "userAgent": f"{agent} (linux/amd64) kubernetes/$Format",
            "objectRef": {"apiVersion": "v1", **ref},
            "responseStatus": {"metadata": {}, "code": 200},
            "requestReceivedTimestamp": self.at(whole=False),
            "stageTimestamp": self.at(whole=False),
        }
        if body:
            said["requestObject"] = body
        self.frames.append(
            {
                "at": self.at(whole=False),
                "source": "audit",
                "frame": "audit",
                "event": said,
            }
        )

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
        """Create a Pod, which is scheduled and, unless refused, runs."""
        title = owner["metadata"]["name"] if owner else name
        self._count += 1
        full = f"{title}-{index}-{self._count:05x}" if owner else name
        pod = self._object("v1", "Pod", "train", full)
        if owner:
            label = "batch.kubernetes.io/"
            pod["metadata"] |= {
                "labels": {
                    f"{label}job-name": title,
                    f"{label}job-completion-index": str(index),
                },
                "annotations": {f"{label}job-completion-index": str(index)},
                "finalizers": [f"{label}job-tracking"],
                "ownerReferences": [
                    {
                        "apiVersion": "batch/v1",
                        "kind": "Job",
                        "name": title,
                        "uid": owner["metadata"]["uid"],
                        "controller": True,
                        "blockOwnerDeletion": True,
                    }
                ],
            }
        pod["spec"] = self._pod_spec(gpus)
        pod["status"] = {"phase": "Pending", "qosClass": "BestEffort"}
        by = "kube-controller-manager" if owner else "kubectl-run"
        self.put(PODS, pod, by, "spec.containers")
        if owner:
            self.event(
                owner,
                "SuccessfulCreate",
                f"Created pod: {full}",
                "job-controller",
            )
        pod["spec"]["nodeName"] = node
        self._condition(pod, "PodScheduled", "True")
        self.put(PODS, pod, "kube-scheduler")
        self.event(
            pod,
            "Scheduled",
            f"Successfully assigned train/{full} to {node}",
            "default-scheduler",
        )
        if not runs:
            return pod
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
        return pod

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
        name = node["metadata"]["name"]
        self.did("crash", f"{name}: the machine dies")
        self.alive.discard(name)
        self.wait(52)
        for condition in node["status"]["conditions"]:
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
        self.event(
            pod,
            "TaintManagerEviction",
            f"Marking for deletion Pod train/{pod['metadata']['name']}",
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

    def _ready(self, node: Made) -> None:
        node["status"]["conditions"] = [
            {
                "type": kind,
                "status": "True" if kind == "Ready" else "False",
                "lastHeartbeatTime": self.at(),
                "lastTransitionTime": self.at(),
                "reason": reason,
                "message": "kubelet is posting status",
            }
            for kind, reason in (PRESSURES | {"Ready": "KubeletReady"}).items()
        ]

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

    def _condition(
        self,
        of: Made,
        kind: str,
        status: str,
        reason: str = "",
        message: str = "",
    ) -> None:
        kept = [
            c for c in of["status"].get("conditions", []) if c["type"] != kind
        ]
        new = {
            "type": kind,
            "status": status,
            "lastProbeTime": None,
            "lastTransitionTime": self.at(),
        }
        new |= {"reason": reason} if reason else {}
        new |= {"message": message} if message else {}
        of["status"]["conditions"] = [*kept, new]

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
            "schedulerName": "default-scheduler",
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
        made = self._object(
            "coordination.k8s.io/v1", "Lease", "kube-node-lease", node
        )
        made["spec"] = {
            "holderIdentity": node,
            "leaseDurationSeconds": 40,
            "renewTime": self.at(whole=False),
        }
        self.put("coordination.k8s.io/v1/leases", made, "kubelet")

    def _object(
        self, version: str, kind: str, space: str | None, name: str
    ) -> Made:
        uid = self.uid(kind, space, name)
        meta = {"name": name, "uid": uid, "creationTimestamp": self.at()}
        meta |= {"namespace": space} if space else {}
        return {"kind": kind, "apiVersion": version, "metadata": meta}

    def _own(
        self,
        made: Made,
        manager: str,
        sub: str | None,
        fields: tuple[str, ...],
    ) -> None:
        owned: Made = {}
        for path in fields:
            inner = owned
            for part in path.split("."):
                inner = inner.setdefault(f"f:{part}", {})
        entry = {
            "manager": manager,
            "operation": "Update",
            "apiVersion": made["apiVersion"],
            "time": self.at(),
            "fieldsType": "FieldsV1",
            "fieldsV1": owned,
        }
        entry |= {"subresource": sub} if sub else {}
        kept = [
            e
            for e in made["metadata"].get("managedFields", [])
            if e["fieldsV1"] != owned
        ]
        made["metadata"]["managedFields"] = [*kept, entry]

    def _watch(self, resource: str, what: str, made: Made) -> None:
        if not self.recording:
            return
        self.now += 0.007
        self.frames.append(
            {
                "at": self.at(whole=False),
                "source": "watch",
                "frame": "watch",
                "resource": resource,
                "event": {"type": what, "object": copy.deepcopy(made)},
            }
        )
