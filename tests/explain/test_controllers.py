"""Controllers as they act on a node, each with its own words."""

import pytest

from recorder.model.outcomes import Confidence, Decision, Fault
from tests.explain.tale import Tale
from tests.explain.test_traps import actor, decision, fault
from tests.support.builders import at


@pytest.mark.parametrize(
    ("group", "kind", "name"),
    [
        (
            "self-node-remediation.medik8s.io",
            "SelfNodeRemediation",
            "self-node-remediation",
        ),
        (
            "fence-agents-remediation.medik8s.io",
            "FenceAgentsRemediation",
            "fence-agents-remediation",
        ),
    ],
)
def test_medik8s_reboots_what_is_silent(
    group: str, kind: str, name: str
) -> None:
    tale = Tale("n1", "n2").lost(60).made(100, group, kind)
    tale.taints(101, "node.kubernetes.io/out-of-service", "NoExecute")
    tale.boots(200).ready(210)
    tale.taints(
        215, "node.kubernetes.io/out-of-service", "NoExecute", off=True
    )
    verdict = tale.verdict()
    assert decision(verdict) is Decision.AUTO_REMEDIATION
    assert actor(verdict) == ("controller", name)
    assert verdict.back_in_service_at == at(215)


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [
        (
            "medik8s.io/remediation",
            "self-node-remediation",
            "self-node-remediation",
        ),
        (
            "medik8s.io/fence-agents-remediation",
            "",
            "fence-agents-remediation",
        ),
    ],
)
def test_medik8s_is_known_by_the_taints_that_it_wrote_before(
    key: str, value: str, name: str
) -> None:
    tale = Tale("n1", "n2").lost(60)
    tale.taints(360, key, "NoExecute", value=value, actor="manager")
    verdict = tale.cordons(361, "manager").boots(540).ready(541).verdict()
    assert decision(verdict) is Decision.AUTO_REMEDIATION
    assert actor(verdict) == ("controller", name)


def test_aks_repairs_what_is_not_ready() -> None:
    tale = Tale("n1", "n2").lost(60)
    tale.event(370, "aks-auto-repair", "NodeRebootStart")
    tale.boots(420).ready(430).event(440, "aks-auto-repair", "NodeRebootEnd")
    verdict = tale.verdict()
    assert decision(verdict) is Decision.AUTO_REMEDIATION
    assert actor(verdict) == ("cloud", "aks-auto-repair")


def test_aks_announces_a_freeze_and_the_silence_is_that() -> None:
    tale = Tale("n1", "n2")
    tale.condition(10, "VMEventScheduled", "True", "FreezeScheduled")
    verdict = tale.lost(60).ready(75).verdict()
    assert verdict.happened == "unreachable"
    assert verdict.cause == "host-maintenance"
    assert actor(verdict) == ("cloud", "azure")


def test_eks_replaces_a_node_whose_gpu_failed() -> None:
    tale = Tale().condition(
        10, "AcceleratedHardwareReady", "False", "NvidiaXID79Error", was="True"
    )
    tale.event(700, "eks-node-repair", "NodeRepair").vanishes(800)
    tale.appears(1000, uid="uid-2", machine="another", created=True)
    verdict = tale.verdict()
    assert verdict.happened == "replaced"
    assert fault(verdict) is Fault.GPU
    assert decision(verdict) is Decision.AUTO_REMEDIATION


def test_nvsentinel_quarantines_drains_and_reboots() -> None:
    state = "dgxc.nvidia.com/nvsentinel-state"
    tale = Tale("n1", "n2").condition(
        20, "SysLogsXIDError", "True", "", "ErrorCode:79 GPU:0 x;"
    )
    tale.labels(21, state, "quarantined").cordons(22, "fault-quarantine")
    tale.pod(30, "EvictionByEvictionAPI")
    tale.made(60, "janitor.dgxc.nvidia.com", "RebootNode").crashes(70)
    tale.condition(400, "SysLogsXIDError", "False", was="True")
    tale.uncordons(410, "fault-quarantine")
    tale.labels(412, state, None, old="remediation-succeeded")
    verdict = tale.verdict()
    assert fault(verdict) is Fault.GPU
    assert decision(verdict) is Decision.AUTO_REMEDIATION
    assert actor(verdict) == ("controller", "NVSentinel")
    assert verdict.back_in_service_at == at(410)


def test_draino_drains_what_has_a_bad_condition() -> None:
    tale = Tale().condition(5, "KernelDeadlock", "True")
    tale.event(10, "draino", "CordonStarting").cordons(10, "draino")
    tale.event(60, "draino", "DrainStarting").pod(61, "EvictionByEvictionAPI")
    verdict = tale.verdict()
    assert verdict.happened == "drained"
    assert decision(verdict) is Decision.AUTO_REMEDIATION
    assert actor(verdict) == ("controller", "draino")


def test_the_machine_config_operator_upgrades_the_system() -> None:
    reporter = "machineconfigdaemon"
    tale = Tale().event(10, reporter, "Cordon")
    tale.cordons(10, "machine-config-controller")
    tale.event(30, reporter, "OSUpdateStarted")
    tale.event(60, reporter, "Reboot", "Node will reboot into config x")
    tale.crashes(70).version(270, "os_image", "a", "b")
    tale.event(300, reporter, "NodeDone")
    verdict = tale.uncordons(310, "machine-config-controller").verdict()
    assert decision(verdict) is Decision.OS_UPGRADE
    assert actor(verdict) == ("controller", "machine-config-daemon")


def test_skyhook_interrupts_and_then_sees_the_reboot() -> None:
    tale = Tale().event(10, "skyhook-operator", "Interrupt")
    tale.cordons(11, "skyhook-operator").crashes(20)
    tale.event(240, "skyhook-operator", "Reboot", "detected reboot")
    verdict = tale.uncordons(300, "skyhook-operator").verdict()
    assert decision(verdict) is Decision.OS_UPGRADE
    assert actor(verdict) == ("controller", "skyhook")


def test_a_user_writes_a_reason_for_slinky_and_cordons() -> None:
    key = "nodeset.slinky.slurm.net/node-cordon-reason"
    tale = Tale().labels(5, key, "bad gpu", annotation=True)
    verdict = tale.cordons(6, "kubectl").verdict()
    assert decision(verdict) is Decision.MANUAL_DRAIN


def test_gpud_saw_an_xid_before_the_machine_went() -> None:
    tale = Tale("n1", "n2").event(5, "gpud", "error_xid", "Xid 79")
    verdict = tale.crashes(60).verdict()
    assert fault(verdict) is Fault.GPU
    assert verdict.confidence == "likely"


def test_the_termination_handler_only_looks_ahead() -> None:
    reporter = "aws-node-termination-handler"
    tale = Tale("n1", "n2").event(10, reporter, "RebalanceRecommendation")
    assert tale.crashes(70).verdict().decision is None


def test_the_termination_handler_drains_upon_a_recommendation() -> None:
    """That may come to nothing, but it is why the node was drained."""
    by = "aws-node-termination-handler"
    tale = Tale().taints(10, f"{by}/rebalance-recommendation", actor=by)
    tale.cordons(11, by).pod(13, "EvictionByEvictionAPI")
    verdict = tale.verdict()
    assert decision(verdict) is Decision.PREEMPTION
    assert verdict.confidence is Confidence.POSSIBLE


def test_a_candidate_for_a_scale_down_that_crashes_just_crashed() -> None:
    tale = Tale("n1", "n2").taints(
        5,
        "DeletionCandidateOfClusterAutoscaler",
        "PreferNoSchedule",
        actor="cluster-autoscaler",
    )
    assert tale.crashes(60).verdict().mode == "abrupt"


def test_a_taint_for_the_work_of_others_is_no_failure() -> None:
    tale = Tale().taints(10, "hero.coreweave.com/taint", actor="hero")
    tale.pod(20, "EvictionByEvictionAPI")
    tale.taints(100, "hero.coreweave.com/taint", off=True)
    assert tale.verdicts() == []


ROLLER = "system:serviceaccount:pools:pool-roller"
COLLECTOR = "system:serviceaccount:kube-system:instance-collector"


def test_a_node_drained_by_one_program_and_deleted_by_another() -> None:
    tale = Tale().asks(10, ROLLER, "patch").cordons(10, "pool-roller")
    tale.asks(
        11, ROLLER, "create", resource="pods", subresource="eviction"
    ).pod(11, "EvictionByEvictionAPI")
    verdict = tale.asks(22, COLLECTOR, "delete").vanishes(22).verdict()

    decided = verdict.decision
    assert decided is not None
    assert decided.actor.name == "pool-roller"
    assert decided.carried_out_by is not None
    assert decided.carried_out_by.name == "instance-collector"
    assert verdict.confidence is Confidence.LIKELY


def test_a_node_tainted_and_emptied_by_one_and_deleted_by_another() -> None:
    tale = Tale().taints(10, "example.net/going", actor="pool-roller")
    tale.pod(11, "EvictionByEvictionAPI")
    verdict = tale.asks(22, COLLECTOR, "delete").vanishes(22).verdict()

    decided = verdict.decision
    assert decided is not None
    assert decided.actor.name == "pool-roller"
    assert verdict.confidence is Confidence.LIKELY


@pytest.mark.parametrize(
    ("note", "purpose", "confidence"),
    [
        ("spot-interruption", Decision.PREEMPTION, Confidence.POSSIBLE),
        ("image-update", Decision.NODE_DELETION, Confidence.LIKELY),
    ],
)
def test_what_a_drainer_states_may_be_why_an_instance_went(
    note: str, purpose: Decision, confidence: Confidence
) -> None:
    tale = Tale().labels(9, "example.net/leaves", note, actor="pool-roller")
    tale.cordons(10, "pool-roller").pod(11, "EvictionByEvictionAPI")
    verdict = tale.asks(22, COLLECTOR, "delete").vanishes(22).verdict()

    decided = verdict.decision
    assert decided is not None
    assert decided.actor.name == "pool-roller"
    assert decided.decision is purpose
    assert verdict.confidence is confidence


def test_a_program_that_deletes_a_node_that_was_only_cordoned_decided() -> (
    None
):
    tale = Tale().asks(10, ROLLER, "patch").cordons(10, "pool-roller")
    verdict = tale.asks(22, COLLECTOR, "delete").vanishes(22).verdict()

    decided = verdict.decision
    assert decided is not None
    assert decided.actor.name == "instance-collector"
    assert verdict.confidence is Confidence.PROVEN
