"""What is made in the cluster that the templates come from."""

from collections.abc import Iterator
from typing import Any

__all__ = [
    "HEALTHY",
    "NAMESPACES",
    "REMEDIATION",
    "SECRET",
    "SICK",
    "TAINT",
    "namespace",
    "node_metadata",
    "to_delete",
    "workloads",
]

Body = dict[str, Any]

NAMESPACES = ("ml-train", "ml-serve")
REGISTRY = "registry.example.com/ml"

DIGEST = "sha256:" + "0123456789abcdef" * 4

_CPU_FEATURES = (
    "AMXBF16 AMXTILE AVX2 AVX512F AVX512FP16 AVX512VNNI HYPERVISOR VAES"
)
CPU_FEATURES = _CPU_FEATURES.split()


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


def node_metadata(node: str) -> Iterator[tuple[str, Body]]:
    """Give labels and annotations by who writes them."""
    features = {
        f"feature.node.kubernetes.io/cpu-cpuid.{name}": "true"
        for name in CPU_FEATURES
    }
    features |= {
        "feature.node.kubernetes.io/cpu-model.id": "143",
        "feature.node.kubernetes.io/cpu-model.vendor_id": "Intel",
        "feature.node.kubernetes.io/kernel-version.full": "6.8.0-79-generic",
        "feature.node.kubernetes.io/network-sriov.capable": "true",
        "feature.node.kubernetes.io/pci-15b3.present": "true",
        "feature.node.kubernetes.io/rdma.available": "true",
    }
    names = ",".join(name.split("/")[1] for name in features)
    yield (
        "nfd-master",
        {
            "labels": features,
            "annotations": {
                "nfd.node.kubernetes.io/feature-labels": names,
            },
        },
    )
    yield "gpu-feature-discovery", {"labels": _gpu_labels()}
    yield (
        "gpu-operator",
        {
            "labels": {
                f"nvidia.com/gpu.deploy.{name}": "true"
                for name in (
                    "container-toolkit",
                    "dcgm-exporter",
                    "device-plugin",
                    "driver",
                    "operator-validator",
                )
            }
            | {
                "nvidia.com/gpu-driver-upgrade-state": "upgrade-done",
                "nvidia.com/gpu.present": "true",
            },
            "annotations": {
                "nvidia.com/gpu-driver-upgrade-enabled": "true",
            },
        },
    )
    yield (
        "cilium-agent",
        {
            "annotations": {
                "network.cilium.io/ipv4-cilium-host": "10.244.3.17",
                "network.cilium.io/ipv4-health-ip": "10.244.3.18",
                "network.cilium.io/ipv4-pod-cidr": "10.244.3.0/24",
            }
        },
    )
    yield (
        "kubelet",
        {
            "annotations": {
                "csi.volume.kubernetes.io/nodeid": (
                    f'{{"csi.weka.io":"{node}","nfs.csi.k8s.io":"{node}"}}'
                )
            }
        },
    )
    yield (
        "fleet-provisioner",
        {
            "labels": {
                "site.example.com/node-pool": "pool-a",
                "site.example.com/rack": "rack-01",
                "site.example.com/leaf-switch": "leaf-01",
                "site.example.com/asset": "asset-00001",
                "network.topology.nvidia.com/block": "block-01",
                "network.topology.nvidia.com/spine": "spine-01",
            }
        },
    )


def _gpu_labels() -> Body:
    return {
        "nvidia.com/cuda.driver-version.full": "570.172.08",
        "nvidia.com/cuda.runtime-version.full": "12.8",
        "nvidia.com/gfd.timestamp": "1763690000",
        "nvidia.com/gpu.clique": DIGEST[7:43] + ".32766",
        "nvidia.com/gpu.compute.major": "9",
        "nvidia.com/gpu.count": "8",
        "nvidia.com/gpu.family": "hopper",
        "nvidia.com/gpu.machine": "PowerEdge-XE9680",
        "nvidia.com/gpu.memory": "81559",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "nvidia.com/mig.capable": "true",
        "nvidia.com/mig.config": "all-disabled",
        "nvidia.com/mig.config.state": "success",
        "nvidia.com/mig.strategy": "single",
    }


def _condition(kind: str, status: str, reason: str, message: str) -> Body:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": "2026-11-21T03:18:00Z",
        "lastTransitionTime": "2026-11-21T03:18:00Z",
    }


_NPD = "node-problem-detector"
_GPU = "gpu-health-monitor"
HEALTHY: tuple[tuple[str, Body], ...] = (
    (
        "cilium-operator",
        _condition(
            "NetworkUnavailable", "False", "CiliumIsUp",
            "Cilium is running on this node",
        ),
    ),
    (
        _NPD,
        _condition(
            "ReadonlyFilesystem", "False", "FilesystemIsNotReadOnly",
            "Filesystem is not read-only",
        ),
    ),
    (
        _NPD,
        _condition(
            "KernelDeadlock", "False", "KernelHasNoDeadlock",
            "kernel has no deadlock",
        ),
    ),
    (
        _NPD,
        _condition(
            "FrequentContainerdRestart", "False",
            "NoFrequentContainerdRestart",
            "containerd is functioning properly",
        ),
    ),
    (
        _NPD,
        _condition(
            "FrequentKubeletRestart", "False", "NoFrequentKubeletRestart",
            "kubelet is functioning properly",
        ),
    ),
    (
        _GPU,
        _condition(
            "GpuXidError", "False", "NoXidErrors", "no XID errors were seen",
        ),
    ),
    (
        _GPU,
        _condition(
            "GpuNvlinkWatch", "False", "NvlinkIsHealthy",
            "all NVLinks of all GPUs are up",
        ),
    ),
    (
        _GPU,
        _condition(
            "GpuMemWatch", "False", "MemoryIsHealthy",
            "no uncorrectable ECC errors, no rows to be remapped",
        ),
    ),
    (
        "ib-link-monitor",
        _condition(
            "InfinibandLinkFlapping", "False", "LinksAreStable",
            "8 of 8 ports active at 400 Gb/s",
        ),
    ),
)  # fmt: skip
SICK: tuple[tuple[str, Body], ...] = (
    (
        _GPU,
        _condition(
            "GpuXidError", "True", "XidError",
            "GPU 5 (GPU-8f1c2d3e-4b5a-6978-8796-a5b4c3d2e1f0) at"
            " 0000:9b:00.0: Xid 79, GPU has fallen off the bus",
        ),
    ),
    (
        _GPU,
        _condition(
            "GpuNvlinkWatch", "True", "NvlinkDown",
            "GPU 5: link 11 is down, 4223 replay errors in 60 s",
        ),
    ),
    (
        "ib-link-monitor",
        _condition(
            "InfinibandLinkFlapping", "True", "LinkFlapped",
            "mlx5_5 port 1 went down 3 times in 120 s",
        ),
    ),
    (
        _NPD,
        _condition(
            "KernelDeadlock", "True", "DockerHung",
            "task nvidia-smi:48121 blocked for more than 120 seconds.",
        ),
    ),
)  # fmt: skip
TAINT = {
    "key": "site.example.com/gpu-unhealthy",
    "value": "xid-79",
    "effect": "PreferNoSchedule",
}
REMEDIATION = {
    "labels": {"site.example.com/remediation": "requested"},
    "annotations": {
        "site.example.com/remediation-reason": "GpuXidError: Xid 79",
        "site.example.com/remediation-ticket": "HW-48121",
    },
}


def _environment() -> list[Body]:
    plain = {
        "HF_HOME": "/cache/huggingface",
        "NCCL_DEBUG": "WARN",
        "NCCL_IB_HCA": "mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5",
        "OMP_NUM_THREADS": "16",
        "WANDB_PROJECT": "pretrain",
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


RICH = frozenset({"pretrain", "chat"})
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
    """Give what is made, with the path to post it to."""
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
    """Give the paths of what is deleted at the end."""
    jobs = "/apis/batch/v1/namespaces/ml-train/jobs"
    for name in ("pretrain", "finetune", "pretrain-long", "evaluate"):
        yield f"{jobs}/{name}"
    yield "/apis/apps/v1/namespaces/ml-serve/deployments/chat"
