"""What was begun ends otherwise: called off, failed, or with less done."""

from typing import Any

from tests.scenarios.remediation.remediation import (
    BY_NAME,
    drains,
    quarantines,
    releases,
)
from tests.scenarios.telling.cluster import READY
from tests.scenarios.telling.parts import clock
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import OR_FAILED, controller
from tests.scenarios.upgrades.upgrades import stops
from tests.scenarios.workloads.work import gang, owned

DRIVER = "nvidia.com/gpu-driver-upgrade-state"


@incident
def a_gpu_is_reset_and_nothing_reboots() -> Scene:
    scene = Scene().runs(-5, "llm-0", "gpu-002")
    kind = "SysLogsXIDError"
    text = "ErrorCode:119 PCI:0000:1a:00 Recommended Action=COMPONENT_RESET;"
    fault = {kind: ("True", f"{kind}IsNotHealthy", text)}
    sound = {kind: ("False", f"{kind}IsHealthy", "No Health Failures")}
    scene.node(20, "gpu-002", "platform-connectors", conditions=fault)
    quarantines(scene, 22, labels=BY_NAME)
    drains(scene, 23, 40, "llm-0")
    resets = "janitor.dgxc.nvidia.com/v1alpha1/gpuresets"
    name = "maintenance-gpu-002-68b0f"
    scene.makes(
        41.5,
        resets,
        "GPUReset",
        name,
        by="fault-remediation",
        spec={"nodeName": "gpu-002", "selector": {"uuids": ["GPU-6f1d8a2e"]}},
    )

    def complete(made: dict[str, Any]) -> None:
        made["status"] = {
            "phase": "Succeeded",
            "completionTime": clock(90),
            "conditions": [
                {"type": "Complete", "status": "True", "reason": "Succeeded"}
            ],
        }

    scene.alters(90, resets, name, complete, by="janitor", sub="status")
    scene.node(95, "gpu-002", "platform-connectors", conditions=sound)
    releases(scene, 100, labels=BY_NAME)
    scene.hit_pod("llm-0", "gpu-002", gpus=8, by="drain", accept=OR_FAILED)
    scene.asks(
        0, 200, node="gpu-002", verdicts=[0], workloads=["Pod/train/llm-0"]
    )
    return scene.decided(
        "gpu-002",
        "drained",
        "auto-remediation",
        controller("NVSentinel"),
        fault="gpu-fault",
        boots=(1, 1),
        back=True,
    )


@incident
def a_shutdown_is_called_off() -> Scene:
    scene = Scene()
    stops(scene, 20, "gpu-002")
    says = "Shutdown manager detected shutdown cancellation"
    scene.kubelet(60, "gpu-002", "Shutdown", says)
    ready = {"Ready": READY}
    scene.node(60.1, "gpu-002", "kubelet", conditions=ready)
    scene.kubelet(60.2, "gpu-002", "NodeReady", "NodeReady")
    return scene.expect(
        "gpu-002",
        "unreachable",
        "planned",
        most="possible",
        boots=(1, 1),
        accept={
            "happened": ["degraded", "drained", None],
            "mode": ["unknown", "abrupt"],
        },
    )


@incident
def a_driver_upgrade_fails_and_stays() -> Scene:
    scene = Scene().runs(-5, "llm-0", "gpu-002")
    by = "gpu-operator"
    scene.node(20, "gpu-002", by, labels={DRIVER: "upgrade-required"})
    scene.node(30, "gpu-002", by, labels={DRIVER: "cordon-required"})
    scene.node(30.2, "gpu-002", by, cordon=True)
    scene.node(35, "gpu-002", by, labels={DRIVER: "drain-required"})
    scene.evicts(36, "llm-0")
    scene.node(60, "gpu-002", by, labels={DRIVER: "pod-restart-required"})
    scene.node(70, "gpu-002", "kubelet", gpus=0)
    scene.node(370, "gpu-002", by, labels={DRIVER: "upgrade-failed"})
    scene.hit_pod("llm-0", "gpu-002", gpus=8, by="drain")
    return scene.expect(
        "gpu-002",
        "drained",
        "planned",
        decision="driver-upgrade",
        actor=(["controller"], None),
        back=False,
        # Who begins to listen at the end sees a state that failed (1.13),
        # which class 18 does not have: it ends with upgrade-done.
        accept={
            "happened": ["degraded"],
            "fault": ["gpu-fault"],
            "cause": ["gpu-fault"],
        },
    )


@incident
def volcano_aborts_a_job_that_lost_a_pod() -> Scene:
    scene = Scene()
    jobs = "batch.volcano.sh/v1alpha1/jobs"
    job = owned(scene, "Job", jobs)
    labels = {"volcano.sh/job-name": "llm", "volcano.sh/queue-name": "default"}
    gang(scene, job, labels)
    scene.dies(20, "gpu-003", 900)
    scene.tainted_away(372, "w-2")

    def aborted(made: dict[str, Any]) -> None:
        made["status"] = {
            "state": {
                "phase": "Aborted",
                "reason": "PodEvicted",
                "lastTransitionTime": clock(374),
            },
            "minAvailable": 3,
        }

    scene.alters(
        374,
        jobs,
        "llm",
        aborted,
        by="vc-controller-manager",
        space="train",
        sub="status",
    )
    for place in (0, 1):
        scene.pod(373, f"w-{place}", "vc-controller-manager", deleting=True)
        scene.fails(376, f"w-{place}", 137).gone(376.2, f"w-{place}")
    scene.fails(911, "w-2", 255, "Unknown").gone(911.2, "w-2")
    scene.hit(
        "Job",
        "llm",
        "gpu-003",
        ["w-2"],
        size=3,
        gpus=24,
        outcome="failed",
        accept={"outcome": ["down"]},
    )
    return scene.unexplained("gpu-003")
