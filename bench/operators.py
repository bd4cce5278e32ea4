"""What operators write to the Nodes of a GPU fleet, each under its name."""

from collections.abc import Iterator
from typing import Any

__all__ = ["HEALTHY", "REMEDIATION", "SICK", "TAINT", "node_metadata"]

Body = dict[str, Any]

DIGEST = "sha256:" + "0123456789abcdef" * 4
_CPU_FEATURES = "AVX2 AVX512F HYPERVISOR"
CPU_FEATURES = _CPU_FEATURES.split()


def node_metadata(node: str) -> Iterator[tuple[str, Body]]:
    """Yield labels and annotations by who writes them."""
    features = {
        f"feature.node.kubernetes.io/cpu-cpuid.{name}": "true"
        for name in CPU_FEATURES
    }
    features |= {
        "feature.node.kubernetes.io/kernel-version.full": "6.8.0-79-generic",
        "feature.node.kubernetes.io/pci-15b3.present": "true",
        "feature.node.kubernetes.io/rdma.available": "true",
    }
    yield "nfd-master", {"labels": features}
    yield "gpu-feature-discovery", {"labels": _gpu_labels()}
    yield (
        "gpu-operator",
        {
            "labels": {
                f"nvidia.com/gpu.deploy.{name}": "true"
                for name in (
                    "device-plugin",
                    "driver",
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
        "nvidia.com/gpu.clique": DIGEST[7:43] + ".32766",
        "nvidia.com/gpu.count": "8",
        "nvidia.com/gpu.memory": "81559",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "nvidia.com/mig.config": "all-disabled",
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
            "KernelDeadlock", "False", "KernelHasNoDeadlock",
            "kernel has no deadlock",
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
