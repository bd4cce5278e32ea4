"""Documents as a real API server sends them, sizes included.

They were modelled on a GPU fleet: managedFields of every writer, images,
labels of feature discovery, environments with secrets. Each call gives a
fresh dictionary, so that a test may change what it likes; `compact` gives
the bytes that the API server would send.
"""

from typing import Any

import orjson

__all__ = [
    "compact",
    "event",
    "events_v1_event",
    "job",
    "lease",
    "node",
    "pod",
    "secret",
]

Document = dict[str, Any]


def compact(document: Any) -> bytes:
    """Encode as the API server does: no whitespace, given order."""
    return orjson.dumps(document)


def field_paths(*paths: str) -> Document:
    """FieldsV1 of paths separated by blanks, ``f:`` left out."""
    root: Document = {}
    for path in paths:
        place = root
        for part in path.split():
            name = part if part[0] in "k.v" and ":" in part else f"f:{part}"
            place = place.setdefault(name, {})
    return root


def managed(
    manager: str, *paths: str, time: str, subresource: str | None = None
) -> Document:
    """One entry of managedFields."""
    entry: Document = {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": field_paths(*paths),
    }
    if subresource:
        entry["subresource"] = subresource
    return entry


def event() -> Document:
    """A kubelet's Event about a Pod, by the older of the two recorders."""
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {
            "name": "llm-worker-0-7xk2p.185f0a3b8c1d2e4f",
            "namespace": "train",
            "uid": "0b8e3c52-3e63-4c11-9d35-8e6a1f8f2a01",
            "resourceVersion": "918273",
            "creationTimestamp": "2026-03-01T03:12:07Z",
            "managedFields": [
                managed(
                    "kubelet",
                    "count",
                    "firstTimestamp",
                    "involvedObject",
                    "lastTimestamp",
                    "message",
                    "reason",
                    "reportingComponent",
                    "reportingInstance",
                    "source component",
                    "source host",
                    "type",
                    time="2026-03-01T03:14:09Z",
                )
            ],
        },
        "involvedObject": {
            "kind": "Pod",
            "namespace": "train",
            "name": "llm-worker-0-7xk2p",
            "uid": "b1f7c3f0-57a4-4c8b-8f3e-0d1b5a2a9a11",
            "apiVersion": "v1",
            "resourceVersion": "918001",
            "fieldPath": "spec.containers{trainer}",
        },
        "reason": "BackOff",
        "message": (
            "Back-off restarting failed container trainer in pod"
            " llm-worker-0-7xk2p_train(b1f7c3f0-57a4-4c8b-8f3e-0d1b5a2a9a11)"
        ),
        "source": {"component": "kubelet", "host": "gpu-002"},
        "firstTimestamp": "2026-03-01T03:12:07Z",
        "lastTimestamp": "2026-03-01T03:14:09Z",
        "count": 7,
        "type": "Warning",
        "eventTime": None,
        "reportingComponent": "kubelet",
        "reportingInstance": "gpu-002",
    }


def events_v1_event() -> Document:
    """A scheduler's Event, as events.k8s.io/v1 shows it."""
    return {
        "kind": "Event",
        "apiVersion": "events.k8s.io/v1",
        "metadata": {
            "name": "llm-worker-0-7xk2p.185f0a3b8c1d2e50",
            "namespace": "train",
            "uid": "0b8e3c52-3e63-4c11-9d35-8e6a1f8f2a02",
            "resourceVersion": "918274",
            "creationTimestamp": "2026-03-01T03:12:05Z",
        },
        "eventTime": "2026-03-01T03:12:05.123456Z",
        "series": {
            "count": 3,
            "lastObservedTime": "2026-03-01T03:13:05.654321Z",
        },
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-cp-0",
        "action": "Scheduling",
        "reason": "FailedScheduling",
        "regarding": {
            "kind": "Pod",
            "namespace": "train",
            "name": "llm-worker-0-7xk2p",
            "uid": "b1f7c3f0-57a4-4c8b-8f3e-0d1b5a2a9a11",
            "apiVersion": "v1",
        },
        "note": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
        "type": "Warning",
        "deprecatedSource": {},
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
    }


def environment() -> list[Document]:
    """What a training container has, secrets given as plain text."""
    return [
        {"name": "MASTER_ADDR", "value": "llm-worker-0-0.llm"},
        {"name": "MASTER_PORT", "value": "29500"},
        {"name": "WORLD_SIZE", "value": "32"},
        {"name": "NCCL_DEBUG", "value": "INFO"},
        {"name": "NCCL_IB_HCA", "value": "mlx5_0,mlx5_1,mlx5_2,mlx5_3"},
        {"name": "TOKENIZERS_PARALLELISM", "value": "false"},
        {"name": "WANDB_API_KEY", "value": "4f1c0f5e9d3b2a7788aa00b1c2d3e4f5"},
        {"name": "HF_TOKEN", "value": "hf_QxTzVbNmKlPoIuYtReWqAsDfGh"},
        {
            "name": "POD_IP",
            "valueFrom": {
                "fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}
            },
        },
        {
            "name": "S3_SECRET_KEY",
            "valueFrom": {
                "secretKeyRef": {"name": "s3-credentials", "key": "secret"}
            },
        },
    ]


def pod() -> Document:
    """A Pod of a training Job, running on a GPU node."""
    tolerations = [
        {
            "key": f"node.kubernetes.io/{what}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        }
        for what in ("not-ready", "unreachable")
    ]
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": "llm-worker-0-7xk2p",
            "generateName": "llm-worker-0-",
            "namespace": "train",
            "uid": "b1f7c3f0-57a4-4c8b-8f3e-0d1b5a2a9a11",
            "resourceVersion": "918001",
            "creationTimestamp": "2026-03-01T03:10:00Z",
            "labels": {
                "batch.kubernetes.io/controller-uid": (
                    "6d2f8f0a-8a4c-4a0f-9b80-1f0b6f9f1c22"
                ),
                "batch.kubernetes.io/job-name": "llm-worker-0",
                "batch.kubernetes.io/job-completion-index": "0",
                "jobset.sigs.k8s.io/jobset-name": "llm",
                "jobset.sigs.k8s.io/replicatedjob-name": "worker",
                "kueue.x-k8s.io/queue-name": "research",
            },
            "annotations": {
                "batch.kubernetes.io/job-completion-index": "0",
                "jobset.sigs.k8s.io/restart-attempt": "0",
                "k8s.v1.cni.cncf.io/network-status": compact(
                    [
                        {
                            "name": f"train/rdma-{i}",
                            "interface": f"net{i}",
                            "ips": [f"10.8.{i}.17"],
                            "mac": f"0c:42:a1:5e:0{i}:17",
                        }
                        for i in range(1, 5)
                    ]
                ).decode(),
            },
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": "llm-worker-0",
                    "uid": "6d2f8f0a-8a4c-4a0f-9b80-1f0b6f9f1c22",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            "managedFields": [
                managed(
                    "kube-controller-manager",
                    "metadata labels batch.kubernetes.io/job-name",
                    "metadata ownerReferences",
                    'spec containers k:{"name":"trainer"} env'
                    ' k:{"name":"HF_TOKEN"} value',
                    'spec containers k:{"name":"trainer"} image',
                    'spec containers k:{"name":"trainer"} resources limits',
                    "spec restartPolicy",
                    "spec schedulerName",
                    "spec terminationGracePeriodSeconds",
                    time="2026-03-01T03:10:00Z",
                ),
                managed(
                    "kubelet",
                    'status conditions k:{"type":"ContainersReady"} status',
                    'status conditions k:{"type":"Initialized"} status',
                    'status conditions k:{"type":"Ready"} status',
                    "status containerStatuses",
                    "status hostIP",
                    "status phase",
                    "status podIP",
                    "status startTime",
                    time="2026-03-01T03:10:21Z",
                    subresource="status",
                ),
            ],
        },
        "spec": {
            "volumes": [
                {"name": "dshm", "emptyDir": {"medium": "Memory"}},
                {
                    "name": "kube-api-access-q8z7d",
                    "projected": {
                        "sources": [
                            {
                                "serviceAccountToken": {
                                    "expirationSeconds": 3607,
                                    "path": "token",
                                }
                            },
                            {
                                "configMap": {
                                    "name": "kube-root-ca.crt",
                                    "items": [
                                        {"key": "ca.crt", "path": "ca.crt"}
                                    ],
                                }
                            },
                        ],
                        "defaultMode": 420,
                    },
                },
            ],
            "containers": [
                {
                    "name": "trainer",
                    "image": "registry.example.com/research/llm:2026.03.1",
                    "command": ["torchrun", "--nnodes=4", "train.py"],
                    "env": environment(),
                    "resources": {
                        "limits": {"memory": "1800Gi", "nvidia.com/gpu": "8"},
                        "requests": {"cpu": "96", "nvidia.com/gpu": "8"},
                    },
                    "volumeMounts": [
                        {"name": "dshm", "mountPath": "/dev/shm"},
                        {
                            "name": "kube-api-access-q8z7d",
                            "readOnly": True,
                            "mountPath": (
                                "/var/run/secrets/kubernetes.io/serviceaccount"
                            ),
                        },
                    ],
                    "terminationMessagePath": "/dev/termination-log",
                    "imagePullPolicy": "IfNotPresent",
                }
            ],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 30,
            "serviceAccountName": "default",
            "nodeName": "gpu-002",
            "imagePullSecrets": [{"name": "registry"}],
            "tolerations": tolerations,
            "enableServiceLinks": True,
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {
                    "type": name,
                    "status": "True",
                    "lastProbeTime": None,
                    "lastTransitionTime": "2026-03-01T03:10:21Z",
                }
                for name in (
                    "PodReadyToStartContainers",
                    "Initialized",
                    "Ready",
                    "ContainersReady",
                    "PodScheduled",
                )
            ],
            "hostIP": "10.0.0.2",
            "podIP": "10.244.2.17",
            "startTime": "2026-03-01T03:10:02Z",
            "containerStatuses": [
                {
                    "name": "trainer",
                    "state": {
                        "running": {"startedAt": "2026-03-01T03:10:20Z"}
                    },
                    "lastState": {},
                    "ready": True,
                    "restartCount": 0,
                    "image": "registry.example.com/research/llm:2026.03.1",
                    "imageID": "registry.example.com/research/llm@sha256:"
                    + "4d" * 32,
                    "containerID": "containerd://" + "7c" * 32,
                    "started": True,
                }
            ],
            "qosClass": "Burstable",
        },
    }


CONDITIONS = (
    ("KernelDeadlock", "False", "KernelHasNoDeadlock"),
    ("ReadonlyFilesystem", "False", "FilesystemIsNotReadOnly"),
    ("GpuMemWatch", "False", "GpuMemWatchIsHealthy"),
    ("GpuNvlinkWatch", "False", "GpuNvlinkWatchIsHealthy"),
    ("SysLogsXIDError", "False", "SysLogsXIDErrorIsHealthy"),
    ("NetworkUnavailable", "False", "CiliumIsUp"),
    ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID"),
    ("Ready", "True", "KubeletReady"),
)


def node() -> Document:
    """A GPU node with feature discovery, a problem detector and images."""
    labels = {
        f"feature.node.kubernetes.io/cpu-cpuid.{flag}": "true"
        for flag in ("AVX", "AVX2", "AVX512F", "AMXINT8", "FMA3", "SHA", "VMX")
    } | {
        f"nvidia.com/gpu.{key}": value
        for key, value in (
            ("product", "NVIDIA-H100-80GB-HBM3"),
            ("count", "8"),
            ("memory", "81559"),
            ("family", "hopper"),
            ("machine", "PowerEdge-XE9680"),
            ("deploy.dcgm-exporter", "true"),
            ("deploy.device-plugin", "true"),
            ("deploy.driver", "true"),
        )
    }
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": "gpu-002",
            "uid": "9c7f6a52-1f5b-4b8f-8d76-2f1d4c1f0b02",
            "resourceVersion": "920011",
            "creationTimestamp": "2026-01-10T08:00:00Z",
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": "gpu-002",
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": "hgx-h100",
                "topology.kubernetes.io/region": "eu-north",
                "topology.kubernetes.io/zone": "eu-north-1",
                **labels,
            },
            "annotations": {
                "node.alpha.kubernetes.io/ttl": "0",
                "volumes.kubernetes.io/controller-managed-attach-detach": (
                    "true"
                ),
                "nfd.node.kubernetes.io/feature-labels": ",".join(labels),
            },
            "managedFields": [
                managed(
                    "kube-controller-manager",
                    "metadata annotations node.alpha.kubernetes.io/ttl",
                    "spec podCIDR",
                    'spec podCIDRs v:"10.244.2.0/24"',
                    time="2026-01-10T08:00:01Z",
                ),
                managed(
                    "nfd-master",
                    *(f"metadata labels {label}" for label in labels),
                    time="2026-01-10T08:03:11Z",
                ),
                managed(
                    "node-problem-detector",
                    *(
                        f'status conditions k:{{"type":"{name}"}} {field}'
                        for name, _, _ in CONDITIONS[:5]
                        for field in (
                            "lastHeartbeatTime",
                            "lastTransitionTime",
                            "message",
                            "reason",
                            "status",
                            "type",
                        )
                    ),
                    time="2026-03-01T03:09:44Z",
                    subresource="status",
                ),
                managed(
                    "kubelet",
                    "status allocatable nvidia.com/gpu",
                    "status capacity nvidia.com/gpu",
                    *(
                        f'status conditions k:{{"type":"{name}"}} {field}'
                        for name, _, _ in CONDITIONS[6:]
                        for field in (
                            "lastHeartbeatTime",
                            "lastTransitionTime",
                            "message",
                            "reason",
                            "status",
                        )
                    ),
                    "status images",
                    "status nodeInfo bootID",
                    "status nodeInfo kernelVersion",
                    time="2026-03-01T03:11:02Z",
                    subresource="status",
                ),
            ],
        },
        "spec": {
            "podCIDR": "10.244.2.0/24",
            "podCIDRs": ["10.244.2.0/24"],
            "providerID": "metal://eu-north-1/rack-07/gpu-002",
            "taints": [
                {
                    "key": "nvidia.com/gpu",
                    "value": "present",
                    "effect": "NoSchedule",
                }
            ],
        },
        "status": node_status(),
    }


def node_status() -> Document:
    """What the kubelet and the problem detector report."""
    resources = {
        "cpu": "192",
        "ephemeral-storage": "7000123456Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": "2113407800Ki",
        "nvidia.com/gpu": "8",
        "pods": "110",
        "rdma/hca_shared": "63",
    }
    return {
        "capacity": resources,
        "allocatable": resources,
        "conditions": [
            {
                "type": name,
                "status": status,
                "lastHeartbeatTime": "2026-03-01T03:11:02Z",
                "lastTransitionTime": "2026-01-10T08:01:00Z",
                "reason": reason,
                "message": f"{name} was checked: {reason}",
            }
            for name, status, reason in CONDITIONS
        ],
        "addresses": [
            {"type": "InternalIP", "address": "10.0.0.2"},
            {"type": "Hostname", "address": "gpu-002"},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "machineID": "5f0d2f6cbd1b4f6fb0f3c1a8a9b7e602",
            "systemUUID": "4c4c4544-0051-3510-8052-b4c04f4b3032",
            "bootID": "d0a2a5a2-34c6-4b2e-9f5e-0a5f0a4f7b02",
            "kernelVersion": "6.8.0-57-generic",
            "osImage": "Ubuntu 24.04.2 LTS",
            "containerRuntimeVersion": "containerd://2.0.4",
            "kubeletVersion": "v1.36.3",
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": "amd64",
        },
        "images": [
            {
                "names": [
                    f"registry.example.com/image-{i}@sha256:{i:064x}",
                    f"registry.example.com/image-{i}:v1.{i}",
                ],
                "sizeBytes": 1_000_000_007 * i,
            }
            for i in range(1, 24)
        ],
    }


def lease() -> Document:
    """A kubelet's sign of life."""
    return {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {
            "name": "gpu-002",
            "namespace": "kube-node-lease",
            "uid": "1f1f9a77-6d5f-4c1e-a9b3-0c7fd6d3a002",
            "resourceVersion": "920100",
            "creationTimestamp": "2026-01-10T08:00:10Z",
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "name": "gpu-002",
                    "uid": "9c7f6a52-1f5b-4b8f-8d76-2f1d4c1f0b02",
                }
            ],
            "managedFields": [
                managed(
                    "kubelet",
                    "metadata ownerReferences",
                    "spec holderIdentity",
                    "spec leaseDurationSeconds",
                    "spec renewTime",
                    time="2026-03-01T03:14:05Z",
                )
            ],
        },
        "spec": {
            "holderIdentity": "gpu-002",
            "leaseDurationSeconds": 40,
            "renewTime": "2026-03-01T03:14:05.123456Z",
        },
    }


def job() -> Document:
    """A Job whose template carries secrets, applied by kubectl."""
    template = {
        "spec": {
            "containers": [{"name": "trainer", "env": environment()}],
            "restartPolicy": "Never",
        }
    }
    applied = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "llm-worker-0", "namespace": "train"},
        "spec": {"completions": 4, "template": template},
    }
    return {
        "kind": "Job",
        "apiVersion": "batch/v1",
        "metadata": {
            "name": "llm-worker-0",
            "namespace": "train",
            "uid": "6d2f8f0a-8a4c-4a0f-9b80-1f0b6f9f1c22",
            "resourceVersion": "917990",
            "generation": 1,
            "creationTimestamp": "2026-03-01T03:09:59Z",
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": (
                    compact(applied).decode() + "\n"
                )
            },
        },
        "spec": {"completions": 4, "parallelism": 4, "template": template},
        "status": {"active": 4, "startTime": "2026-03-01T03:09:59Z"},
    }


def secret() -> Document:
    """A Secret with everything in it that must never be recorded."""
    return {
        "kind": "Secret",
        "apiVersion": "v1",
        "metadata": {
            "name": "database",
            "namespace": "train",
            "uid": "77aa2c0e-52c5-4f0e-8f5b-3c1b8d1f4d01",
            "resourceVersion": "1201",
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": (
                    '{"apiVersion":"v1","data":{"password":"aHVudGVyMg=="},'
                    '"kind":"Secret","metadata":{"name":"database"},'
                    '"stringData":{"user":"admin-of-it-all"}}\n'
                )
            },
        },
        "data": {"password": "aHVudGVyMg==", "user": "YWRtaW4tb2YtaXQtYWxs"},
        "stringData": {"password": "hunter2"},
        "type": "Opaque",
    }
