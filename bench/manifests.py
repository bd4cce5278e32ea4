"""The objects in the cluster that the templates come from."""

from collections.abc import Iterator
from typing import Any

__all__ = [
    "NAMESPACES",
    "SECRET",
    "namespace",
    "pod",
    "to_delete",
    "workloads",
]

Body = dict[str, Any]

NAMESPACES = ("ml-train", "ml-serve")
REGISTRY = "registry.example.com/ml"

SECRET = {
    "metadata": {"name": "wandb"},
    "stringData": {"api-key": "not-a-key-of-anybody"},
}


def namespace(name: str) -> Body:
    return {
        "metadata": {
            "name": name,
            "labels": {
                "pod-security.kubernetes.io/enforce": "privileged",
                "site.example.com/tenant": "tenant-a",
            },
            "annotations": {"site.example.com/owner": "ml@example.com"},
        }
    }


def _environment() -> list[Body]:
    plain = {
        "NCCL_DEBUG": "WARN",
    }
    return [
        *({"name": name, "value": value} for name, value in plain.items()),
        {
            "name": "WANDB_API_KEY",
            "valueFrom": {"secretKeyRef": {"name": "wandb", "key": "api-key"}},
        },
        {"name": "S3_SECRET_KEY", "value": "not-a-secret-of-anybody"},
    ]


def _spec(name: str, command: str, *, gpus: int, lifetime: str) -> Body:
    limits = {"cpu": "16", "memory": "128Gi"}
    if gpus:
        limits |= {"nvidia.com/gpu": str(gpus), "memory": "512Gi"}
    spec: Body = {
        "restartPolicy": lifetime,
        "terminationGracePeriodSeconds": 5,
        "containers": [
            {
                "name": name,
                "image": f"{REGISTRY}/{name}:2.4.1",
                "command": ["/bin/sh", "-c", command],
                "env": _environment(),
                "resources": {"limits": limits},
                "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
            }
        ],
        "tolerations": [
            {
                "key": "nvidia.com/gpu",
                "operator": "Exists",
                "effect": "NoSchedule",
            }
        ],
        "volumes": [
            {
                "name": "shm",
                "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"},
            },
        ],
    }
    if name in RICH:
        _enrich(spec)
    return spec


RICH = frozenset({"chat"})
"""Whose pods have all that pods of a platform have."""


def _enrich(spec: Body) -> None:
    container = spec["containers"][0]
    spec["initContainers"] = [
        {
            "name": "fetch",
            "image": f"{REGISTRY}/fetch:1.9.2",
            "command": ["/bin/sh", "-c", "sleep 2"],
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        }
    ]
    container["args"] = ["--config=/etc/run/config.yaml", "--resume=auto"]
    container["ports"] = [{"name": "metrics", "containerPort": 9400}]
    container["securityContext"] = {
        "capabilities": {"add": ["IPC_LOCK"]},
        "runAsUser": 1000,
    }
    container["volumeMounts"] += [
        {"name": "data", "mountPath": "/data"},
        {"name": "config", "mountPath": "/etc/run", "readOnly": True},
    ]
    container["env"] += [
        {
            "name": "NODE_NAME",
            "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}},
        },
        {"name": "MASTER_PORT", "value": "29500"},
    ]
    spec["volumes"] += [
        {"name": "data", "emptyDir": {}},
        {
            "name": "config",
            "configMap": {"name": "run-config", "optional": True},
        },
    ]
    product = {
        "key": "nvidia.com/gpu.product",
        "operator": "In",
        "values": ["NVIDIA-H100-80GB-HBM3"],
    }
    spec["affinity"] = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 10, "preference": {"matchExpressions": [product]}}
            ]
        }
    }


def _metadata(name: str, team: str) -> Body:
    return {
        "labels": {
            "app.kubernetes.io/name": name,
            "app.kubernetes.io/part-of": "platform",
            "app.kubernetes.io/version": "2.4.1",
            "site.example.com/team": team,
            "site.example.com/cost-center": "cc-1042",
        },
        "annotations": {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": "9400",
            "site.example.com/run": "run-7f3a",
        },
    }


def pod(name: str) -> Body:
    """Return a pod that is not scheduled."""
    spec = _spec("evaluate", "sleep 100000", gpus=1, lifetime="Never")
    return {"metadata": {"name": name, **_metadata(name, "ops")}, "spec": spec}


def _job(name: str, command: str, *, count: int, gpus: int = 8) -> Body:
    return {
        "metadata": {"name": name, **_metadata(name, "research")},
        "spec": {
            "completionMode": "Indexed",
            "completions": count,
            "parallelism": count,
            "backoffLimit": 2,
            "ttlSecondsAfterFinished": 3600,
            "template": {
                "metadata": _metadata(name, "research"),
                "spec": _spec(name, command, gpus=gpus, lifetime="Never"),
            },
        },
    }


def _served(name: str, command: str, *, count: int, gpus: int) -> Body:
    selector = {"app.kubernetes.io/name": name}
    template = {
        "metadata": _metadata(name, "serving"),
        "spec": _spec(name, command, gpus=gpus, lifetime="Always"),
    }
    return {
        "metadata": {"name": name, **_metadata(name, "serving")},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": selector},
            "template": template,
        },
    }


def _daemon(name: str) -> Body:
    body = _served(name, "sleep 100000", count=1, gpus=0)
    del body["spec"]["replicas"]
    return body


def workloads() -> Iterator[tuple[str, Body]]:
    """Yield what is made, with the path to post it to."""
    jobs = "/apis/batch/v1/namespaces/ml-train/jobs"
    yield jobs, _job("pretrain", "sleep 8", count=2)
    yield jobs, _job("finetune", "sleep 4; exit 1", count=1)
    yield jobs, _job("pretrain-long", "sleep 5000", count=2)
    yield jobs, _job("waits", "sleep 8", count=1, gpus=16)
    yield jobs, _job("evaluate", "sleep 6", count=3, gpus=1)
    apps = "/apis/apps/v1/namespaces/ml-serve"
    yield (
        f"{apps}/deployments",
        _served("chat", "sleep 100000", count=3, gpus=1),
    )
    yield (
        f"{apps}/deployments",
        _served("crashes", "sleep 2; exit 1", count=1, gpus=0),
    )
    yield f"{apps}/daemonsets", _daemon("exporter")
    yield (
        "/apis/batch/v1/namespaces/ml-train/cronjobs",
        {
            "metadata": {"name": "nightly", **_metadata("nightly", "ops")},
            "spec": {
                "schedule": "*/1 * * * *",
                "jobTemplate": {
                    "spec": _job("nightly", "sleep 5", count=1, gpus=0)["spec"]
                },
            },
        },
    )
    yield (
        "/apis/policy/v1/namespaces/ml-serve/poddisruptionbudgets",
        {
            "metadata": {"name": "chat"},
            "spec": {
                "minAvailable": 1,
                "selector": {
                    "matchLabels": {"app.kubernetes.io/name": "chat"}
                },
            },
        },
    )


def to_delete() -> Iterator[str]:
    """Yield the paths of what is deleted at the end."""
    jobs = "/apis/batch/v1/namespaces/ml-train/jobs"
    for name in ("pretrain", "finetune", "pretrain-long", "evaluate"):
        yield f"{jobs}/{name}"
    yield "/apis/apps/v1/namespaces/ml-serve/deployments/chat"
