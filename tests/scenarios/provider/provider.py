"""Autoscalers take nodes away."""

from typing import Any

from tests.scenarios.telling.parts import clock, uid_of
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import OR_FAILED, PROVIDER, controller

CA = "cluster-autoscaler"
CANDIDATE = "DeletionCandidateOfClusterAutoscaler:PreferNoSchedule"
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler:NoSchedule"
NTH = "aws-node-termination-handler"
CLAIMS = "karpenter.sh/v1/nodeclaims"
CLOUD = "cloud-node-lifecycle-controller"
XID = {
    "AcceleratedHardwareReady": (
        "False",
        "NvidiaXID79Error",
        "GPU has fallen off the bus",
    )
}


def claim(scene: Scene, node: str = "gpu-002") -> None:
    """Let a node belong to a NodeClaim."""
    scene.makes(
        -900,
        CLAIMS,
        "NodeClaim",
        f"pool-{node}",
        by="karpenter",
        status={"nodeName": node, "conditions": []},
    )


def says_of_claim(
    scene: Scene, at: float, reason: str, message: str, node: str = "gpu-002"
) -> None:
    """Let Karpenter say something of a NodeClaim."""
    name = f"pool-{node}"
    scene.says(
        at,
        "karpenter",
        reason,
        message,
        about={
            "kind": "NodeClaim",
            "name": name,
            "apiVersion": "karpenter.sh/v1",
            "uid": uid_of("NodeClaim", "", name, "1"),
        },
    )


def claimed(scene: Scene, at: float, kind: str, reason: str) -> None:
    """Let Karpenter set a condition of the NodeClaim."""

    def change(made: dict[str, Any]) -> None:
        made["status"]["conditions"].append(
            {"type": kind, "status": "True", "reason": reason}
        )

    scene.alters(
        at, CLAIMS, "pool-gpu-002", change, by="karpenter", sub="status"
    )


def ends_claim(scene: Scene, at: float, gone: float) -> None:
    """Let Karpenter delete the NodeClaim, then the Node."""

    def change(made: dict[str, Any]) -> None:
        made["metadata"]["deletionTimestamp"] = clock(at)

    scene.alters(at, CLAIMS, "pool-gpu-002", change, by="karpenter")
    scene.node(
        at + 0.5,
        "gpu-002",
        "karpenter",
        taints={"karpenter.sh/disrupted:NoSchedule": ""},
    )
    scene.leaves(gone, "gpu-002").removes(gone + 1, CLAIMS, "pool-gpu-002")


def disrupts(scene: Scene, at: float, why: str) -> None:
    """Let Karpenter take a node away, for a reason of its own."""
    reason = "DisruptionTerminating"
    says = f"Disrupting Node: {why}"
    scene.says(at, "karpenter", reason, says, node="gpu-002")
    says_of_claim(scene, at, reason, f"Disrupting NodeClaim: {why}")
    claimed(scene, at + 0.2, "DisruptionReason", why)
    ends_claim(scene, at + 1, at + 70)


def interrupts(scene: Scene, at: float, gone: float) -> None:
    """Let Karpenter hear that a spot machine is taken back."""
    reason, says = "SpotInterrupted", "Spot interruption warning was triggered"
    scene.says(at, "karpenter", reason, says, node="gpu-002", type="Warning")
    says_of_claim(scene, at, reason, says)
    scene.says(
        at + 0.1,
        "karpenter",
        "TerminatingOnInterruption",
        "Interruption triggered termination for the Node",
        node="gpu-002",
    )
    ends_claim(scene, at + 1, gone)


def marks(scene: Scene, at: float, since: str, node: str = "gpu-002") -> None:
    """Let the autoscaler mark a node that it is about to delete."""
    scene.node(at, node, CA, taints={TO_BE_DELETED: since})
    says = "marked the node as toBeDeleted/unschedulable"
    scene.says(at + 0.1, CA, "ScaleDown", says, node=node)


@incident
def an_autoscaler_scales_down() -> Scene:
    scene = Scene().runs(-5, "web-0", "gpu-002", gpus=0)
    scene.node(20, "gpu-002", CA, taints={CANDIDATE: "1772359220"})
    marks(scene, 620, "1772359820")
    scene.evicts(622, "web-0").leaves(700, "gpu-002")
    scene.hit_pod("web-0", "gpu-002", by="drain", accept=OR_FAILED)
    return scene.decided(
        "gpu-002", "removed", "scale-down", controller(CA), back=False
    )


@incident
def a_candidate_for_a_scale_down_crashes() -> Scene:
    scene = Scene().node(20, "gpu-002", CA, taints={CANDIDATE: "1772359220"})
    scene.dies(200, "gpu-002", 600)
    return scene.unexplained("gpu-002", back=None)


@incident
def a_scale_down_that_is_called_off() -> Scene:
    scene = Scene()
    marks(scene, 20, "1772359820")
    scene.says(
        140,
        CA,
        "ScaleDownFailed",
        "failed to drain the node, aborting ScaleDown",
        node="gpu-002",
        type="Warning",
    )
    scene.node(141, "gpu-002", CA, taints={TO_BE_DELETED: None})
    scene.dies(1200, "gpu-002", 1600)
    return scene.unexplained("gpu-002", back=None)


@incident
def karpenter_consolidates() -> Scene:
    scene = Scene()
    claim(scene)
    disrupts(scene, 20, "Underutilized")
    return scene.decided(
        "gpu-002", "removed", "scale-down", controller("karpenter"), back=False
    )


@incident
def karpenter_replaces_what_drifted() -> Scene:
    scene = Scene()
    claim(scene)
    claimed(scene, 10, "Drifted", "AMIDrift")
    disrupts(scene, 20, "Drifted")
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        controller("karpenter"),
        back=False,
    )


@incident
def karpenter_repairs_and_says_nothing() -> Scene:
    scene = Scene()
    claim(scene)
    scene.node(20, "gpu-002", "eks-node-monitoring-agent", conditions=XID)
    ends_claim(scene, 630, 700)
    return scene.decided(
        "gpu-002",
        "removed",
        "auto-remediation",
        controller("karpenter"),
        fault="gpu-fault",
    )


@incident
def a_spot_machine_is_taken_back_through_karpenter() -> Scene:
    scene = Scene()
    claim(scene)
    interrupts(scene, 20, 140)
    return scene.decided("gpu-002", "removed", "preemption", PROVIDER)
