"""What a naive reading of the signals gets wrong, one trap after another."""

import pytest

from recorder.explain.hit import Scope
from recorder.explain.impact import hits
from recorder.explain.verdict import Verdict
from recorder.facts.coverage.hole import Hole
from recorder.facts.projections import Placements, Workloads
from recorder.model.fact import FactKind
from recorder.model.observation import PODS
from recorder.model.outcomes import (
    Confidence,
    Decision,
    Fault,
    Happened,
    Outcome,
)
from tests.explain.history import a_pod
from tests.explain.tale import Tale
from tests.support.builders import at

DETECTOR = "node-problem-detector"
CORDON = '{"spec":{"unschedulable":true}}'


def fault(verdict: Verdict) -> Fault | None:
    return None if verdict.fault is None else verdict.fault.fault


def decision(verdict: Verdict) -> Decision | None:
    return None if verdict.decision is None else verdict.decision.decision


def actor(verdict: Verdict) -> tuple[str, str | None] | None:
    decided = verdict.decision
    if decided is None or decided.is_by_unknown:
        return None
    return decided.actor.kind, decided.actor.name


def test_a_kubelet_that_starts_is_no_reboot() -> None:
    verdict = Tale().kubelet_starts(10).verdict()
    assert verdict.happened == "kubelet-restart"
    assert fault(verdict) is Fault.KUBELET
    assert verdict.boot_id_before == verdict.boot_id_after == "boot-1"


def test_a_controller_that_registers_all_nodes_shows_no_join() -> None:
    tale = Tale("n1", "n2")
    for node in ("n1", "n2"):
        tale.event(10, "node-controller", "RegisteredNode", node=node)
        assert tale.verdicts(node) == []


@pytest.mark.parametrize("reporter", ["kubelet", "node-controller"])
def test_an_event_node_not_ready_proves_nothing_alone(reporter: str) -> None:
    tale = Tale().event(
        10, reporter, "NodeNotReady", "Node n1 status is now: NodeNotReady"
    )
    assert tale.verdicts() == []


def test_a_new_boot_id_is_a_reboot_without_any_event() -> None:
    verdict = Tale().boots(10).verdict()
    assert verdict.happened == "reboot"
    assert (verdict.boot_id_before, verdict.boot_id_after) == (
        "boot-1",
        "boot-2",
    )


def test_a_node_that_is_deleted_and_joins_again_needs_no_rebooted() -> None:
    tale = Tale().vanishes(10).appears(40, uid="uid-2", boot="boot-2")
    verdict = tale.event(41, "node-controller", "RegisteredNode").verdict()
    assert verdict.happened == "rejoined"
    assert verdict.node_uid == "uid-n1"
    assert verdict.back_in_service_at == at(40)


def test_the_same_name_on_another_machine_is_another_node() -> None:
    tale = Tale().vanishes(10)
    tale.appears(40, uid="uid-2", boot="boot-2", machine="another")
    assert tale.verdict().happened == "replaced"


def test_a_node_that_is_there_twice_for_a_moment_is_replaced_once() -> None:
    tale = Tale().appears(40, uid="uid-2", machine="another", created=True)
    tale.vanishes(41, inferred=True)
    verdict = tale.verdict()
    assert verdict.happened == "replaced"
    assert verdict.back_in_service_at == at(40)


@pytest.mark.parametrize("reason", ["TaskHung", "KernelOops"])
def test_an_event_that_repeats_is_another_occurrence(reason: str) -> None:
    tale = Tale().event(10, "kernel-monitor", reason)
    tale.crashes(4000)
    tale.event(8000, "kernel-monitor", reason, count=2).crashes(8010)
    first, crash, second = tale.verdicts()
    assert first.happened == "degraded"
    assert fault(crash) is None
    assert fault(second) is Fault.HUNG_KERNEL


@pytest.mark.parametrize(
    ("condition", "broken"),
    [
        ("AcceleratedHardwareReady", "False"),
        ("KernelReady", "False"),
        ("KernelDeadlock", "True"),
        ("GpuMemWatch", "True"),
    ],
)
def test_whether_true_is_a_fault_depends_on_who_says_it(
    condition: str, broken: str
) -> None:
    sound = {"True": "False", "False": "True"}[broken]
    tale = Tale().condition(10, condition, broken, "why", was=sound)
    assert tale.verdict().happened == "degraded"
    for well in (sound, "Unknown"):
        other = Tale().condition(10, condition, well, "why", was="Unknown")
        assert other.verdicts() == []


def test_events_of_odd_shape_are_read_and_harm_nothing() -> None:
    tale = Tale().event(
        10,
        "gpu-health-monitor",
        "GpuNvlinkWatchIsNotHealthy",
        "ErrorCode:1 GPU:0",
        uid="n1",
        type="GpuNvlinkWatch",
    )
    tale.event(11, "", "", uid="n1", type="")
    assert tale.verdicts() == []


def test_a_remediation_is_reported_with_its_trigger() -> None:
    tale = Tale().condition(10, "KernelDeadlock", "True", actor=DETECTOR)
    tale.made(20, "janitor.dgxc.nvidia.com", "RebootNode").crashes(30)
    verdict = tale.verdict()
    assert verdict.cause == "hung-kernel"
    assert fault(verdict) is Fault.HUNG_KERNEL
    assert decision(verdict) is Decision.AUTO_REMEDIATION
    assert actor(verdict) == ("controller", "NVSentinel")
    assert verdict.mode == "planned"


def test_who_uncordons_is_not_who_cordoned() -> None:
    tale = Tale().cordons(10, "kubectl").pod(11, "EvictionByEvictionAPI")
    tale.uncordons(100, "some-controller")
    verdict = tale.verdict()
    assert verdict.happened == "drained"
    assert actor(verdict) == ("unknown", None)
    assert "kubectl" in verdict.sentence
    assert "some-controller" not in verdict.sentence


def a_gang() -> tuple[Placements, Workloads, Tale]:
    """A Job of two Pods on two nodes; the first node is lost."""
    tale = Tale("n1", "n2", "n3")
    tale.pod_runs(1, "llm-0", "n1").pod_runs(1, "llm-1", "n2")
    tale.crashes(10)
    # Its Pod on the healthy node is ended first, by the controller of the Job.
    tale.pod_ends(70, "llm-1", "n2", 143).pod_ends(215, "llm-0", "n1", 255)
    tale.pod_runs(300, "llm-2", "n2").pod_runs(300, "llm-3", "n3")
    return Placements(tale.facts), Workloads(tale.facts), tale


def test_a_failure_hits_the_whole_gang() -> None:
    placements, workloads, tale = a_gang()
    (hit,) = hits(
        tale.verdicts("n1"),
        placements,
        workloads,
        scope=Scope(
            nodes=frozenset(["n1"]),
            until=at(400),
        ),
    )
    assert hit.workload.kind == "Job"
    assert (hit.gang_size, hit.gpus) == (2, 16)
    assert hit.pods_hit == ["llm-0"]
    assert hit.running_again_at == at(300)
    assert hit.gpu_hours_lost == pytest.approx(240 / 3600 * 16, abs=0.001)


def test_the_node_that_failed_is_blamed_not_the_pod_that_ended_first() -> None:
    placements, workloads, tale = a_gang()
    verdicts = [v for n in ("n1", "n2", "n3") for v in tale.verdicts(n)]
    (hit,) = hits(
        verdicts,
        placements,
        workloads,
        scope=Scope(
            nodes=frozenset(["n1", "n2", "n3"]),
            until=at(400),
        ),
    )
    assert hit.first_node == "n1"
    assert hit.nodes == ["n1"]


def test_ready_is_not_back_in_service() -> None:
    tale = Tale().condition(10, "KernelDeadlock", "True", actor=DETECTOR)
    tale.cordons(20, "node-lifecycle-controller").crashes(30)
    tale.taints(250, "node.coreweave.cloud/reserved", "NoExecute")
    tale.uncordons(300, "node-lifecycle-controller")
    assert tale.verdict().back_in_service_at is None
    tale.taints(1500, "node.coreweave.cloud/reserved", "NoExecute", off=True)
    assert tale.verdict().back_in_service_at == at(1500)


def test_silence_is_not_a_no() -> None:
    verdict = Tale("n1", "n2").crashes(10).verdict()
    assert verdict.cause == "unrecorded"
    assert verdict.confidence == "unknown"
    assert {m.evidence for m in verdict.missing} >= {"audit", "bmc", "pstore"}
    still_open = {r.cause for r in verdict.rivals if not r.excluded}
    assert still_open == {"kernel-panic", "power-loss"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("ErrorCode:45 GPU:0 Recommended Action=NONE;", None),
        ("ErrorCode:13 GPU:0;ErrorCode:45 GPU:0;", None),
        ("ErrorCode:74 GPU:0 Recommended Action=COMPONENT_RESET;", Fault.LINK),
        ("ErrorCode:45 GPU:0;ErrorCode:79 GPU:1;", Fault.GPU),
        ("ErrorCode:74 GPU:0;ErrorCode:79 GPU:1;", Fault.GPU),
    ],
)
def test_an_xid_that_only_shows_is_no_root_cause(
    message: str, expected: Fault | None
) -> None:
    tale = Tale().condition(10, "SysLogsXIDError", "True", "why", message)
    assert [fault(v) for v in tale.verdicts()] == (
        [] if expected is None else [expected]
    )


def test_a_deletion_that_only_a_list_shows_is_no_more_than_possible() -> None:
    tale = Tale().gap(50, 100).vanishes(100, inferred=True)
    verdict = tale.verdict()
    assert verdict.happened == "removed"
    assert verdict.confidence == "possible"


def test_one_reason_means_two_things_by_who_says_it() -> None:
    announced = Tale().cordons(5, "machine-config-controller")
    announced.event(10, "machineconfigdaemon", "Reboot", "will reboot into")
    verdict = announced.crashes(20).verdict()
    assert decision(verdict) is Decision.OS_UPGRADE
    detected = Tale().event(10, "skyhook-operator", "Reboot", "detected")
    verdict = detected.crashes(20).verdict()
    assert verdict.decision is None
    assert verdict.mode == "abrupt"


@pytest.mark.parametrize(
    "reason", ["Reboot", "Drain", "Cordon", "ScheduledEvent", "State"]
)
def test_a_reason_of_an_unknown_controller_is_no_evidence(reason: str) -> None:
    verdict = Tale().event(10, "another", reason).crashes(20).verdict()
    assert verdict.decision is None
    assert verdict.cause == "unrecorded"


def test_a_fault_that_an_order_names_counts_whatever_broke_since() -> None:
    """The device plugin removes a GPU after the detector reported a fault."""
    tale = Tale().condition(
        10, "GPUXidError", "True", "FallenOff", was="False", actor=DETECTOR
    )
    tale.gpus(12, 8, 7)
    key, controller = "example.com/cordoned-because", "fixer"
    tale.cordons(13, controller)
    tale.labels(13, key, "GPUXidError", annotation=True, actor=controller)
    verdict = tale.crashes(20).verdict()

    assert verdict.fault is not None
    assert verdict.fault.sign.subject.name == "GPUXidError"
    assert verdict.fault.confidence == "proven"


def test_who_quotes_a_condition_in_a_cordon_does_not_set_it() -> None:
    controller = "system:serviceaccount:fix:fixer"
    body = '{"metadata":{"annotations":{"why":"GPUXidError"}},' + CORDON[1:]
    tale = Tale().condition(
        10, "GPUXidError", "True", "FallenOff", was="False", actor=DETECTOR
    )
    tale.asks(10.5, controller, "patch", body).cordons(10.5, "fixer")
    verdict = tale.crashes(20).verdict()

    (first,) = [s for s in verdict.steps if s.role == "fault"]
    assert len(first.entries) == 1


def test_a_recovery_begins_nothing() -> None:
    tale = Tale().condition(10, "Ready", "True", was="False").boots(40)

    verdict = tale.verdict()

    assert verdict.happened == "reboot"
    assert verdict.began_at == at(40)


def test_what_was_down_was_not_in_service_even_if_unseen() -> None:
    """It was Ready before and after, and was never seen otherwise."""
    tale = Tale().event(5, "kubelet", "NodeReady").boots(205)

    verdict = tale.verdict()

    assert verdict.down is not None
    assert verdict.away is not None
    assert verdict.away.length == verdict.down.length
    assert verdict.away.at_most


def test_what_the_first_list_misses_is_not_lost_from_that_list_on() -> None:
    """The Pod was read from the past, and was absent when Pods were listed."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").crashes(10)
    tale.add(
        60,
        FactKind.VANISHED,
        {"inferred": True, "state": {}},
        about=a_pod("llm-0"),
    )
    before = Hole(until=at(60), resource=PODS)
    found = []
    for holes in ([], [before]):
        (hit,) = hits(
            tale.verdicts("n1"),
            Placements(tale.facts),
            Workloads(tale.facts),
            scope=Scope(nodes=frozenset(["n1"]), until=at(3660), before=holes),
        )
        found.append((hit.outcome, hit.gpu_hours_lost > 0))

    assert found == [(Outcome.DOWN, True), (Outcome.UNKNOWN, False)]


def test_a_taint_by_hand_is_no_cordon_of_another() -> None:
    tale = Tale().taints(10, "pool", actor="kubectl-taint")

    (verdict,) = tale.cordons(60, "node-maintenance-operator").verdicts()

    assert verdict.decision is None
    assert "node-maintenance-operator" in verdict.sentence


def test_a_taint_that_evicts_from_nothing_is_hardly_a_drain() -> None:
    tale = Tale().taints(10, "dedicated", actor="kubectl-taint")
    tale.cordons(1800, "acme-rotator").pod(1801, "EvictionByEvictionAPI")

    (verdict,) = tale.verdicts()

    assert verdict.happened == Happened.DRAINED
    assert verdict.confidence in {Confidence.POSSIBLE, Confidence.UNKNOWN}


def test_pods_that_are_evicted_from_a_node_in_service_are_no_drain() -> None:
    moved = Tale().pod(10, "EvictionByEvictionAPI").crashes(40)
    drained = Tale().cordons(9, "kubectl").pod(10, "EvictionByEvictionAPI")

    assert decision(moved.verdict()) is None
    assert decision(drained.crashes(40).verdict()) is Decision.MANUAL_DRAIN
