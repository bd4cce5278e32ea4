"""Every decision and every fault once, and what only looks like it."""

import pytest

from recorder.explain.causes import DECISIONS, FAULTS
from recorder.model.outcomes import Cause, Decision, Fault
from tests.explain.tale import Tale
from tests.explain.test_traps import CORDON, actor, decision, fault
from tests.support.builders import at

DETECTOR = "node-problem-detector"
RACKS = {"n1": "a", "n2": "a", "n3": "b", "n4": "b"}
KARPENTER = "karpenter.sh/disrupted"
STATE = "nvidia.com/gpu-driver-upgrade-state"


def test_every_class_has_one_row() -> None:
    where = "of recorder/explain/causes.yaml lists other classes than"
    assert sorted(FAULTS) == sorted(Fault), (
        f"FAULTS {where} Fault of recorder/model/outcomes.py"
    )
    assert sorted(DECISIONS) == sorted(Decision), (
        f"DECISIONS {where} Decision of recorder/model/outcomes.py"
    )


def test_a_cause_is_a_fault_or_a_decision_or_unrecorded() -> None:
    assert {*Cause} == {*Fault, *Decision, "unrecorded"}, (
        "recorder/model/outcomes.py: a class of Fault or Decision must be in"
        " Cause too, and none else"
    )


def recorded(name: str, reason: str = "", *, status: str = "True") -> Tale:
    well = {"True": "False", "False": "True"}[status]
    return Tale("n1", "n2").condition(10, name, status, reason, was=well)


@pytest.mark.parametrize(
    ("condition", "status", "reason", "expected"),
    [
        ("KernelDeadlock", "True", "DockerHung", Fault.HUNG_KERNEL),
        ("SysLogsGPUFallenOff", "True", "", Fault.GPU),
        ("CperHardwareErrorFatal", "True", "", Fault.MEMORY),
        ("GpuThermalWatch", "True", "", Fault.THERMAL),
        ("IBLinkFlapping", "True", "", Fault.LINK),
        ("ReadonlyFilesystem", "True", "", Fault.DISK),
        ("ContainerRuntimeReady", "False", "", Fault.RUNTIME),
        ("KubeletProblem", "True", "KubeletIsDown", Fault.KUBELET),
        ("HardwareIssuesSuspected", "True", "", Fault.OTHER),
        (
            "AcceleratedHardwareReady",
            "False",
            "NvidiaNVLinkError",
            Fault.LINK,
        ),
    ],
)
def test_a_fault_on_record(
    condition: str, status: str, reason: str, expected: Fault
) -> None:
    verdict = recorded(condition, reason, status=status).verdict()
    assert verdict.happened == "degraded"
    assert fault(verdict) is expected
    assert verdict.confidence == "likely"  # the word of a monitor alone
    crashed = recorded(condition, reason, status=status).crashes(60).verdict()
    assert crashed.happened == "reboot"
    assert fault(crashed) is expected
    # What belongs to no class is not known to take a machine away.
    open_ = expected is Fault.OTHER
    assert crashed.confidence == ("possible" if open_ else "likely")


def test_a_panic_is_proved_by_what_the_next_boot_finds() -> None:
    tale = Tale("n1", "n2").crashes(10)
    verdict = tale.event(600, "abrt-adaptor", "VMcore").verdict()
    assert fault(verdict) is Fault.KERNEL_PANIC
    assert verdict.confidence == "proven"


def test_a_crash_without_a_dump_is_no_panic() -> None:
    verdict = Tale("n1", "n2").crashes(10).verdict()
    assert verdict.fault is None


def test_a_rack_that_stops_at_once_and_boots_anew_lost_its_power() -> None:
    tale = Tale(*RACKS, racks=RACKS)
    for node in ("n1", "n2"):
        tale.silent(60, node, renewed=12).lost(60, node)
    for node, back in (("n1", 300), ("n2", 420)):
        tale.boots(back, node).ready(back + 10, node)
    verdict = tale.verdict()
    assert fault(verdict) is Fault.POWER_LOSS
    assert verdict.confidence == "likely"
    assert verdict.mode == "abrupt"


@pytest.mark.parametrize("alone", ["partition", "neighbour is well"])
def test_what_is_no_loss_of_power(alone: str) -> None:
    tale = Tale(*RACKS, racks=RACKS).lost(60, "n1")
    if alone == "partition":
        verdict = tale.lost(61, "n2").ready(90).ready(90, "n2").verdict()
        assert fault(verdict) is Fault.PARTITION
    else:
        verdict = tale.boots(300).ready(310).verdict()
        assert verdict.fault is None


def test_memory_of_the_machine_that_runs_out_may_take_it_away() -> None:
    tale = Tale("n1", "n2").event(30, "kubelet", "SystemOOM", "victim: x")
    verdict = tale.lost(80).kubelet_starts(200).ready(210).verdict()
    assert verdict.happened == "kubelet-restart"
    assert fault(verdict) is Fault.SYSTEM_OOM


def test_a_container_that_used_too_much_takes_no_node_away() -> None:
    verdict = Tale().container_ends(10, "OOMKilled").verdict()
    assert (verdict.happened, fault(verdict)) == (
        "degraded",
        Fault.CONTAINER_OOM,
    )
    crashed = Tale("n1", "n2").container_ends(10, "OOMKilled").crashes(20)
    assert crashed.verdict().fault is None


def test_a_kubelet_that_was_away_comes_back_with_a_start() -> None:
    tale = Tale("n1", "n2").lost(60).kubelet_starts(200).ready(210)
    verdict = tale.verdict()
    assert verdict.happened == "kubelet-restart"
    assert fault(verdict) is Fault.KUBELET
    assert verdict.back_in_service_at == at(210)


def test_a_cut_network_heals_without_a_start() -> None:
    tale = Tale("n1", "n2").lost(60).ready(200)
    verdict = tale.verdict()
    assert verdict.happened == "unreachable"
    assert fault(verdict) is Fault.PARTITION
    assert verdict.confidence == "possible", "a start may not be on record"
    tale.kubelet_counts(201, first=-4000)
    assert tale.verdict().confidence == "likely"
    anew = Tale("n1", "n2").lost(60).ready(200).kubelet_counts(201, first=200)
    assert anew.verdict().happened == "kubelet-restart"
    gone = Tale("n1", "n2").lost(60).verdict()
    assert gone.fault is None, "it is not known yet what happened"


def test_all_nodes_at_once_are_the_control_plane() -> None:
    tale = Tale(*RACKS, racks=RACKS)
    for node in RACKS:
        tale.lost(60, node)
    for node in RACKS:
        tale.ready(80, node)
    verdict = tale.verdict()
    assert fault(verdict) is Fault.CONTROL_PLANE
    assert verdict.confidence == "proven"


def test_a_person_asks_by_a_condition() -> None:
    tale = Tale().asks(
        10,
        "alice",
        "patch",
        '[{"type":"PendingPhaseState"}]',
        subresource="status",
    )
    tale.condition(10, "PendingPhaseState", "True", "production-powerreset")
    tale.cordons(12, "node-lifecycle-controller").crashes(30)
    verdict = tale.uncordons(300, "node-lifecycle-controller").verdict()
    assert decision(verdict) is Decision.ADMIN_REQUEST
    assert actor(verdict) == ("user", "alice")
    assert (verdict.mode, verdict.confidence) == ("planned", "proven")


def test_a_request_that_answers_a_fault_is_a_remediation() -> None:
    tale = Tale().condition(5, "KernelDeadlock", "True", actor=DETECTOR)
    tale.condition(
        10, "PendingPhaseState", "True", actor="node-lifecycle-controller"
    )
    verdict = tale.cordons(12, "node-lifecycle-controller").crashes(30)
    assert decision(verdict.verdict()) is Decision.AUTO_REMEDIATION


def test_the_lock_of_kured_names_the_node_that_it_upgrades() -> None:
    tale = Tale().locks(5).cordons(5, "kured").crashes(10)
    tale.uncordons(250, "kured").locks(251, off=True)
    verdict = tale.verdict()
    assert decision(verdict) is Decision.OS_UPGRADE
    assert actor(verdict) == ("controller", "kured")


def test_a_lock_that_was_given_back_is_no_upgrade() -> None:
    tale = Tale().locks(5).locks(8, off=True).crashes(12)
    assert tale.verdict().decision is None


def test_a_lock_that_was_handed_on_upgrades_the_next_node() -> None:
    tale = Tale().locks(5).locks(8, to="n2").crashes(12)
    assert tale.verdict().decision is None


def test_a_driver_upgrade_drains_and_reboots_nothing() -> None:
    tale = Tale().labels(5, STATE, "upgrade-required")
    tale.labels(6, STATE, "cordon-required", old="upgrade-required")
    tale.cordons(7, "gpu-operator").pod(8, "EvictionByEvictionAPI")
    tale.gpus(30, 8, 0).gpus(60, 0, 8).uncordons(70, "gpu-operator")
    tale.labels(71, STATE, "upgrade-done", old="uncordon-required")
    verdict = tale.verdict()
    assert (verdict.happened, verdict.fault) == ("drained", None)
    assert decision(verdict) is Decision.DRIVER_UPGRADE


def test_a_node_that_waits_for_its_upgrade_and_crashes_just_crashed() -> None:
    tale = Tale().labels(5, STATE, "upgrade-required").crashes(500)
    assert tale.verdict().mode == "abrupt"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("SpotInterruption", Decision.PREEMPTION),
        ("ScheduledEvent", Decision.HOST_MAINTENANCE),
        ("ASGLifecycle", Decision.SCALE_DOWN),
    ],
)
def test_a_notice_of_the_provider(reason: str, expected: Decision) -> None:
    reporter = "aws-node-termination-handler"
    tale = Tale().event(10, reporter, reason).cordons(11, reporter)
    verdict = tale.pod(12, "EvictionByEvictionAPI").vanishes(120).verdict()
    assert verdict.happened == "removed"
    assert decision(verdict) is expected
    assert verdict.confidence == "proven"


def test_an_autoscaler_says_that_it_takes_a_node_away() -> None:
    reporter = "cluster-autoscaler"
    tale = Tale().taints(10, "ToBeDeletedByClusterAutoscaler", actor=reporter)
    tale.event(10, reporter, "ScaleDown").pod(12, "EvictionByEvictionAPI")
    assert decision(tale.vanishes(60).verdict()) is Decision.SCALE_DOWN


def test_a_scale_down_that_was_called_off_explains_no_crash() -> None:
    key = "ToBeDeletedByClusterAutoscaler"
    tale = Tale().taints(10, key).taints(40, key, off=True).crashes(45)
    assert tale.verdict().decision is None


def test_karpenter_repairs_without_a_word() -> None:
    tale = recorded("KernelReady", status="False")
    tale.taints(1810, KARPENTER, actor="karpenter").vanishes(1900)
    verdict = tale.verdict()
    assert decision(verdict) is Decision.AUTO_REMEDIATION
    assert fault(verdict) is Fault.HUNG_KERNEL
    spared = Tale().event(10, "karpenter", "DisruptionTerminating")
    spared.taints(10, KARPENTER, actor="karpenter").vanishes(90)
    assert decision(spared.verdict()) is Decision.SCALE_DOWN


def test_a_drain_by_hand_names_the_tool_without_audit() -> None:
    tale = Tale().cordons(10, "kubectl").pod(11, "EvictionByEvictionAPI")
    verdict = tale.uncordons(100).verdict()
    assert decision(verdict) is Decision.MANUAL_DRAIN
    assert verdict.happened == "drained"
    assert "someone using kubectl" in verdict.sentence
    assert [m.evidence for m in verdict.missing] == ["audit"]


def test_a_node_that_a_user_deletes() -> None:
    tale = Tale().asks(9.9, "alice", "delete").vanishes(10)
    verdict = tale.verdict()
    assert decision(verdict) is Decision.NODE_DELETION
    assert actor(verdict) == ("user", "alice")


def test_a_node_deleted_long_after_its_loss_was_not_lost_by_plan() -> None:
    tale = Tale("n1", "n2").lost(60)
    tale.event(360, "cloud-node-lifecycle-controller", "DeletingNode")
    verdict = tale.vanishes(361).verdict()
    assert verdict.happened == "removed"
    assert actor(verdict) == ("cloud", "cloud-node-lifecycle-controller")
    assert verdict.mode == "unknown"


def test_a_drain_by_hand_in_a_fault_is_by_hand_and_for_the_fault() -> None:
    tale = Tale().condition(5, "KernelDeadlock", "True", actor=DETECTOR)
    tale.asks(60, "alice", "patch", CORDON).cordons(60, "kubectl")
    verdict = tale.pod(61, "EvictionByEvictionAPI").verdict()
    assert decision(verdict) is Decision.MANUAL_DRAIN
    assert actor(verdict) == ("user", "alice")
    assert fault(verdict) is Fault.HUNG_KERNEL
    assert verdict.confidence == "likely", "she recorded no reason"


def test_a_controller_that_cordons_without_a_word_is_named() -> None:
    verdict = Tale().cordons(10, "some-controller").verdict()
    assert (verdict.happened, verdict.decision) == ("cordoned", None)
    assert verdict.mode == "unknown"
    assert "by some-controller" in verdict.sentence


def test_a_node_that_is_drained_and_deleted_was_deleted() -> None:
    tale = Tale().cordons(5, "kubectl").pod(6, "EvictionByEvictionAPI")
    tale.vanishes(60).appears(120, uid="uid-2", created=True)
    verdict = tale.verdict()
    assert verdict.happened == "rejoined"
    assert decision(verdict) is Decision.NODE_DELETION


def test_all_nodes_that_do_not_come_back_may_as_well_be_down() -> None:
    tale = Tale("n1", "n2", "n3")
    for node in ("n1", "n2", "n3"):
        tale.lost(60, node)
    assert tale.verdict().confidence == "possible"


def test_a_controller_that_prepares_a_reboot_makes_it_no_accident() -> None:
    tale = Tale("n1", "n2").cordons(5, "node-lifecycle-controller")
    tale.condition(60, "NLCCImmediateReboot", "True", "NLCCRedfishReboot")
    verdict = tale.crashes(70).verdict()
    assert (verdict.mode, verdict.cause) == ("unknown", "unrecorded")


def test_a_cordon_of_days_ago_restarted_no_kubelet() -> None:
    tale = Tale().cordons(5, "kubectl").kubelet_starts(172_800)
    verdict = tale.verdict()
    assert verdict.happened == "kubelet-restart"
    assert verdict.decision is None
