"""Something breaks, and the node stays, or is taken for broken."""

from tests.scenarios.requests.requests import DEADLOCK, NPD, xid
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import SOMEONE


@incident
def memory_ran_out_and_took_the_kubelet() -> Scene:
    scene = Scene()
    scene.kubelet(
        20,
        "gpu-002",
        "SystemOOM",
        "System OOM encountered, victim process: kubelet, pid: 811",
        type="Warning",
    )
    scene.silent(21, "gpu-002").stale(67, "gpu-002")
    scene.starts(120, "gpu-002").heals(120.5, "gpu-002")
    return scene.kubelet_restarted("gpu-002", "system-oom", back=True)


@incident
def a_container_reached_its_limit() -> Scene:
    scene = Scene()
    scene.runs(-5, "loader-0", "gpu-002", gpus=0)
    scene.says(
        20,
        "kernel-monitor",
        "OOMKilling",
        "Memory cgroup out of memory: Killed process 4711 (python3)",
        node="gpu-002",
        type="Warning",
    )
    scene.fails(20.5, "loader-0", 137, "OOMKilled")
    scene.hit_pod("loader-0", "gpu-002")
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="container-oom",
        accept={"mode": ["unknown"]},
    )


@incident
def a_137_that_was_no_oom() -> Scene:
    scene = Scene().runs(-5, "loader-0", "gpu-002", gpus=0)
    return scene.fails(20, "loader-0", 137, "Error")


@incident
def a_node_under_pressure_evicts() -> Scene:
    scene = Scene().runs(-5, "loader-0", "gpu-002", gpus=0)
    scene.kubelet(
        20,
        "gpu-002",
        "EvictionThresholdMet",
        "Attempting to reclaim memory",
        type="Warning",
    )
    scene.node(
        20.1,
        "gpu-002",
        "kubelet",
        conditions={
            "MemoryPressure": (
                "True",
                "KubeletHasInsufficientMemory",
                "insufficient memory",
            )
        },
    )
    text = "The node was low on resource: memory. "
    scene.pod(
        21,
        "loader-0",
        "kubelet",
        phase="Failed",
        reason="Evicted",
        message=text,
        disrupted=("TerminationByKubelet", text),
    )
    scene.node(
        320,
        "gpu-002",
        "kubelet",
        conditions={
            "MemoryPressure": ("False", "KubeletHasSufficientMemory", "enough")
        },
    )
    scene.hit_pod("loader-0", "gpu-002", by="eviction")
    return scene.expect(
        "gpu-002",
        "degraded",
        "abrupt",
        fault="other-fault",
        accept={"mode": ["unknown"], "happened": [None]},
    )


@incident
def a_link_flaps_and_the_gang_dies_elsewhere_first() -> Scene:
    scene = Scene()
    job = owner("Job", "llm", "batch/v1")
    scene.makes(-10, "batch/v1/jobs", "Job", "llm", by="kueue", space="train")
    for place, node in enumerate(scene.names):
        scene.runs(-5, f"llm-{place}", node, of=job)
    scene.node(
        20,
        "gpu-002",
        "node-problem-detector",
        conditions={
            "IBLinkFlapping": ("True", "IBLinkFlapping", "mlx5_3 went down")
        },
    )
    for place, at in ((0, 50), (2, 50.5), (1, 52)):
        scene.fails(at, f"llm-{place}", 1)
    scene.hit("Job", "llm", "gpu-002", ["llm-1"], size=3, gpus=24)
    return scene.expect("gpu-002", "degraded", "abrupt", fault="link-fault")


@incident
def a_peer_reports_the_link_to_a_gpu_that_fell_off() -> Scene:
    scene = Scene()
    scene.node(
        20,
        "gpu-002",
        "platform-connectors",
        conditions={"SysLogsXIDError": xid(79)},
    )
    scene.node(
        21,
        "gpu-003",
        "platform-connectors",
        conditions={"SysLogsXIDError": xid(74, "NONE")},
    )
    scene.expect("gpu-002", "degraded", "abrupt", fault="gpu-fault")
    return scene.expect("gpu-003", "degraded", "abrupt", fault="link-fault")


@incident
def a_kernel_hangs_and_nobody_acts() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=DEADLOCK)
    return scene.expect("gpu-002", "degraded", "abrupt", fault="hung-kernel")


@incident
def a_gpu_is_taken_from_what_can_be_had() -> Scene:
    scene = Scene().node(20, "gpu-002", "kubelet", gpus=7)
    return scene.expect(
        "gpu-002", "degraded", "abrupt", fault="gpu-fault", most="likely"
    )


@incident
def an_agent_of_eks_says_false_and_means_broken() -> Scene:
    scene = Scene().node(
        10,
        "gpu-002",
        "eks-node-monitoring-agent",
        conditions={
            "KernelReady": (
                "True",
                "KernelIsReady",
                "Monitoring for the Kernel",
            ),
            "StorageReady": ("True", "DiskIsReady", "Monitoring for Disk"),
        },
    )
    scene.node(
        20,
        "gpu-002",
        "eks-node-monitoring-agent",
        conditions={
            "AcceleratedHardwareReady": (
                "False",
                "NvidiaXID79Error",
                "GPU has fallen off the bus",
            )
        },
    )
    return scene.expect("gpu-002", "degraded", "abrupt", fault="gpu-fault")


@incident
def a_soft_lockup_is_only_an_event_of_eks() -> Scene:
    scene = Scene()
    scene.says(
        20,
        "eks-node-monitoring-agent",
        "KernelReady",
        "SoftLockup: CPU 12 stuck for 26s",
        node="gpu-002",
        type="Warning",
    )
    scene.dies(60, "gpu-002", 500)
    return scene.broke("gpu-002", "hung-kernel")


@incident
def a_disk_went_read_only() -> Scene:
    scene = Scene().node(
        20,
        "gpu-002",
        NPD,
        conditions={
            "ReadonlyFilesystem": (
                "True",
                "FilesystemIsReadOnly",
                "Remounting filesystem read-only",
            )
        },
    )
    return scene.expect("gpu-002", "degraded", "abrupt", fault="disk-fault")


@incident
def a_node_hangs_forever_and_somebody_cycles_the_power() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=DEADLOCK)
    scene.node(300, "gpu-002", "kubectl", cordon=True)
    scene.dies(600, "gpu-002", 900)
    scene.node(1000, "gpu-002", "kubectl", cordon=False)
    return scene.expect(
        "gpu-002",
        "reboot",
        "unknown",
        fault="hung-kernel",
        decision="manual-drain",
        actor=SOMEONE,
        most="likely",
        boots=(1, 2),
        accept={"mode": ["planned", "abrupt"], "decision": [None]},
    )
