"""The path that people are shown: each act once, with all its records."""

from recorder.explain.verdict import Step, Verdict
from recorder.model.outcomes import Role
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


def test_a_drain_shows_the_pods_that_it_evicted() -> None:
    tale = Tale().cordons(10, "kubectl")
    for name in ("pod-1", "pod-2"):
        tale.pod(12, "EvictionByEvictionAPI", name=name)

    assert paths(tale.verdict()) == [
        (Role.DECISION, "cordoned"),
        (Role.ACT, "evicted 2 Pods"),
    ]


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


def test_a_new_node_that_tells_its_first_boot_has_not_rebooted() -> None:
    tale = Tale("n1", "n2").appears(10, uid="uid-2", boot="", created=True)
    [verdict] = tale.boots(20, old="", new="boot-1").verdicts()

    assert verdict.happened == "rejoined"


def test_neighbors_that_tell_their_first_boot_lost_no_power() -> None:
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
