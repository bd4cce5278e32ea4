"""Documents as a real API server sends them, sizes included.

They were modelled on a GPU fleet: managedFields of every writer, images,
labels of feature discovery, environments with secrets. Each call gives a
fresh dictionary, so that a test may change what it likes; `compact` gives
the bytes that the API server would send.
"""

from tests.classify.document_node import node
from tests.classify.document_parts import (
    Document,
    compact,
    managed,
)
from tests.classify.document_pod import environment, pod

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
