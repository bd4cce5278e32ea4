"""A Pod as a real API server sends it; see `documents`."""

from tests.classify.document_parts import (
    Document,
    compact,
    managed,
)

__all__ = ["environment", "pod"]


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
