"""Principles: structure decides what happened and who ordered it.

Words, the domain of a key, an order that came to nothing, decide nothing.
"""

import json

import msgspec
import pytest
from msgspec.structs import replace

from recorder.explain.verdict import Verdict
from recorder.model.fact import FactKind
from recorder.model.outcomes import Confidence, Decision, Fault, Happened
from recorder.model.reference import ObjectIdentity
from tests.explain.history import a_pod
from tests.explain.tale import Tale
from tests.support.builders import at

ASKED = "example.net/reboot"


def decided(verdict: Verdict) -> tuple[object, ...]:
    """Return what was decided, by whom, and who carried it out."""
    found = verdict.decision
    if found is None:
        return (None,)
    carrier = found.carried_out_by
    return found.decision, found.actor.name, carrier and carrier.name


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


@pytest.mark.parametrize("same", [True, False])
def test_a_kubelet_that_restarts_between_the_steps_of_one_hand_is_a_step(
    *, same: bool
) -> None:
    """Who drained the node undid it, once the kubelet ran again."""
    tale = Tale().cordons(10, "kubectl")
    tale.asks(10, "vera", "patch", '{"spec":{"unschedulable":true}}')
    tale.pod(12, "EvictionByEvictionAPI")
    tale.kubelet_starts(20).uncordons(25)
    who = "vera" if same else "walt"
    tale.asks(25, who, "patch", '{"spec":{"unschedulable":null}}')
    verdict = tale.verdict()
    assert decided(verdict)[:2] == (Decision.MANUAL_DRAIN, "vera")
    sure = Confidence.LIKELY if same else Confidence.POSSIBLE
    assert verdict.confidence is sure


def asked(*, emptied: bool) -> Tale:
    """A person asks by an annotation without a value, which is removed."""
    tale = Tale().labels(
        10, ASKED, "", annotation=True, actor="kubectl-annotate"
    )
    if emptied:
        tale.cordons(12, "drainer").pod(13, "EvictionByEvictionAPI")
    return tale.labels(18, ASKED, None, old="", annotation=True, actor="curl")


def test_who_empties_a_node_upon_an_order_carries_it_out() -> None:
    verdict = asked(emptied=True).crashes(20).verdict()
    assert decided(verdict) == (Decision.ADMIN_REQUEST, None, "drainer")


def test_an_order_that_is_removed_while_nothing_is_done_is_withdrawn() -> None:
    assert decided(asked(emptied=False).crashes(20).verdict()) == (None,)


def an_order(tale: Tale, phase: str) -> Tale:
    """A program orders by an object of its own, which ends in a phase."""
    order = ObjectIdentity("x.example.net", "NodeRepair", "", "r-1", "uid-r")
    made = {"created": True, "state": {"node": "n1"}}
    tale.add(10, FactKind.APPEARED, made, about=order, actor="fixer")
    ended = {"field": "phase", "old": "Accepted", "new": phase}
    return tale.add(
        15, FactKind.FIELD_CHANGED, ended, about=order, actor="fixer"
    )


@pytest.mark.parametrize("phase", ["Cancelled", "Aborted", "TimedOut"])
def test_an_order_that_came_to_nothing_explains_nothing(phase: str) -> None:
    assert decided(an_order(Tale(), phase).crashes(20).verdict()) == (None,)


def test_an_order_that_is_under_way_explains_what_it_says() -> None:
    verdict = an_order(Tale(), "Rebooting").crashes(20).verdict()
    assert decided(verdict)[:2] == (Decision.AUTO_REMEDIATION, "fixer")


def test_an_order_holds_though_two_others_fight_over_the_cordon() -> None:
    tale = Tale()
    tale.labels(10, ASKED, "bad DIMM", annotation=True, actor="kubectl")
    tale.asks(10, "dora", "patch", json.dumps({"annotations": {ASKED: ""}}))
    tale.cordons(11, "kubectl")
    tale.asks(11, "dora", "patch", '{"spec":{"unschedulable":true}}')
    tale.pod(12, "EvictionByEvictionAPI")
    tale.asks(12, "dora", "create", resource="pods", subresource="eviction")
    tale.uncordons(20, "broker").cordons(25, "keeper").crashes(30)
    rebooted = [v for v in tale.verdicts() if v.happened is Happened.REBOOT]
    assert [decided(v)[:2] for v in rebooted] == [
        (Decision.ADMIN_REQUEST, "dora")
    ]


@pytest.mark.parametrize(
    ("command", "by"),
    [
        ("chroot /host systemctl reboot", "dora"),
        ("nsenter --target 1 --mount -- /sbin/reboot", "dora"),
        ("sh -c echo b > /proc/sysrq-trigger", "dora"),
        ("watcher --reboot-sentinel=/var/run/reboot-required", None),
        ("sleep 60", None),
    ],
)
def test_a_command_that_takes_the_machine_down_has_an_author(
    command: str, by: str | None
) -> None:
    state = {"node": "n1", "fields": {"host_command": command}}
    tale = Tale().add(
        10,
        FactKind.APPEARED,
        {"created": True, "state": state},
        about=a_pod("shell"),
    )
    asked = tale.asks(10, "dora", "create", resource="pods", code=201)
    asked.facts[-1] = msgspec.structs.replace(
        asked.facts[-1],
        fact=msgspec.structs.replace(
            asked.facts[-1].fact, object=a_pod("shell")
        ),
    )
    found = tale.crashes(20).verdict().decision
    assert (found and found.actor.name) == by


def test_who_restarts_a_kubelet_by_a_command_is_named() -> None:
    state = {
        "node": "n1",
        "fields": {"host_command": "nsenter -t 1 systemctl restart kubelet"},
    }
    tale = Tale().add(
        10,
        FactKind.APPEARED,
        {"created": True, "state": state},
        about=a_pod("shell"),
        actor="erin-tool",
    )
    verdict = tale.kubelet_starts(12, occurred=12).verdict()
    assert verdict.happened is Happened.KUBELET_RESTART
    assert decided(verdict)[:2] == (Decision.ADMIN_REQUEST, "erin-tool")
    assert verdict.fault is None


def test_a_program_that_lets_go_of_a_lost_node_had_it_rebooted() -> None:
    """Its work in a cloud is not recorded: it ended before the boot."""
    tale = Tale().silent(40, renewed=10).lost(40)
    tale.cordons(43, "healer").uncordons(45, "healer")
    tale.boots(60).kubelet_starts(60).ready(61)
    verdict = tale.verdict()
    assert decided(verdict)[:2] == (Decision.AUTO_REMEDIATION, "healer")
    assert verdict.confidence is Confidence.LIKELY


def test_a_program_that_holds_a_lost_node_until_it_is_back_did_nothing() -> (
    None
):
    tale = Tale().silent(40, renewed=10).lost(40)
    tale.cordons(43, "healer").boots(60).kubelet_starts(60).ready(61)
    assert tale.uncordons(65, "healer").verdict().decision is None


def test_a_claim_in_whole_seconds_bounds_by_the_end_of_its_second() -> None:
    tale = Tale().kubelet_starts(12.7, occurred=12)
    assert tale.verdict().not_after == at(12.7)


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


@pytest.mark.parametrize(
    ("provider", "by"),
    [
        ("aws:///z/i-1", "aws-node-termination-handler"),
        ("azure:///vm/1", "my-node-termination-handler"),
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


@pytest.mark.parametrize("after", [60, 3000])
def test_a_late_act_that_names_no_fault_answers_it_by_time_alone(
    after: float,
) -> None:
    tale = Tale().condition(5, "NTPProblem", "True", actor="detector")
    tale.cordons(5 + after, "roller").crashes(20 + after)
    verdict = tale.uncordons(240 + after, "roller").verdict()
    assert decided(verdict)[:2] == (Decision.AUTO_REMEDIATION, "roller")
    proven = verdict.confidence is Confidence.PROVEN
    assert proven is (after < 600)


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


def dcgm_lost(tale: Tale) -> Tale:
    return tale.condition(
        10, "AcceleratedHardwareReady", "False", "DCGMError", "no connection",
        actor="eks-node-monitoring-agent",
    )  # fmt: skip


def test_a_monitor_that_is_blind_takes_no_node_away() -> None:
    assert dcgm_lost(Tale()).crashes(30).verdict().fault is None


def test_a_controller_may_act_because_a_monitor_is_blind() -> None:
    tale = dcgm_lost(Tale()).cordons(20, "fixer").crashes(30)
    verdict = tale.verdict()
    assert verdict.fault is not None
    assert verdict.fault.fault is Fault.MONITORING
    assert decided(verdict)[:2] == (Decision.AUTO_REMEDIATION, "fixer")


def refused(tale: Tale, message: str) -> Tale:
    """A kubelet rejects a Pod for which it has no device."""
    ended = {
        "phase": "Failed",
        "reason": "UnexpectedAdmissionError",
        "message": f"Pod was rejected: Allocate failed due to {message}",
    }
    return tale.add(10, FactKind.ENDED, ended, about=a_pod("llm-0"))


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("nvml: GPU is lost, which is unexpected", Fault.GPU),
        ("no healthy devices present", None),
    ],
)
def test_pods_that_a_kubelet_refused_say_what_broke(
    message: str, fault: Fault | None
) -> None:
    found = refused(Tale(), message).verdicts()
    said = [v.fault.fault if v.fault else None for v in found]
    assert said == ([fault] if fault else [])


def test_who_had_a_shell_on_a_machine_that_went_is_possible() -> None:
    """What was done there is not recorded."""
    shown = {
        "created": True,
        "state": {
            "node": "n1",
            "labels": {"app.kubernetes.io/managed-by": "kubectl-debug"},
        },
    }
    tale = Tale().add(
        10, FactKind.APPEARED, shown, about=a_pod("node-debugger-n1-x")
    )
    verdict = tale.crashes(20).verdict()
    assert decided(verdict)[0] is Decision.ADMIN_REQUEST
    assert verdict.confidence is Confidence.POSSIBLE


def test_a_change_is_not_dated_before_the_version_that_it_changed() -> None:
    """A machine that boots without a clock reports a time long ago."""
    tale = Tale().silent(6000, renewed=5950).lost(6000)
    tale.boots(6200).kubelet_starts(6200)
    ready = {"type": "Ready", "old": {"status": "Unknown"}}
    ready |= {"new": {"status": "True", "reason": "KubeletReady"}}
    tale.add(
        6201, FactKind.CONDITION_CHANGED, ready, actor="kubelet", occurred=3400
    )
    verdict = tale.verdict()
    assert [step.at for step in verdict.steps] == sorted(
        step.at for step in verdict.steps
    )
    assert verdict.steps[0].at > at(5000)


@pytest.mark.parametrize("events_first", [False, True])
@pytest.mark.parametrize("broke", [200, 380])
def test_what_a_list_shows_is_dated_by_the_listed_events(
    broke: float, *, events_first: bool
) -> None:
    """A gap hid a boot, and a fault before or after it."""
    tale = Tale("n1", "n2").gap(110, 400)
    bad = {"type": "KernelDeadlock", "old": {"status": "False"}}
    bad |= {"new": {"status": "True", "reason": "DockerHung"}}
    said = "Node n1 has been rebooted, boot id: boot-2"

    def report() -> None:
        tale.event(400, "kubelet", "Rebooted", said, occurred=250)

    if events_first:
        report()
    tale.boots(400).add(400, FactKind.CONDITION_CHANGED, bad, occurred=broke)
    shown = tale.facts[-2].entry
    tale.facts[-1] = replace(tale.facts[-1], entry=shown, index=1)
    if not events_first:
        report()
    verdict = tale.verdict()
    found = verdict.fault and verdict.fault.fault
    assert found is (Fault.HUNG_KERNEL if broke < 250 else None)
    assert verdict.confidence in {Confidence.UNKNOWN, Confidence.POSSIBLE}
    assert "rebooted at 03:04:11" in verdict.sentence


@pytest.mark.parametrize(("found", "panicked"), [(262, True), (40, False)])
def test_a_dump_is_found_after_the_boot_that_listed_events_date(
    found: float, *, panicked: bool
) -> None:
    tale = Tale("n1", "n2").gap(110, 400).boots(400)
    said = "Node n1 has been rebooted, boot id: boot-2"
    tale.event(400, "kubelet", "Rebooted", said, occurred=250)
    tale.event(400, "gpud", "kernel_panic", occurred=found)
    assert (tale.verdict().fault is not None) is panicked


def test_what_others_write_after_a_listed_loss_shows_no_old_state() -> None:
    """Audit went on in a gap of the watch; a list shows the loss before."""
    tale = Tale("n1", "n2").gap(110, 400).asks(300, "alice", "patch")
    lost = {"type": "Ready", "old": {"status": "True"}}
    lost |= {"new": {"status": "Unknown", "reason": "NodeStatusUnknown"}}
    tale.add(400, FactKind.CONDITION_CHANGED, lost, occurred=160)
    verdict = tale.verdict()
    assert verdict.not_before is None or verdict.not_before <= at(161)


def test_machines_that_boot_into_one_boot_id_are_one_machine() -> None:
    tale = Tale("n1", "n2", "n3")
    for node in ("n1", "n2"):
        tale.lost(50, node).boots(200, node, new="boot-9").ready(210, node)
    because = {r.cause: r.because for r in tale.verdict("n1").rivals}
    assert "n2 booted with the same boot ID" in because["power-loss"]


def test_another_system_is_reported_where_no_request_is_known() -> None:
    tale = Tale().event(
        10, "kubelet", "Shutdown", "Shutdown manager detected shutdown event"
    )
    tale.crashes(20).version(220, "os_image", "Some OS 1", "Some OS 2")
    verdict = tale.verdict()
    assert "with os image: Some OS 1 -> Some OS 2" in verdict.sentence
    assert "not recorded" in verdict.sentence
    assert verdict.cause == "os-upgrade"
    assert verdict.confidence is Confidence.LIKELY
    assert any("Some OS 2" in step.says for step in verdict.steps)


def test_what_shut_down_in_order_did_not_panic_or_lose_power() -> None:
    tale = Tale("n1", "n2", "n3", racks={"n1": "a", "n2": "a", "n3": "b"})
    for node in ("n1", "n2"):
        tale.event(
            10,
            "kubelet",
            "Shutdown",
            "Shutdown manager detected shutdown event",
            node=node,
        )
    for node in ("n1", "n2"):
        tale.crashes(20, node)
    tale.facts.sort(key=lambda fact: fact.observed_at)
    tale.event(300, "abrt-adaptor", "VMcore")
    verdict = tale.verdict("n1")
    assert verdict.fault is None
    assert verdict.mode == "planned"
    excluded = {one.cause for one in verdict.rivals if one.excluded}
    assert {"kernel-panic", "power-loss"} <= excluded
    assert {one.evidence for one in verdict.missing} <= {"audit", "leases"}


def test_the_word_of_a_monitor_alone_is_never_proven() -> None:
    tale = Tale().condition(10, "KernelDeadlock", "True", actor="npd")
    assert tale.verdict().confidence is Confidence.LIKELY
    tale.taints(12, "KernelDeadlock", actor="keeper").cordons(12, "keeper")
    assert tale.verdict().confidence is Confidence.PROVEN


def test_a_cause_is_proven_only_if_every_other_one_is_excluded() -> None:
    tale = Tale().condition(10, "KernelDeadlock", "True", actor="npd")
    tale.cordons(12, "kubectl-cordon").pod(13, "EvictionByEvictionAPI")
    verdict = tale.verdict()
    assert any(not rival.excluded for rival in verdict.rivals)
    assert verdict.confidence is not Confidence.PROVEN


CORDON_BODY = '{"spec":{"unschedulable":true}}'


def evicts(tale: Tale, seconds: float, user: str, code: int) -> Tale:
    """Add a request to evict a Pod of the node."""
    tale.audited = True
    asked = {"verb": "create", "resource": "pods", "subresource": "eviction"}
    return tale.add(
        seconds,
        FactKind.REQUESTED,
        {**asked, "name": "pod-1", "code": code, "user": user},
        about=a_pod("pod-1"),
        actor=user,
        occurred=seconds,
    )


def test_who_took_over_a_drain_that_was_given_up_is_named() -> None:
    tale = Tale().cordons(10, "kubectl-cordon")
    tale.asks(10, "alice", "patch", CORDON_BODY)
    evicts(evicts(tale, 12, "alice", 429), 17, "alice", 429)
    evicts(tale, 300, "bob", 201).pod(300, "EvictionByEvictionAPI")
    verdict = tale.crashes(310).verdict()
    assert decided(verdict)[:2] == (Decision.MANUAL_DRAIN, "bob")
    assert verdict.confidence is Confidence.LIKELY


@pytest.mark.parametrize("undone", [True, False])
def test_a_cordon_that_only_audit_shows_is_one(*, undone: bool) -> None:
    """What was done and undone in a gap is in no version of the Node."""
    tale = Tale().gap(9, 40).asks(10, "alice", "patch", CORDON_BODY)
    tale.asks(20, "system:node:n1", "create", code=409)
    if undone:
        body = '{"spec":{"unschedulable":null}}'
        tale.asks(30, "alice", "patch", body)
    verdict = tale.boots(40).verdict()
    assert bool(verdict.decision) is undone
    assert verdict.confidence in {Confidence.POSSIBLE, Confidence.UNKNOWN}


def test_a_drain_that_was_refused_is_no_more_than_possible() -> None:
    tale = Tale().cordons(10, "kubectl-cordon")
    tale.asks(10, "alice", "patch", CORDON_BODY)
    verdict = evicts(tale, 12, "alice", 429).crashes(30).verdict()
    assert verdict.confidence is Confidence.POSSIBLE


def test_a_cordon_alone_is_not_called_a_drain() -> None:
    verdict = Tale().cordons(10, "kubectl-cordon").crashes(20).verdict()
    assert (
        "possibly after someone using kubectl-cordon cordoned it"
        in verdict.sentence
    )


ROBOT = "system:serviceaccount:ops:robot"


@pytest.mark.parametrize(
    ("user", "acted_as", "actor", "words"),
    [
        (ROBOT, "alice", "alice", "alice through robot"),
        ("alice", "oncall", "alice", "alice"),
        ("alice", ROBOT, "alice", "alice"),
    ],
)
def test_who_acts_as_another_is_named(
    user: str, acted_as: str, actor: str, words: str
) -> None:
    tale = Tale().cordons(10, "kubectl-cordon")
    detail = {"verb": "patch", "resource": "nodes", "name": "n1", "code": 200}
    tale.audited = True
    tale.add(
        10,
        FactKind.REQUESTED,
        {**detail, "body": CORDON_BODY, "user": user, "as": acted_as},
        actor=actor,
        occurred=10,
    )
    verdict = tale.pod(11, "EvictionByEvictionAPI").crashes(20).verdict()
    assert decided(verdict)[1] == actor
    assert f"after {words} drained it" in verdict.sentence


@pytest.mark.parametrize("by", ["kubectl-patch", "keeper"])
def test_a_request_that_is_withdrawn_explains_nothing(by: str) -> None:
    tale = Tale().condition(10, "RebootWanted", "True", "now", actor=by)
    tale.cordons(11, "keeper")
    tale.condition(
        20, "RebootWanted", "False", "Cancelled", was="True", actor=by
    )
    tale.uncordons(21, "keeper").crashes(30)
    rebooted = [v for v in tale.verdicts() if v.happened is Happened.REBOOT]
    assert [decided(verdict) for verdict in rebooted] == [(None,)]


def test_an_order_that_an_earlier_boot_carried_out_is_spent() -> None:
    tale = Tale().labels(10, "x.io/state", "rebooting", actor="keeper")
    tale.cordons(11, "keeper").boots(30).ready(31)
    tale.boots(60, old="boot-2", new="boot-3")
    assert [decided(v)[1:2] for v in tale.verdicts()] == [("keeper",), ()]


def test_who_deletes_a_request_of_a_program_withdraws_it() -> None:
    order = ObjectIdentity("x.example.net", "NodeRepair", "", "r-1", "uid-r")
    made = {"created": True, "state": {"node": "n1"}}
    tale = Tale().add(10, FactKind.APPEARED, made, about=order, actor="fixer")
    tale.add(15, FactKind.DELETION_REQUESTED, {}, about=order)
    tale.add(15, FactKind.VANISHED, {"state": {}}, about=order)
    assert decided(tale.crashes(25).verdict()) == (None,)


def test_a_request_begins_nothing() -> None:
    tale = Tale().asks(
        10, "system:kube-scheduler", "create", resource="pods/binding"
    )
    verdict = tale.cordons(78, "kubectl-drain").verdicts()[-1]
    assert verdict.began_at == at(78)


@pytest.mark.parametrize(
    ("phase", "decision"),
    [("Pending", None), ("Running", Decision.ADMIN_REQUEST)],
)
def test_the_command_of_a_pod_that_never_ran_did_nothing(
    phase: str, decision: Decision | None
) -> None:
    fields = {"host_command": "chroot /host systemctl reboot"}
    made = {"created": True, "state": {"node": "n1", "fields": fields}}
    gone = {"state": {"node": "n1", "fields": {**fields, "phase": phase}}}
    tale = Tale().add(10, FactKind.APPEARED, made, about=a_pod("shell"))
    tale.add(12, FactKind.VANISHED, gone, about=a_pod("shell"))
    assert decided(tale.crashes(60).verdict())[0] is decision
