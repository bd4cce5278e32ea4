"""A Node as a real API server sends it; see `documents`."""

from tests.classify.document_parts import Document, managed

__all__ = ["node"]

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
