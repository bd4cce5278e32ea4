"""What words say: no more than what happened bears out.

The domain of a key says nothing, and a word alone is possible at most.
"""

import json

import pytest

from recorder.model.fact import FactKind
from recorder.model.outcomes import Confidence, Decision
from tests.explain.tale import Tale, decided


@pytest.mark.parametrize(
    "domain", ["update.example.net", "preempt.example.net", "repair.io"]
)
def test_the_domain_of_a_key_says_nothing_of_what_for(domain: str) -> None:
    tale = Tale().labels(
        10, f"{domain}/stage", "two", annotation=True, actor="roller"
    )
    tale.cordons(11, "roller").pod(12, "EvictionByEvictionAPI").crashes(20)
    assert decided(tale.verdict()) == (None,)


@pytest.mark.parametrize(
    ("word", "decision"),
    [("update", "os-upgrade"), ("maintenance", "host-maintenance")],
)
def test_a_word_alone_is_possible_at_most(word: str, decision: str) -> None:
    tale = Tale().labels(
        10, "example.net/for", word, annotation=True, actor="roller"
    )
    tale.cordons(11, "roller").pod(12, "EvictionByEvictionAPI").crashes(20)
    verdict = tale.verdict()
    assert decided(verdict)[0] == decision
    assert verdict.confidence is Confidence.POSSIBLE


def test_a_word_that_what_happened_bears_out_is_likely() -> None:
    tale = Tale().labels(
        10, "example.net/for", "update", annotation=True, actor="roller"
    )
    tale.cordons(11, "roller").crashes(20)
    tale.version(220, "os_image", "Some OS 1", "Some OS 2")
    verdict = tale.verdict()
    assert decided(verdict)[0] is Decision.OS_UPGRADE
    assert verdict.confidence is Confidence.LIKELY


@pytest.mark.parametrize("annotation", [True, False])
def test_a_word_of_who_empties_a_node_and_gives_it_back_is_likely(
    *, annotation: bool
) -> None:
    tale = Tale()
    key, state = "example.net/state", "in-maintenance"
    tale.labels(10, key, state, annotation=annotation, actor="roller")
    tale.cordons(11, "roller").pod(12, "EvictionByEvictionAPI").crashes(20)
    tale.labels(
        240, key, "ok", old=state, annotation=annotation, actor="roller"
    )
    verdict = tale.verdict()
    assert decided(verdict)[:2] == (Decision.HOST_MAINTENANCE, "roller")
    assert verdict.confidence is Confidence.LIKELY


@pytest.mark.parametrize(
    ("key", "by", "sure"),
    [
        ("example.net/reboot", "roller", True),
        ("example.net/reboot", "other", False),
        ("example.net/drain-timeout", "roller", False),
    ],
)
def test_a_program_that_says_reboot_and_gives_the_node_back_ordered_it(
    key: str, by: str, *, sure: bool
) -> None:
    tale = Tale().labels(10, key, "60", annotation=True, actor="roller")
    tale.cordons(11, "roller").pod(12, "EvictionByEvictionAPI").crashes(20)
    verdict = tale.uncordons(240, by).verdict()
    assert decided(verdict)[:2] == (Decision.ADMIN_REQUEST, "roller")
    assert (verdict.confidence is Confidence.LIKELY) is sure


def test_a_program_may_carry_out_what_an_unrecorded_author_said_first() -> (
    None
):
    tale = Tale().condition(9, "Pending", "True", "reboot", actor="curl")
    tale.labels(10, "example.net/state", "rebooting", actor="roller")
    tale.cordons(11, "roller").pod(12, "EvictionByEvictionAPI").crashes(20)
    verdict = tale.uncordons(240, "roller").verdict()
    assert verdict.confidence is Confidence.POSSIBLE


@pytest.mark.parametrize(
    ("spec", "sure"),
    [({}, True), ({"unschedulable": True}, False)],
)
def test_a_whole_node_that_is_written_uncordons_it_by_what_it_leaves_out(
    spec: dict[str, bool], *, sure: bool
) -> None:
    user, key = "system:serviceaccount:ops:roller", "example.net/reboot"
    tale = Tale().labels(10, key, "60", annotation=True, actor="roller")
    tale.cordons(11, "roller").pod(12, "EvictionByEvictionAPI").crashes(20)
    body = json.dumps({"kind": "Node", "spec": spec})
    tale.asks(240, user, "update", body).uncordons(240)
    assert (tale.verdict().confidence is Confidence.LIKELY) is sure


def test_a_program_that_says_drain_and_takes_it_back_need_not_reboot() -> None:
    key, by = "example.net/state", "roller"
    tale = Tale().labels(10, key, "Draining", annotation=True, actor=by)
    tale.cordons(11, by).pod(12, "EvictionByEvictionAPI").crashes(20)
    tale.labels(240, key, "Idle", old="Draining", annotation=True, actor=by)
    verdict = tale.uncordons(241, by).verdict()
    assert decided(verdict)[:2] == (Decision.ADMIN_REQUEST, by)
    assert verdict.confidence is Confidence.POSSIBLE


def test_what_a_key_says_of_the_past_is_no_order() -> None:
    key, why = "example.net/last-reboot-reason", "power-cycle by bmc"
    tale = Tale().labels(10, key, why, annotation=True, actor="agent")
    tale.cordons(11, "agent").crashes(20).uncordons(240, "agent")
    assert decided(tale.verdict()) == (None,)


@pytest.mark.parametrize(
    ("key", "value"),
    [("spot-check", "failed"), ("autoscaling-group", "two")],
)
def test_words_that_describe_a_node_do_not_say_why_it_is_removed(
    key: str, value: str
) -> None:
    tale = Tale().labels(10, f"example.net/{key}", value, actor="auditor")
    tale.cordons(12, "auditor")
    tale.add(15, FactKind.DELETION_REQUESTED, {}, actor="auditor")
    verdict = tale.vanishes(20).verdict()
    assert decided(verdict)[:2] == (Decision.NODE_DELETION, "auditor")


def test_another_word_after_the_effect_gives_nothing_back() -> None:
    tale = Tale()
    tale.labels(10, "example.net/state", "in-maintenance", actor="roller")
    tale.cordons(11, "roller").pod(12, "EvictionByEvictionAPI").crashes(20)
    tale.labels(
        240,
        "example.net/state",
        "maintenance-overdue",
        old="in-maintenance",
        actor="roller",
    )
    verdict = tale.verdict()
    assert decided(verdict)[0] is Decision.HOST_MAINTENANCE
    assert verdict.confidence is Confidence.POSSIBLE


GKE_LEAVES = "cloud.google.com/impending-node-termination"


@pytest.mark.parametrize(
    ("labels", "decision"),
    [
        ({}, Decision.HOST_MAINTENANCE),
        ({"cloud.google.com/gke-spot": "true"}, Decision.PREEMPTION),
        ({"cloud.google.com/gke-spot": "false"}, Decision.HOST_MAINTENANCE),
    ],
)
def test_labels_of_spot_machines_part_preemption_from_maintenance(
    labels: dict[str, str], decision: Decision
) -> None:
    tale = Tale().appears(0, "n2", labels=labels)
    tale.taints(10, GKE_LEAVES, node="n2").crashes(20, "n2")
    assert decided(tale.verdict("n2"))[0] is decision


def test_no_request_of_the_cluster_is_missing_of_what_a_cloud_decides() -> (
    None
):
    verdict = Tale().taints(10, GKE_LEAVES).crashes(20).verdict()
    assert verdict.confidence is Confidence.PROVEN
    assert "audit" not in {one.evidence for one in verdict.missing}


@pytest.mark.parametrize(
    ("provider", "by"),
    [
        ("aws:///z/i-1", "aws-node-termination-handler"),
        ("azure:///vm/1", "my-node-termination-handler"),
        ("openstack:///n2", "my-node-termination-handler"),
        ("lab://n2", "aws-node-termination-handler"),
        ("", "aws-node-termination-handler"),
    ],
)
def test_rules_of_another_cloud_say_nothing_of_a_machine(
    provider: str, by: str
) -> None:
    tale = Tale().appears(0, "n2", fields={"provider_id": provider})
    tale.cordons(10, "my-node-termination-handler", "n2")
    effect = tale.verdict("n2").effect
    assert effect.actor is not None
    assert effect.actor.name == by


@pytest.mark.parametrize(
    ("provider", "by", "said"),
    [
        ("", "fencer", False),
        ("kind://docker/n2", "fencer", False),
        ("azure:///vm/1", "fencer", True),
        ("", "custom-scheduledevents-plugin-monitor", True),
    ],
)
def test_a_common_reason_is_a_cloud_only_on_its_machines_or_by_its_word(
    provider: str, by: str, *, said: bool
) -> None:
    tale = Tale().appears(0, "n2", fields={"provider_id": provider})
    tale.event(10, by, "RebootScheduled", node="n2").crashes(20, "n2")
    found = tale.verdict("n2").decision
    is_cloud = found is not None and found.actor.name == "azure"
    assert is_cloud is said


def test_a_kubelet_that_changed_is_not_another_system() -> None:
    tale = Tale().cordons(11, "roller").crashes(20)
    tale.version(220, "kubelet_version", "1.33.1", "1.33.2")
    verdict = tale.uncordons(240, "roller").verdict()
    assert verdict.confidence is Confidence.POSSIBLE


@pytest.mark.parametrize(
    ("evicts", "new"),
    [(True, "1.33.2"), (True, None), (False, "1.33.2")],
)
def test_who_empties_a_node_before_its_kubelet_changes_upgrades_it(
    *, evicts: bool, new: str | None
) -> None:
    tale = Tale().cordons(11, "roller" if evicts else None)
    if evicts:
        tale.pod(12, "EvictionByEvictionAPI")
    tale.event(30, "kubelet", "Starting")
    if new is not None:
        tale.version(31, "kubelet_version", "1.33.1", new)
    verdict = tale.uncordons(40).verdict()
    upgraded = decided(verdict)[0] is Decision.OS_UPGRADE
    sure = verdict.confidence is Confidence.LIKELY
    assert (upgraded, sure) == (new is not None, evicts and new is not None)


@pytest.mark.parametrize(
    "said",
    ["failed to drain node: n1 after 1 hour", "unable to drain it", "drain"],
)
def test_what_could_not_be_done_is_no_order(said: str) -> None:
    tale = Tale().cordons(2, "roller")
    tale.labels(
        10, "example.net/reason", said, annotation=True, actor="roller"
    )
    tale.crashes(20)
    ordered = decided(tale.verdict()) != (None,)
    assert ordered is (said == "drain")


@pytest.mark.parametrize("cordoned", [True, False])
def test_a_word_about_a_group_of_machines_is_no_purpose(
    *, cordoned: bool
) -> None:
    tale = Tale().event(5, "maker", "Registered", "joined autoscaling group")
    if cordoned:
        tale.cordons(50, "maker")
    tale.add(60, FactKind.DELETION_REQUESTED, {}, actor="maker").vanishes(65)
    assert decided(tale.verdict())[0] is Decision.NODE_DELETION


def test_a_window_of_maintenance_is_not_yet_maintenance() -> None:
    tale = Tale().event(3, "roller", "Info", "maintenance window is Sunday")
    tale.cordons(6, "roller").pod(7, "EvictionByEvictionAPI").crashes(20)
    verdict = tale.uncordons(240, "roller").verdict()
    assert verdict.confidence is Confidence.POSSIBLE
