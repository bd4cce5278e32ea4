"""Notices and wishes that came to nothing, or came from an unknown person."""

from tests.scenarios.provider.provider import (
    claim,
    claimed,
    ends_claim,
    says_of_claim,
)
from tests.scenarios.records.edges import RACK
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    SOMEONE,
    controller,
    or_decision,
    user,
)
from tests.scenarios.upgrades.operators import web

SNR = "self-node-remediation.medik8s.io/v1alpha1/selfnoderemediations"
KARPENTER = "karpenter.sh/disrupted:NoSchedule"


@incident
def karpenter_is_told_that_an_instance_ends() -> Scene:
    # A person ended it in the console of the cloud; nothing here says who.
    scene = Scene()
    claim(scene)
    says = "Instance is terminating"
    scene.says(20, "karpenter", "InstanceTerminating", says, node="gpu-002")
    says_of_claim(scene, 20.1, "InstanceTerminating", says)
    says = "Interruption triggered termination for the Node"
    reason = "TerminatingOnInterruption"
    scene.says(20.2, "karpenter", reason, says, node="gpu-002")
    ends_claim(scene, 21, 90)
    return scene.expect(
        "gpu-002",
        "removed",
        "planned",
        decision="node-deletion",
        most="possible",
        back=False,
        accept={
            "mode": ["unknown"],
            **or_decision("preemption", "host-maintenance", None),
        },
    )


@incident
def a_rebalance_recommendation_alone_and_then_a_crash() -> Scene:
    scene = Scene()
    says = "Spot rebalance recommendation was triggered"
    reason = "SpotRebalanceRecommendation"
    scene.says(20, "karpenter", reason, says, node="gpu-002")
    scene.dies(200, "gpu-002", 800)
    return scene.unexplained(
        "gpu-002",
        most="possible",
        accept={"mode": ["unknown"], **or_decision("preemption")},
    )


@incident
def a_node_is_moved_into_a_rack_between_two_crashes() -> Scene:
    racks = {"gpu-001": "r-1", "gpu-002": "r-1", "gpu-003": "r-2"}
    scene = Scene(racks=racks)
    scene.dies(20, "gpu-002", 600)
    scene.node(1000, "gpu-002", "kubectl-label", labels={RACK: "r-2"})
    scene.runs(1100, "w-0", "gpu-002")
    scene.dies(2000, "gpu-002").boots(2600, "gpu-002", 3)
    scene.fails(2611, "w-0", 255, "Unknown").gone(2611.4, "w-0")
    scene.hit_pod("w-0", "gpu-002", gpus=8)
    scene.unexplained("gpu-002").unexplained("gpu-002", boots=(2, 3))
    hit = ["Pod/train/w-0"]
    scene.asks(0, 3000, rack="r-2", workloads=hit)
    scene.asks(0, 3000, rack="r-1")
    scene.asks(0, 3000, labels={RACK: "r-1"})
    return scene.asks(0, 3000, node="gpu-002", verdicts=[0, 1], workloads=hit)


@incident
def karpenter_waits_for_a_budget_and_then_does_not() -> Scene:
    scene = web(Scene())
    claim(scene)
    claimed(scene, 10, "Drifted", "AMIDrift")
    says = "Disrupting Node: Drifted"
    scene.says(20, "karpenter", "DisruptionTerminating", says, node="gpu-002")
    claimed(scene, 20.2, "DisruptionReason", "Drifted")
    scene.node(20.5, "gpu-002", "karpenter", taints={KARPENTER: ""})
    for at in (30, 330, 930, 1830):
        says = "Failed to drain node, 1 pods are waiting to be evicted"
        scene.says(at, "karpenter", "FailedDraining", says, node="gpu-002")
    says = "All pods will be deleted by 2026-03-01T10:40:00Z"
    reason = "TerminationGracePeriodExpiring"
    scene.says(2000, "karpenter", reason, says, node="gpu-002")
    scene.pod(2400, "web-0", "karpenter", deleting=True)
    scene.fails(2403, "web-0", 143).gone(2403.2, "web-0")
    ends_claim(scene, 21, 2420)
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        controller("karpenter"),
        back=False,
    )


@incident
def a_cordon_by_a_page_in_a_browser() -> Scene:
    scene = web(Scene()).node(20, "gpu-002", "node-fetch", cordon=True)
    scene.evicts(21, "web-0")
    scene.node(600, "gpu-002", "node-fetch", cordon=False)
    return scene.decided(
        "gpu-002",
        "drained",
        "manual-drain",
        SOMEONE,
        boots=(1, 1),
        back=True,
        accept={"mode": ["unknown"], **or_decision(None)},
    )


@incident
def a_person_acts_as_a_controller() -> Scene:
    scene = Scene(audit=True)
    body = {"spec": {"unschedulable": True}}
    kured = "system:serviceaccount:kube-system:kured"
    alice = "alice@example.com"
    scene.asked(20, alice, "patch", "gpu-002", body, acting_as=kured)
    scene.node(20.02, "gpu-002", "kubectl", cordon=True)
    return scene.decided(
        "gpu-002", "cordoned", "manual-drain", user(alice), back=False
    )


@incident
def a_drain_is_only_tried_out() -> Scene:
    scene = Scene(audit=True)
    body = {"spec": {"unschedulable": True}}
    scene.asked(20, "alice@example.com", "patch", "gpu-002", body)
    scene.asked(25, "alice@example.com", "delete", "gpu-002", {}, code=409)
    scene.dies(60, "gpu-002", 600)
    return scene.unexplained("gpu-002")


@incident
def a_pipeline_deletes_a_node() -> Scene:
    scene = Scene(audit=True)
    argo = "system:serviceaccount:argocd:argocd-application-controller"
    scene.asked(20, argo, "delete", "gpu-002", {}, agent="argocd/v3")
    scene.leaves(20.02, "gpu-002")
    return scene.decided(
        "gpu-002",
        "removed",
        "node-deletion",
        controller("argocd-application-controller"),
        back=False,
    )
