"""Structure gives the answer: rules add names and classes.

Each tale is about software that no rule names.
"""

import json

from recorder.explain.knowledge import Knowledge
from recorder.explain.verdict import Verdict
from recorder.model.fact import FactKind
from recorder.model.reference import ObjectIdentity
from tests.explain.tale import Tale
from tests.explain.test_marked import decided

NO_RULES = Knowledge(())

TICKET = ObjectIdentity("ops.example.com", "Ticket", "", "t-1", "uid-t")
MACHINE = ObjectIdentity("ops.example.com", "Machine", "", "m-1", "uid-m")


def unruled(tale: Tale) -> Verdict:
    return tale.verdicts(knowledge=NO_RULES)[-1]


def asks_about(
    tale: Tale, seconds: float, user: str, verb: str, thing: ObjectIdentity
) -> Tale:
    """Add a request about an object."""
    detail = {"verb": verb, "user": user, "code": 200, "name": thing.name}
    tale.audited = True
    return tale.add(
        seconds,
        FactKind.REQUESTED,
        {**detail, "resource": f"{thing.kind.lower()}s"},
        about=thing,
        actor=user,
        occurred=seconds,
    )


def test_a_condition_set_by_a_person_is_an_order_and_no_fault() -> None:
    said = {"type": "PendingState", "reason": "out-for-reboot"}
    body = json.dumps({"status": {"conditions": [said]}})
    tale = Tale().condition(
        10, "PendingState", "True", said["reason"], actor="kubectl-patch"
    )
    tale.asks(10, "alice", "patch", body, subresource="status")
    tale.cordons(12, "keeper").pod(13, "EvictionByEvictionAPI")
    tale.labels(14, "example.com/doing", said["reason"], actor="keeper")
    verdict = unruled(tale.crashes(20))
    assert verdict.fault is None
    assert decided(verdict) == ("admin-request", "alice", "keeper", "likely")


def test_the_condition_of_a_program_that_acts_is_not_its_reason() -> None:
    tale = Tale().condition(10, "KeeperState", "True", actor="keeper")
    tale.cordons(12, "keeper").taints(12, "KeeperState", actor="keeper")
    assert unruled(tale.crashes(20)).fault is None


def test_the_condition_of_a_program_that_reports_is_the_reason() -> None:
    tale = Tale().condition(10, "FanStopped", "True", actor="a-detector")
    tale.cordons(12, "keeper").taints(12, "FanStopped", actor="keeper")
    verdict = unruled(tale.crashes(20))
    assert verdict.fault is not None
    assert decided(verdict)[:2] == ("auto-remediation", "keeper")


def test_who_creates_an_object_decided_what_a_program_does_for_it() -> None:
    made = {"created": True, "state": {"node": "n1"}}
    phase = {"field": "phase", "old": None, "new": "Running"}
    tale = Tale().add(10, FactKind.APPEARED, made, about=TICKET)
    asks_about(tale, 10, "alice", "create", TICKET)
    tale.add(11, FactKind.FIELD_CHANGED, phase, about=TICKET, actor="keeper")
    tale.cordons(12, "keeper").pod(13, "EvictionByEvictionAPI")
    tale.labels(14, "example.com/state", "rebooting", actor="keeper")
    verdict = unruled(tale.crashes(20))
    assert decided(verdict)[:3] == ("admin-request", "alice", "keeper")


def test_who_deletes_the_machine_decided_that_the_node_is_removed() -> None:
    phase = {"field": "phase", "old": "Running", "new": "Deleting"}
    tale = Tale().add(10, FactKind.DELETION_REQUESTED, {}, about=MACHINE)
    asks_about(tale, 10, "alice", "delete", MACHINE)
    tale.add(11, FactKind.FIELD_CHANGED, phase, about=MACHINE, actor="maker")
    tale.taints(12, "example.com/leaving", actor="maker")
    tale.add(13, FactKind.DELETION_REQUESTED, {}, actor="maker")
    verdict = unruled(tale.vanishes(20))
    assert decided(verdict)[:3] == ("node-deletion", "alice", "maker")


def test_who_deletes_a_machine_without_a_phase_decided_as_well() -> None:
    tale = Tale().add(10, FactKind.DELETION_REQUESTED, {}, about=MACHINE)
    asks_about(tale, 10, "alice", "delete", MACHINE)
    tale.cordons(11, "maker").pod(12, "EvictionByEvictionAPI")
    tale.add(13, FactKind.DELETION_REQUESTED, {}, actor="maker")
    verdict = unruled(tale.vanishes(20))
    # Of the object and of the Node, only the times are close.
    assert decided(verdict) == ("node-deletion", "alice", "maker", "likely")


def test_who_deletes_a_machine_after_its_node_decided_nothing() -> None:
    tale = Tale().cordons(11, "maker").pod(12, "EvictionByEvictionAPI")
    tale.add(13, FactKind.DELETION_REQUESTED, {}, actor="maker")
    tale.add(15, FactKind.DELETION_REQUESTED, {}, about=MACHINE)
    asks_about(tale, 15, "alice", "delete", MACHINE)
    verdict = unruled(tale.vanishes(20))
    assert decided(verdict)[1] == "maker"


def test_what_removes_a_node_long_after_its_machine_decided_itself() -> None:
    tale = Tale().taints(5, "example.com/old", actor="watcher")
    tale.add(10, FactKind.DELETION_REQUESTED, {}, about=MACHINE)
    asks_about(tale, 10, "alice", "delete", MACHINE)
    tale.cordons(200, "maker").pod(201, "EvictionByEvictionAPI")
    tale.add(203, FactKind.DELETION_REQUESTED, {}, actor="maker")
    verdict = unruled(tale.vanishes(220))
    assert decided(verdict)[:3] == ("node-deletion", "maker", None)


def test_a_program_that_emptied_a_node_changed_its_system() -> None:
    tale = Tale().cordons(10, "kubectl-cordon")
    tale.asks(10, "alice", "patch", '{"spec":{"unschedulable":true}}')
    tale.asks(60, "system:serviceaccount:a:roller", "create", node="pod-1")
    tale.pod(60, "EvictionByEvictionAPI").crashes(70)
    verdict = unruled(tale.version(280, "kernel_version", "6.8", "6.9"))
    assert decided(verdict)[:1] == ("os-upgrade",)


def test_a_user_whose_client_has_its_name_is_a_program() -> None:
    tale = Tale().condition(10, "FanStopped", "True", actor="a-detector")
    tale.cordons(12, "keeper")
    body = '{"spec":{"unschedulable":true}}'
    tale.asks(12, "keeper", "patch", body, user_agent="keeper/1.0 (linux)")
    tale.taints(12, "FanStopped", actor="keeper")
    verdict = unruled(tale.crashes(20))
    assert decided(verdict)[:2] == ("auto-remediation", "keeper")
    assert verdict.decision is not None
    assert verdict.decision.actor.kind == "controller"


def test_a_report_that_no_act_names_is_a_possible_reason() -> None:
    tale = Tale().condition(10, "FanStopped", "True", actor="a-detector")
    tale.cordons(15, "keeper").pod(16, "EvictionByEvictionAPI")
    verdict = unruled(tale.crashes(20))
    assert verdict.fault is not None
    assert decided(verdict)[::3] == ("auto-remediation", "possible")


def test_a_good_report_is_no_reason() -> None:
    tale = Tale().condition(10, "FanReady", "True", actor="a-detector")
    tale.cordons(15, "keeper").pod(16, "EvictionByEvictionAPI")
    assert unruled(tale.crashes(20)).fault is None


def test_a_reason_of_its_own_precedes_a_report_that_nothing_names() -> None:
    tale = Tale().condition(10, "FanStopped", "True", actor="a-detector")
    tale.cordons(15, "shrinker")
    tale.event(16, "shrinker", "ScaleDown", "node is underutilized")
    tale.add(17, FactKind.DELETION_REQUESTED, {}, actor="shrinker")
    verdict = unruled(tale.vanishes(20))
    assert decided(verdict)[:2] == ("scale-down", "shrinker")
    assert verdict.fault is None


def test_what_a_program_says_precedes_what_its_steps_show() -> None:
    tale = Tale().condition(10, "FanStopped", "True", actor="a-detector")
    tale.cordons(15, "shrinker").taints(15, "FanStopped", actor="shrinker")
    tale.event(16, "shrinker", "ScaleDown", "node is underutilized")
    tale.add(17, FactKind.DELETION_REQUESTED, {}, actor="shrinker")
    verdict = unruled(tale.vanishes(20))
    assert decided(verdict)[:1] == ("scale-down",)


def test_a_purpose_that_its_words_do_not_say_is_possible() -> None:
    tale = Tale().condition(10, "FanStopped", "True", actor="a-detector")
    tale.cordons(15, "keeper").taints(15, "FanStopped", actor="keeper")
    tale.event(16, "keeper", "Started", "host maintenance")
    verdict = unruled(tale.crashes(20))
    assert decided(verdict)[::3] == ("host-maintenance", "possible")


def test_a_label_for_later_is_an_order_once_a_program_uses_its_key() -> None:
    tale = Tale().labels(10, "example.com/health", "PendingReboot")
    body = '{"metadata":{"labels":{"example.com/health":"PendingReboot"}}}'
    tale.asks(10, "alice", "patch", body)
    tale.taints(15, "example.com/health", actor="keeper")
    verdict = unruled(tale.crashes(20))
    assert decided(verdict) == ("admin-request", "alice", "keeper", "likely")


def test_a_label_for_later_that_no_program_uses_orders_nothing() -> None:
    tale = Tale().labels(10, "example.com/health", "PendingReboot")
    body = '{"metadata":{"labels":{"example.com/health":"PendingReboot"}}}'
    tale.asks(10, "alice", "patch", body)
    tale.taints(15, "example.com/other", actor="keeper")
    assert unruled(tale.crashes(20)).cause == "unrecorded"


def test_who_cordoned_hours_before_may_have_taken_it_down() -> None:
    tale = Tale().cordons(10, "kubectl-cordon").crashes(10_000)
    assert unruled(tale).mode == "unknown"


def test_a_reboot_that_was_just_announced_may_be_planned() -> None:
    tale = Tale().event(100, "agent", "Notice", "Reboot scheduled for 10:05")
    assert unruled(tale.crashes(110)).mode == "unknown"
    tale = Tale().event(100, "agent", "Notice", "Reboot scheduled for 10:05")
    assert unruled(tale.crashes(700)).mode == "abrupt"
