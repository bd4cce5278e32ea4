"""The path as people see it: each act once, with all its records."""

import pytest

from recorder.answers.why import verdict_lines
from recorder.explain.verdict import Step, Verdict
from recorder.model.fact import FactKind
from recorder.model.outcomes import Confidence, Role
from tests.explain.history import a_pod
from tests.explain.tale import Tale
from tests.explain.test_traps import CORDON
from tests.support.builders import at


def paths(verdict: Verdict) -> list[tuple[Role, str]]:
    return [(step.role, step.says) for step in verdict.steps]


def step_of(verdict: Verdict, says: str) -> Step:
    [found] = [step for step in verdict.steps if says in step.says]
    return found


def test_an_act_and_the_record_of_its_request_are_one_step() -> None:
    tale = Tale().asks(10, "alice", "patch", CORDON).cordons(10, "kubectl")
    tale.taints(10.1, "node.kubernetes.io/unschedulable", "NoSchedule")
    tale.pod(12, "EvictionByEvictionAPI")
    verdict = tale.crashes(60).verdicts()[-1]

    cordoned = step_of(verdict, "cordoned")
    assert cordoned.role is Role.DECISION
    assert cordoned.actor is not None
    assert cordoned.actor.name == "alice"
    assert [entry.position for entry in cordoned.entries] == [3, 2, 4]


def test_the_user_who_gives_a_node_back_is_named_by_audit() -> None:
    tale = Tale().cordons(10, "kubectl").crashes(60).boots(90).ready(95)
    given_back = CORDON.replace("true", "null")
    tale.asks(120, "alice", "patch", given_back).uncordons(120, "kubectl")

    uncordoned = step_of(tale.verdicts()[-1], "uncordoned")
    assert uncordoned.role is Role.RECOVERY
    assert uncordoned.actor is not None
    assert uncordoned.actor.name == "alice"


def test_a_drain_shows_the_pods_that_it_evicted() -> None:
    tale = Tale().cordons(10, "kubectl")
    for name in ("pod-1", "pod-2"):
        tale.pod(12, "EvictionByEvictionAPI", name=name)

    assert paths(tale.verdict()) == [
        (Role.DECISION, "cordoned"),
        (Role.ACT, "evicted 2 Pods"),
    ]


def test_an_eviction_that_only_a_list_shows_has_its_own_time() -> None:
    tale = Tale().cordons(10, "kubectl")
    evicted = {
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "since": at(12).isoformat(),
    }
    state = {"node": "n1", "conditions": {"DisruptionTarget": evicted}}
    detail, pod = {"created": False, "state": state}, a_pod("pod-1")
    tale.add(600, FactKind.APPEARED, detail, about=pod).crashes(630)

    step = step_of(tale.verdict(), "evicted pod/")

    assert step.at == at(12)


def test_what_was_hit_is_a_step_of_its_own() -> None:
    tale = Tale("n1", "n2").silent(60, renewed=20).lost(60)
    tale.pod(65, "DeletionByTaintManager")
    tale.boots(90)

    assert paths(tale.verdict())[:2] == [
        (Role.EFFECT, "last sign of life"),
        (Role.IMPACT, "the taint manager evicted pod/train/pod-1"),
    ]


def test_a_node_was_last_heard_of_when_the_sentence_begins_to_count() -> None:
    tale = Tale("n1", "n2").silent(60, renewed=20).lost(60)
    tale.taints(60, "node.kubernetes.io/unreachable", "NoSchedule")
    verdict = tale.boots(90).verdict()

    lost = step_of(verdict, "last sign of life")
    assert lost.at == verdict.not_before == at(20)
    assert len(lost.entries) == 3


def test_an_effect_that_is_the_fault_too_is_one_step() -> None:
    verdict = Tale("n1", "n2").lost(60).ready(100).verdict()

    assert [step.role for step in verdict.steps] == ["effect", "recovery"]


def test_a_new_node_that_reports_its_first_boot_has_not_rebooted() -> None:
    tale = Tale("n1", "n2").appears(10, uid="uid-2", boot="", created=True)
    [verdict] = tale.boots(20, old="", new="boot-1").verdicts()

    assert verdict.happened == "rejoined"


def test_neighbors_that_report_their_first_boot_lost_no_power() -> None:
    tale = Tale("n1", "n2", "n3").crashes(60)
    for node in ("n2", "n3"):
        tale.boots(61, node=node, old="", new=f"boot-{node}")

    assert tale.verdict().cause == "unrecorded"


def test_what_comes_just_before_a_node_is_given_up_is_of_its_next_life() -> (
    None
):
    tale = Tale("n1", "n2").silent(60, renewed=20)
    tale.asks(58, "system:node:n1", "get").lost(60)
    verdict = tale.boots(90).verdict()

    assert verdict.not_before == at(20)


def test_a_sign_of_life_long_before_a_node_is_given_up_is_of_the_old() -> None:
    tale = Tale("n1", "n2").silent(60, renewed=20)
    tale.asks(40, "system:node:n1", "get").lost(60)
    verdict = tale.boots(90).verdict()

    assert verdict.not_before == at(40)


def power_cycled() -> Verdict:
    """A program that no rule knows power-cycles a node for a fault."""
    tale = Tale().condition(5, "CoolantFlowLow", "True", was="False")
    tale.cordons(10, "feldspar")
    tale.event(10.5, "feldspar", "Quarantined", "draining and power-cycling")
    tale.pod(11, "EvictionByEvictionAPI")
    for second, what, value in (
        (10, "quarantined-by", "condition/CoolantFlowLow"),
        (12, "power-cycled-at", "03:00:12"),
    ):
        key = f"feldspar.example.com/{what}"
        tale.labels(second, key, value, annotation=True, actor="feldspar")
    tale.crashes(13)
    tale.condition(214, "CoolantFlowLow", "False", was="True")
    return tale.verdict()


def test_the_act_that_its_author_says_rebooted_a_node_is_a_step() -> None:
    verdict = power_cycled()

    done = step_of(verdict, "power-cycled-at")
    assert done.role is Role.ACT
    assert done.actor is not None
    assert done.actor.name == "feldspar"
    decision = step_of(verdict, "cordoned")
    assert decision.role is Role.DECISION
    assert len(decision.entries) == 2  # what it says of it is no act


def test_what_a_path_rests_on_is_evidence_whether_a_rule_knows_it_or_not() -> (
    None
):
    verdict = power_cycled()

    roles = {one.sign.says: one.role for one in verdict.evidence}
    assert roles["CoolantFlowLow=True (was False)"] is Role.FAULT
    assert roles["CoolantFlowLow=False (was True)"] is Role.RECOVERY
    named = {one.sign.stored.entry for one in verdict.evidence}
    assert named >= {e for step in verdict.steps for e in step.entries}
    text = "\n".join(verdict_lines(verdict, verbose=True))
    assert all(str(entry) in text for entry in named)


def test_verbose_shows_every_record_of_a_verdict_in_full() -> None:
    tale, long = Tale("n1", "n2"), "task blocked for more than 120 s: " * 5
    for second in range(50):
        tale.event(500 + second, "kernel-monitor", "TaskHung", long)
    verdict = tale.crashes(1000).verdict()

    shown = [*verdict_lines(verdict, verbose=True)]

    assert len(verdict.evidence) > 50
    for one in verdict.evidence:
        named = f"  {one.sign.stored.entry} "
        assert any(named in x and one.sign.says in x for x in shown)


def test_a_link_is_as_sure_as_the_cause_that_rests_on_it() -> None:
    named = power_cycled()
    tale = Tale().condition(5, "KernelDeadlock", "True", was="False")
    tale.cordons(10, "feldspar").crashes(13).uncordons(240, "feldspar")

    for verdict in (named, tale.verdict()):
        assert verdict.because is not None
        assert verdict.because.confidence == verdict.confidence == "proven"


def test_a_pod_that_was_evicted_before_is_not_driven_away_again() -> None:
    tale = Tale("n1", "n2").cordons(5, "kubectl")
    tale.pod(10, "EvictionByEvictionAPI").silent(60, renewed=20).lost(60)
    tale.pod(65, "DeletionByTaintManager")
    verdict = tale.boots(90).verdict()

    assert "taint manager" not in str(paths(verdict))


def test_a_deletion_that_was_decided_shows_what_came_before_and_after() -> (
    None
):
    tale = Tale().silent(60, renewed=20).lost(60)
    event = "Deleting node n1 because it does not exist in the cloud provider"
    tale.event(70, "cloud-node-lifecycle-controller", "DeletingNode", event)
    tale.vanishes(70).kubelet_starts(300, occurred=300)
    tale.appears(301, uid="uid-2", boot="boot-2", created=True)

    assert [(role, says[:7]) for role, says in paths(tale.verdicts()[-1])] == [
        (Role.EFFECT, "Ready=U"),
        (Role.DECISION, "deleted"),
        (Role.EFFECT, "created"),
    ]


@pytest.mark.parametrize("now", ["true", "false"])
def test_a_plan_that_still_held_is_a_step(now: str) -> None:
    tale = Tale().labels(10, "example.net/reboot-needed", "true", actor="up")
    tale.labels(300, "example.net/reboot-needed", now, old="true", actor="up")
    verdict = tale.crashes(400).verdict()
    assert verdict.decision is None
    planned = [step for step in verdict.steps if "needed" in step.says]
    assert bool(planned) is (now == "true")


def test_what_an_author_reports_after_it_acted_is_no_other_cause() -> None:
    tale = Tale().event(8, "mender", "Odd", "a fan is odd", type="Warning")
    tale.cordons(10, "mender")
    tale.event(12, "mender", "CordonSucceeded", "done", type="Warning")
    found = [r.because for r in tale.crashes(30).verdict().rivals]
    assert any("a fan is odd" in because for because in found)
    assert not any("CordonSucceeded" in because for because in found)


def test_another_system_is_a_step_if_a_repair_may_have_been_its_upgrade() -> (
    None
):
    tale = Tale().condition(5, "KernelDeadlock", "True", actor="detector")
    tale.cordons(10, "healer").crashes(20)
    tale.version(220, "kernel_version", "6.8.0-1", "6.8.0-2")
    verdict = tale.uncordons(240, "healer").verdict()
    assert verdict.confidence is Confidence.POSSIBLE
    assert step_of(verdict, "6.8.0-1 -> 6.8.0-2").role is Role.EFFECT
