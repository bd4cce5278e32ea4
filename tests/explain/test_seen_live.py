"""Unexpected behavior of real clusters: every verdict handles it."""

import pytest

from recorder.explain.hit import Scope
from recorder.explain.impact import hits
from recorder.facts.projections import Placements, Workloads
from recorder.model.outcomes import Decision, Fault
from tests.explain.tale import Tale
from tests.explain.test_traps import CORDON, actor, decision, fault
from tests.support.builders import at

REBOOTED = "Node n1 has been rebooted, boot id: boot-2"


@pytest.mark.parametrize("early", [-0.008, 0.084])
def test_rebooted_may_come_before_the_boot_id_or_after(early: float) -> None:
    tale = Tale()
    if early < 0:
        tale.event(10 + early, "kubelet", "Rebooted", REBOOTED)
    tale.kubelet_starts(10).boots(10)
    if early > 0:
        tale.event(10 + early, "kubelet", "Rebooted", REBOOTED)
    verdict = tale.verdict()
    assert verdict.happened == "reboot"
    assert not verdict.contradictions


def test_a_quick_reboot_leaves_ready_as_it_was() -> None:
    verdict = Tale().kubelet_starts(10).boots(10.1).verdict()
    assert verdict.happened == "reboot"
    assert verdict.back_in_service_at == at(10.1)


def test_a_kubelet_names_no_uid_and_is_still_heard() -> None:
    tale = Tale().event(10, "kubelet", "SystemOOM", "victim", uid=None)
    assert fault(tale.verdict()) is Fault.SYSTEM_OOM


def test_a_new_kubelet_that_sees_an_old_cordon_reports_no_other() -> None:
    tale = Tale().locks(5).cordons(6, "kured").crashes(10)
    tale.event(211, "kubelet", "NodeNotSchedulable")
    tale.uncordons(290, "kured").locks(290, off=True)
    assert decision(tale.verdict()) is Decision.OS_UPGRADE


def test_a_heartbeat_while_unknown_is_not_the_end_of_it() -> None:
    tale = Tale("n1", "n2").lost(60)
    tale.condition(90, "Ready", "Unknown", "NodeStatusUnknown", was="Unknown")
    verdict = tale.ready(100).verdict()
    assert verdict.happened == "unreachable"
    assert verdict.back_in_service_at == at(100)


def test_taints_that_come_after_the_heal_are_of_the_same_outage() -> None:
    tale = Tale("n1", "n2", "n3")
    for node in ("n1", "n2", "n3"):
        tale.lost(60, node)
    for node in ("n2", "n3", "n1"):
        tale.ready(80, node)
    tale.taints(81, "node.kubernetes.io/unreachable", "NoExecute")
    tale.pod(82, "DeletionByTaintManager")
    tale.taints(90, "node.kubernetes.io/unreachable", "NoExecute", off=True)
    verdict = tale.verdict()
    assert fault(verdict) is Fault.CONTROL_PLANE
    assert verdict.back_in_service_at == at(90)


def test_a_node_was_well_until_its_last_renewal() -> None:
    verdict = Tale("n1", "n2").crashes(10).verdict()
    assert verdict.between == (at(10), at(210))
    assert verdict.lost_at == at(60)


def test_an_uncordon_by_kubectl_names_no_user() -> None:
    tale = Tale().cordons(10, "kubectl").uncordons(100, None)
    verdict = tale.verdict()
    assert actor(verdict) == ("unknown", None)
    assert verdict.back_in_service_at == at(100)


def test_audit_names_the_person() -> None:
    tale = Tale().asks(10, "alice", "patch", CORDON).cordons(10.1, "kubectl")
    verdict = tale.verdict()
    assert actor(verdict) == ("user", "alice")
    assert not any(m.evidence == "audit" for m in verdict.missing)


def test_a_refused_request_made_nothing() -> None:
    tale = Tale().asks(10, "mallory", "patch", CORDON, code=403)
    verdict = tale.cordons(10.1, "kubectl").verdict()
    assert actor(verdict) == ("unknown", None)


def test_a_kubelet_that_orders_all_conditions_set_none_of_them() -> None:
    order = (
        '{"status":{"$setElementOrder/conditions":[{"type":"Ready"},'
        '{"type":"PendingPhaseState"}],"conditions":[{"type":"Ready"}]}}'
    )
    tale = Tale().asks(
        9.9, "system:node:n1", "patch", order, subresource="status"
    )
    asked = '[{"type":"PendingPhaseState"}]'
    tale.asks(10.3, "alice", "patch", asked, subresource="status")
    tale.condition(10, "PendingPhaseState", "True", actor="curl").crashes(20)
    assert actor(tale.verdict()) == ("user", "alice")


def test_what_uncordons_a_moment_later_did_not_cordon() -> None:
    off = CORDON.replace("true", "null")
    tale = Tale().asks(10.2, "alice", "patch", CORDON)
    tale.cordons(10, "kubectl").asks(10.1, "bob", "patch", off)
    assert actor(tale.verdict()) == ("user", "alice")


def test_a_kubelet_that_registers_again_decided_nothing() -> None:
    tale = Tale().asks(10, "system:node:n1", "create", "boot-2", code=409)
    verdict = tale.boots(10).verdict()
    assert verdict.decision is None


def test_137_without_a_word_of_memory_is_no_oom() -> None:
    tale = Tale("n1", "n2").container_ends(10, "ContainerStatusUnknown", 137)
    assert tale.verdicts() == []


def test_a_condition_that_comes_after_the_end_ended_nothing() -> None:
    tale = Tale("n1", "n2").pod_runs(1, "llm-0", "n1")
    tale.pod_ends(30, "llm-0", "n1", 1)
    tale.crashes(600)
    tale.pod(660, "DeletionByTaintManager", name="llm-0")
    found = hits(
        tale.verdicts(),
        Placements(tale.facts),
        Workloads(tale.facts),
        scope=Scope(
            nodes=frozenset(["n1"]),
            until=at(1000),
        ),
    )
    assert found == []


def test_a_node_that_joins_starts_its_kubelet_and_did_not_restart_it() -> None:
    tale = Tale("n1").appears(100, "n2", created=True, ready="False")
    tale.kubelet_starts(100.5, "n2", occurred=100)
    tale.ready(110, "n2", was="False")
    verdict = tale.verdict("n2")
    assert verdict.happened == "joined"
    assert verdict.fault is None


def test_a_first_list_of_events_before_nodes_is_history() -> None:
    tale = Tale()
    node = tale.facts.pop()
    tale.kubelet_starts(0, occurred=-20).facts.append(node)
    assert tale.verdicts() == []


def test_a_detector_that_starts_again_repairs_nothing_and_breaks_nothing() -> (
    None
):
    tale = Tale().condition(10, "KernelDeadlock", "False", was=None)
    assert tale.verdicts() == []


def test_a_gpu_that_is_gone_is_a_fault_without_any_event() -> None:
    verdict = Tale().gpus(10, 8, 7).verdict()
    assert verdict.happened == "degraded"
    assert fault(verdict) is Fault.GPU
    assert verdict.confidence == "likely"


def test_a_plugin_that_has_not_registered_yet_is_no_fault() -> None:
    assert Tale().gpus(10, 8, 0).gpus(20, 0, 8).verdicts() == []


def test_evictions_seen_before_their_cordon_are_still_a_drain() -> None:
    tale = Tale().pod(9.2, "EvictionByEvictionAPI").cordons(10, "kubectl")
    assert tale.verdict().happened == "drained"


def test_an_eviction_long_before_a_cordon_is_another_matter() -> None:
    tale = Tale().pod(3, "EvictionByEvictionAPI").cordons(60, "kubectl")
    assert tale.verdict().happened == "cordoned"


def test_a_kubelet_that_asks_for_its_node_after_it_said_starting() -> None:
    tale = Tale()
    tale.lost(50).boots(100)
    says = "Starting kubelet."
    tale.event(100.1, "kubelet", "Starting", says, host="n1", occurred=99)
    tale.ready(100.2)
    tale.asks(100.3, "system:node:n1", "create", code=409)
    assert tale.verdict().happened == "reboot"


def test_a_kubelet_that_asks_for_its_node_again_has_started_again() -> None:
    tale = Tale()
    tale.lost(50).boots(100)
    says = "Starting kubelet."
    tale.event(100.1, "kubelet", "Starting", says, host="n1", occurred=99)
    tale.ready(100.2)
    tale.asks(114, "system:node:n1", "create", code=409)
    found = [verdict.happened for verdict in tale.verdicts()]
    assert found == ["reboot", "kubelet-restart"]
