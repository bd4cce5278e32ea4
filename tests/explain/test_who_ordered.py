"""Who ordered what happened: what was done decides.

An order that came to nothing explains nothing.
"""

import json

import msgspec
import pytest

from recorder.model.fact import FactKind
from recorder.model.outcomes import Confidence, Decision, Happened
from recorder.model.reference import ObjectIdentity
from tests.explain.history import a_pod
from tests.explain.tale import Tale, decided

ASKED = "example.net/reboot"


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


@pytest.mark.parametrize(
    "phase",
    ["Cancelled", "Aborted", "TimedOut", "Expired", "DeadlineExceeded"],
)
def test_an_order_that_came_to_nothing_explains_nothing(phase: str) -> None:
    assert decided(an_order(Tale(), phase).crashes(20).verdict()) == (None,)


def test_an_order_that_is_said_to_be_cancelled_is_withdrawn() -> None:
    tale, by = Tale(), "kubectl-annotate"
    tale.labels(10, ASKED, "asked", annotation=True, actor=by)
    tale.labels(15, ASKED, "off", old="asked", annotation=True, actor=by)
    tale.labels(16, ASKED, "asked", old="off", annotation=True, actor=by)
    tale.labels(17, ASKED, "cancelled", old="asked", annotation=True, actor=by)
    assert decided(tale.crashes(20).verdict()) == (None,)


@pytest.mark.parametrize("kind", ["FenceNode", "NodeTask"])
def test_who_asks_by_an_object_of_any_kind_decided(kind: str) -> None:
    """Its program works on it, and empties and gives back the node."""
    order = ObjectIdentity("x.example.net", kind, "ops", "for-n1", "uid-o")
    made = {"created": True, "state": {"node": "n1"}}
    tale = Tale().add(
        10, FactKind.APPEARED, made, about=order, actor="kubectl-create"
    )
    tale.asks(10, "dora", "create", resource="tasks", code=201)
    about = msgspec.structs.replace(tale.facts[-1].fact, object=order)
    tale.facts[-1] = msgspec.structs.replace(tale.facts[-1], fact=about)
    phase = {"field": "phase", "old": None, "new": "Running"}
    tale.add(11, FactKind.FIELD_CHANGED, phase, about=order, actor="keeper")
    tale.cordons(12, "keeper").pod(13, "EvictionByEvictionAPI").crashes(20)
    for given_back in (False, True):
        if given_back:
            tale.uncordons(240, "keeper")
        verdict = tale.verdict()
        found = Decision.ADMIN_REQUEST, "dora", "keeper"
        assert decided(verdict) == found
        assert (verdict.confidence is Confidence.LIKELY) is given_back


@pytest.mark.parametrize("given_back", [False, True])
def test_a_cordon_before_a_crash_proves_no_reboot(*, given_back: bool) -> None:
    tale = Tale().condition(5, "KernelDeadlock", "True", actor="detector")
    tale.cordons(10, "healer").crashes(20)
    if given_back:
        tale.uncordons(240, "healer")
    verdict = tale.verdict()
    assert decided(verdict)[:2] == (Decision.AUTO_REMEDIATION, "healer")
    assert (verdict.confidence is Confidence.PROVEN) is given_back


def test_a_program_that_plans_a_reboot_and_empties_the_node_ordered_it() -> (
    None
):
    tale = Tale().labels(10, "x.io/state", "Reboot_Required", actor="daemon")
    tale.cordons(12, "daemon").pod(13, "EvictionByEvictionAPI").crashes(20)
    verdict = tale.uncordons(240, "daemon").verdict()
    assert decided(verdict)[:2] == (Decision.ADMIN_REQUEST, "daemon")


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


def test_who_made_a_pod_ordered_what_it_does_and_not_who_bound_it() -> None:
    tale, pod = Tale(), a_pod("shell")
    for after, user, sub in ((10, "dora", None), (11, "binder", "binding")):
        tale.asks(after, user, "create", resource="pods", subresource=sub)
        asked = tale.facts[-1]
        about = msgspec.structs.replace(asked.fact, object=pod)
        tale.facts[-1] = msgspec.structs.replace(asked, fact=about)
    acts = {"field": "host_command", "old": None, "new": "nsenter reboot"}
    tale.add(11, FactKind.FIELD_CHANGED, acts, about=pod, actor="kubectl-run")
    assert decided(tale.crashes(20).verdict())[:2] == (
        Decision.ADMIN_REQUEST,
        "dora",
    )


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


ROLLER = "system:serviceaccount:ops:roller"


@pytest.mark.parametrize(
    ("evictor", "by"), [("alice", "alice"), ("bob", "bob"), (ROLLER, "alice")]
)
def test_who_emptied_a_node_that_another_cordoned_drained_it(
    evictor: str, by: str
) -> None:
    tale = Tale().cordons(10, "kubectl-cordon")
    tale.asks(10, "alice", "patch", CORDON_BODY)
    evicts(tale, 12, "alice", 429)
    evicts(tale, 300, evictor, 201).pod(300, "EvictionByEvictionAPI")
    verdict = tale.verdict()
    assert verdict.happened is Happened.DRAINED
    assert decided(verdict)[:2] == (Decision.MANUAL_DRAIN, by)
    assert (verdict.confidence is Confidence.PROVEN) is (by == "alice")


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


@pytest.mark.parametrize(
    ("ran", "decision"), [(False, None), (True, Decision.ADMIN_REQUEST)]
)
def test_the_command_of_a_pod_that_never_ran_did_nothing(
    *, ran: bool, decision: Decision | None
) -> None:
    field, command = "host_command", "chroot /host systemctl reboot"
    fields = {field: command}
    made = {"created": True, "state": {"node": "n1", "fields": fields}}
    tale = Tale().add(10, FactKind.APPEARED, made, about=a_pod("shell"))
    tale.add(12, FactKind.VANISHED, {"state": {}}, about=a_pod("shell"))
    if not ran:
        none = {"field": field, "old": command, "new": None}
        tale.add(12, FactKind.FIELD_CHANGED, none, about=a_pod("shell"))
    assert decided(tale.crashes(60).verdict())[0] is decision


@pytest.mark.parametrize(
    ("renewed", "order"), [(12, Decision.ADMIN_REQUEST), (40, None)]
)
def test_a_program_removes_an_order_to_a_machine_that_it_carried_out(
    renewed: float, order: Decision | None
) -> None:
    """Metal3 does so once the power is off, before the node is missed."""
    host = ObjectIdentity("metal3.io", "BareMetalHost", "m", "n1", "uid-h")
    key, asked = "reboot.metal3.io", '{"mode":"hard"}'
    kind, tale = FactKind.ANNOTATION_CHANGED, Tale()
    made = {"key": key, "old": None, "new": asked}
    gone = {"key": key, "old": asked, "new": None}
    tale.add(10, kind, made, about=host, actor="kubectl-annotate")
    tale.add(35, kind, gone, about=host, actor="manager")
    tale.silent(60, renewed=renewed).lost(60).boots(150).kubelet_starts(150)
    rebooted = [v for v in tale.verdicts() if v.happened is Happened.REBOOT]
    assert [decided(v)[0] for v in rebooted] == [order]


@pytest.mark.parametrize(
    ("asks", "takes_up", "by"),
    [
        ("up.example.net/reboot-needed", "up.example.net/reboot-ok", True),
        ("up.example.net/reboot-needed", "up.example.com/reboot-ok", False),
        ("up.example.net/reboot-needed", "up.example.net/healthy", False),
        ("up.kubernetes.io/reboot-needed", "up.kubernetes.io/reboot", False),
        ("example.net/layout", "example.net/layout.reboot", True),
        ("example.net/layout", "example.net/layouts.reboot", False),
        ("example.net/layout", "example.net/reboot", False),
    ],
)
def test_a_program_that_takes_up_a_key_acts_for_its_author(
    asks: str, takes_up: str, *, by: bool
) -> None:
    tale = Tale().labels(10, asks, "true", annotation=True, actor="kubectl")
    tale.asks(10, "dora", "patch", json.dumps({"annotations": {asks: ""}}))
    tale.labels(12, takes_up, "true", annotation=True, actor="updater")
    tale.cordons(13, "updater").crashes(20)
    verdict = tale.uncordons(240, "updater").verdict()
    found = decided(verdict)[1:]
    assert (found == ("dora", "updater")) is by


@pytest.mark.parametrize("emptied", [True, False])
def test_a_program_for_whose_plan_another_empties_the_node_reboots_it(
    *, emptied: bool
) -> None:
    """Its own reset of the plan after any reboot shows nothing."""
    tale = Tale().labels(
        10, "x.example.net/state", "Reboot_Required", actor="daemon"
    )
    if emptied:
        tale.cordons(12, "drainer").pod(13, "EvictionByEvictionAPI")
    tale.crashes(20).labels(
        240, "x.example.net/state", "Idle", old="Reboot_Required",
        actor="daemon",
    )  # fmt: skip
    verdict = tale.uncordons(241, "drainer").verdict()
    found = verdict.decision
    assert (found and found.actor.name) == ("daemon" if emptied else None)
    if found is not None:
        assert found.confidence is Confidence.POSSIBLE


@pytest.mark.parametrize("said", ["drain completed", "reboot succeeded"])
def test_what_a_program_has_done_is_no_order(said: str) -> None:
    tale = Tale().event(10, "daemon", "Controller", f"node {said}")
    tale.crashes(20).event(240, "daemon", "Controller", "node is back")
    assert decided(tale.verdict()) == (None,)


@pytest.mark.parametrize("reporters", [1, 2])
def test_who_reports_a_taint_by_its_key_is_its_author(reporters: int) -> None:
    key = "example.net/storage-unhealthy"
    tale = Tale().pod_runs(1, "llm-0", "n1")
    tale.condition(9, "StorageHealthy", "False", was="True", actor="probe")
    tale.taints(10, key, "NoExecute", actor="manager")
    said = f"Taint '{key}:NoExecute' added by rule 'storage'"
    for number in range(reporters):
        tale.event(10, f"ruler-{number}", "TaintAdded", said)
    verdict = tale.pod(11, "DeletionByTaintManager", name="llm-0").verdict()
    found = verdict.decision
    assert found is not None
    assert found.actor.name == ("ruler-0" if reporters == 1 else None)


def test_a_weak_link_of_another_does_not_weaken_a_path() -> None:
    """A program that only announced a repair had no part in it."""
    tale = Tale().event(5, "draino", "CordonStarting", "Cordoning node")
    tale.cordons(6, "draino")
    tale.event(7, "draino", "DrainStarting", "Draining node")
    key = "ToBeDeletedByClusterAutoscaler"
    tale.taints(600, key, actor="cluster-autoscaler")
    tale.event(601, "cluster-autoscaler", "ScaleDown", "marked toBeDeleted")
    verdict = tale.silent(670, renewed=610).lost(670).vanishes(700).verdict()
    assert decided(verdict)[:2] == (Decision.SCALE_DOWN, "cluster-autoscaler")
    assert verdict.confidence is not Confidence.POSSIBLE
