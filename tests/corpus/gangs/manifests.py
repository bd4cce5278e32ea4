"""A gang of two Pods in each kind, as its users write it.

Both members have a GPU and run on different nodes. Every Pod carries the
label `GANG`, also a launcher, a head and a submitter, which have no GPU.
Objects are written as the defaults of a webhook would leave them.
"""

from collections.abc import Mapping
from typing import Any, Final

__all__ = [
    "APIS",
    "GANG",
    "MEMBERS",
    "RUNTIMES",
    "SUSPENDED",
    "gang",
    "runtime_of",
]

GANG: Final = "example.com/gang"

MEMBER: Final = "example.com/member"

MEMBERS: Final = 2

APIS: Final[Mapping[str, tuple[str, str]]] = {
    "Job": ("batch/v1", "jobs"),
    "JobSet": ("jobset.x-k8s.io/v1alpha2", "jobsets"),
    "TrainJob": ("trainer.kubeflow.org/v1alpha1", "trainjobs"),
    "PyTorchJob": ("kubeflow.org/v1", "pytorchjobs"),
    "MPIJob": ("kubeflow.org/v2beta1", "mpijobs"),
    "RayJob": ("ray.io/v1", "rayjobs"),
    "LeaderWorkerSet": ("leaderworkerset.x-k8s.io/v1", "leaderworkersets"),
}
"""The API of each kind, and its plural."""

RUNTIMES: Final = (
    "/apis/trainer.kubeflow.org/v1alpha1/namespaces/train/trainingruntimes"
)

SUSPENDED: Final[Mapping[str, tuple[str, ...]]] = {
    "Job": ("spec", "suspend"),
    "JobSet": ("spec", "suspend"),
    "TrainJob": ("spec", "suspend"),
    "PyTorchJob": ("spec", "runPolicy", "suspend"),
    "MPIJob": ("spec", "runPolicy", "suspend"),
    "RayJob": ("spec", "suspend"),
}
"""The field by which a person suspends each kind that can be suspended."""

FOREVER: Final = ("torchrun", "train.py")


def _template(
    name: str,
    *,
    container: str = "main",
    member: bool = True,
    command: tuple[str, ...] = FOREVER,
    restart: str = "Never",
    priority: str | None = None,
) -> dict[str, Any]:
    labels = {GANG: name}
    main: dict[str, Any] = {
        "name": container,
        "image": "registry.example/llm/trainer:2.4",
        "command": list(command),
    }
    spec: dict[str, Any] = {
        "restartPolicy": restart,
        "terminationGracePeriodSeconds": 2,
        "containers": [main],
    }
    if priority is not None:
        spec["priorityClassName"] = priority
    if member:
        labels[MEMBER] = name
        main["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
        apart = {
            "labelSelector": {"matchLabels": {MEMBER: name}},
            "topologyKey": "kubernetes.io/hostname",
        }
        spec["affinity"] = {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [apart]
            }
        }
    return {"metadata": {"labels": labels}, "spec": spec}


def gang(
    kind: str,
    name: str,
    *,
    queue: str | None = None,
    suspended: bool = False,
    seconds: int | None = None,
) -> dict[str, Any]:
    """Return the object of a gang.

    Args:
        kind: one of `APIS`.
        name: of the object.
        queue: the LocalQueue that admits it, if any.
        suspended: whether it is created suspended.
        seconds: after which it ends with success; by default never.
    """
    command = FOREVER if seconds is None else ("sh", "-c", f"sleep {seconds}")
    body: dict[str, Any] = {
        "apiVersion": APIS[kind][0],
        "kind": kind,
        "metadata": {"name": name, "namespace": "train"},
        "spec": SPECS[kind](name, command, "low" if queue else None),
    }
    if queue is not None:
        body["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": queue}
    if suspended:
        *path, last = SUSPENDED[kind]
        inner = body
        for key in path:
            inner = inner.setdefault(key, {})
        inner[last] = True
    return body


def _job(
    name: str, command: tuple[str, ...], priority: str | None
) -> dict[str, Any]:
    return {
        "completionMode": "Indexed",
        "completions": MEMBERS,
        "parallelism": MEMBERS,
        "backoffLimit": 100,
        "template": _template(name, command=command, priority=priority),
    }


def _jobset(
    name: str, command: tuple[str, ...], priority: str | None
) -> dict[str, Any]:
    job = _job(name, command, priority) | {"backoffLimit": 0}
    worker = {"name": "worker", "replicas": 1, "template": {"spec": job}}
    return {
        "network": {"enableDNSHostnames": False},
        "successPolicy": {"operator": "All"},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "failurePolicy": {"maxRestarts": 9},
        "replicatedJobs": [worker],
    }


def _trainjob(
    name: str, command: tuple[str, ...], priority: str | None
) -> dict[str, Any]:
    del command, priority  # of its runtime
    reference = {
        "apiGroup": "trainer.kubeflow.org",
        "kind": "TrainingRuntime",
        "name": name,
    }
    trainer = {
        "numNodes": MEMBERS,
        "resourcesPerNode": {"limits": {"nvidia.com/gpu": "1"}},
    }
    return {"runtimeRef": reference, "trainer": trainer}


def runtime_of(
    name: str, *, queued: bool = False, seconds: int | None = None
) -> dict[str, Any]:
    """Return the TrainingRuntime of the TrainJob of the same name."""
    command = FOREVER if seconds is None else ("sh", "-c", f"sleep {seconds}")
    pod = _template(
        name,
        container="node",
        command=command,
        priority="low" if queued else None,
    )
    step = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    job = {
        "metadata": {"labels": step},
        "spec": {
            "backoffLimit": 0,
            "completionMode": "Indexed",
            "template": pod,
        },
    }
    worker = {"name": "node", "replicas": 1, "template": job}
    jobset = {
        "network": {
            "enableDNSHostnames": False,
            "publishNotReadyAddresses": True,
        },
        "successPolicy": {"operator": "All"},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "failurePolicy": {"maxRestarts": 9},
        "replicatedJobs": [worker],
    }
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": {
            "name": name,
            "namespace": "train",
        },
        "spec": {
            # Without a framework: its variables would be written by Kueue
            # and by the trainer, whose versions give them other values.
            "mlPolicy": {"numNodes": MEMBERS},
            "template": {"spec": jobset},
        },
    }


def _pytorchjob(
    name: str, command: tuple[str, ...], priority: str | None
) -> dict[str, Any]:
    replica = {
        "replicas": 1,
        "restartPolicy": "OnFailure",
        "template": _template(
            name,
            container="pytorch",
            command=command,
            restart="OnFailure",
            priority=priority,
        ),
    }
    return {
        "runPolicy": {"suspend": False},
        "pytorchReplicaSpecs": {"Master": replica, "Worker": replica},
    }


def _mpijob(
    name: str, command: tuple[str, ...], priority: str | None
) -> dict[str, Any]:
    launcher = _template(
        name,
        member=False,
        command=FOREVER if command is FOREVER else command,
        priority=priority,
    )
    worker = _template(name, priority=priority)
    return {
        "slotsPerWorker": 1,
        "runPolicy": {"suspend": False, "cleanPodPolicy": "Running"},
        "mpiReplicaSpecs": {
            "Launcher": {
                "replicas": 1,
                "restartPolicy": "OnFailure",
                "template": launcher,
            },
            "Worker": {
                "replicas": MEMBERS,
                "restartPolicy": "Never",
                "template": worker,
            },
        },
    }


def _rayjob(
    name: str, command: tuple[str, ...], priority: str | None
) -> dict[str, Any]:
    head = _template(
        name,
        container="ray-head",
        member=False,
        restart="Always",
        priority=priority,
    )
    worker = _template(
        name, container="ray-worker", restart="Always", priority=priority
    )
    for template in (head, worker):
        del template["spec"]["containers"][0]["command"]  # Ray's own
    submitter = _template(
        name,
        container="ray-job-submitter",
        member=False,
        command=command,
        priority=priority,
    )
    group = {
        "groupName": "gpu",
        "replicas": MEMBERS,
        "minReplicas": MEMBERS,
        "maxReplicas": MEMBERS,
        "rayStartParams": {},
        "template": worker,
    }
    return {
        "entrypoint": "python train.py",
        "shutdownAfterJobFinishes": True,
        "submitterPodTemplate": submitter,
        "rayClusterSpec": {
            "rayVersion": "2.46.0",
            "headGroupSpec": {"rayStartParams": {}, "template": head},
            "workerGroupSpecs": [group],
        },
    }


def _leaderworkerset(
    name: str, command: tuple[str, ...], priority: str | None
) -> dict[str, Any]:
    template = _template(
        name, command=command, restart="Always", priority=priority
    )
    return {
        "replicas": 1,
        "startupPolicy": "LeaderCreated",
        "leaderWorkerTemplate": {
            "size": MEMBERS,
            "restartPolicy": "RecreateGroupOnPodRestart",
            "leaderTemplate": template,
            "workerTemplate": template,
        },
    }


SPECS: Final = {
    "Job": _job,
    "JobSet": _jobset,
    "TrainJob": _trainjob,
    "PyTorchJob": _pytorchjob,
    "MPIJob": _mpijob,
    "RayJob": _rayjob,
    "LeaderWorkerSet": _leaderworkerset,
}
