"""What an unknown program says that it does counts if it also does it."""

import pytest

from recorder.explain.verdict import Verdict
from recorder.model.fact import FactKind
from recorder.model.reference import ObjectIdentity
from tests.explain.tale import Tale

REQUESTED = "ops.example.com/reboot-requested"
STATE = "ops.example.com/state"


def decided(verdict: Verdict) -> tuple[object, ...]:
    """Return what was decided, by whom, carried out by whom, how surely."""
    decided = verdict.decision
    if decided is None:
        return (None,)
    carrier = decided.carried_out_by
    return (
        decided.decision,
        decided.actor.name,
        carrier and carrier.name,
        decided.confidence,
    )


def marked(actor: str, *, taken_back: bool, changed: bool) -> Tale:
    """A node is marked, reboots, and the mark is taken back."""
    tale = Tale().labels(10, STATE, "rebooting", actor=actor).crashes(20)
    if changed:
        tale.version(220, "kernel_version", "6.8.0-87", "6.8.0-88")
    if taken_back:
        tale.labels(240, STATE, None, old="rebooting")
    return tale


def test_a_program_that_marks_a_node_and_unmarks_it_upgraded_it() -> None:
    done = marked("roller", taken_back=True, changed=True).verdict()
    assert decided(done) == ("os-upgrade", "roller", None, "likely")
    assert done.mode == "planned"


def test_a_program_reboots_a_node_without_a_reason() -> None:
    done = marked("roller", taken_back=True, changed=False).verdict()
    assert decided(done) == ("admin-request", "roller", None, "possible")


def test_words_of_a_program_alone_lead_to_nothing() -> None:
    tale = marked("roller", taken_back=False, changed=True)
    assert decided(tale.verdict()) == (None,)


def test_what_a_person_asked_for_just_before_is_possible() -> None:
    tale = marked("kubectl-label", taken_back=False, changed=True)
    assert decided(tale.verdict())[::3] == ("admin-request", "possible")


@pytest.mark.parametrize(
    "value", ["false", "done", "pending", "scheduled", "never", "disabled"]
)
def test_what_is_off_or_for_some_day_is_no_order(value: str) -> None:
    tale = Tale().labels(10, "example.com/reboot", value, actor="roller")
    tale.crashes(20).labels(240, "example.com/reboot", None, old=value)
    assert decided(tale.verdict()) == (None,)


def test_whom_a_program_quotes_asked_for_it() -> None:
    tale = Tale().labels(
        10, REQUESTED, "new nic", annotation=True, actor="kubectl-annotate"
    )
    tale.cordons(12, "rebootd")
    message = f"rebooting n1 as requested by {REQUESTED}"
    verdict = tale.event(13, "rebootd", "Started", message).crashes(20)
    assert decided(verdict.verdict()) == (
        "admin-request", None, "rebootd", "likely",
    )  # fmt: skip


def test_who_says_so_emptied_a_node_that_another_had_cordoned() -> None:
    tale = Tale().cordons(10, "kubectl-cordon")
    tale.condition(20, "NVMeTimeout", "True", actor="a-detector")
    message = "NVMeTimeout=True for 4s: drain and reboot"
    tale.event(24, "sentinel", "RemediationStarted", message)
    verdict = tale.pod(24.1, "EvictionByEvictionAPI").crashes(30).verdict()
    assert decided(verdict) == ("auto-remediation", "sentinel", None, "likely")
    assert verdict.fault is not None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("no-reboot", "true"),
        ("drain-skip", "true"),
        ("state", "not-rebooting"),
        ("last-operation", "reboot"),
        ("battery", "maintenance-free"),
    ],
)
def test_what_is_denied_or_past_is_no_order_and_no_purpose(
    key: str, value: str
) -> None:
    key = f"ops.example.com/{key}"
    tale = Tale().labels(10, key, value, actor="roller")
    tale.cordons(11, "roller").crashes(20)
    tale.labels(240, key, None, old=value, actor="roller")
    assert decided(tale.uncordons(241, "roller").verdict()) == (None,)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("reboot-required", "reboot"),
        ("action", "power-cycle"),
        ("step", "last pod evicted, rebooting"),
    ],
)
def test_a_value_that_is_an_act_states_it(key: str, value: str) -> None:
    tale = Tale().labels(10, f"ops.example.com/{key}", value, actor="roller")
    tale.cordons(11, "roller").crashes(20)
    verdict = tale.uncordons(240, "roller").verdict()
    assert decided(verdict) == ("admin-request", "roller", None, "likely")


def test_who_evicts_by_a_taint_and_says_reboot_ordered_it() -> None:
    taint = "ops.example.com/hold", "NoExecute"
    tale = Tale().labels(10, STATE, "power-cycle", actor="roller")
    tale.taints(11, *taint, actor="roller").pod(12, "DeletionByTaintManager")
    tale.crashes(20).taints(240, *taint, actor="roller", off=True)
    assert decided(tale.verdict())[:2] == ("admin-request", "roller")


def test_who_then_says_that_it_reboots_took_over_from_a_person() -> None:
    tale = Tale().cordons(5, "kubectl-cordon")
    tale.asks(5, "alice", "patch", '{"spec":{"unschedulable":true}}')
    tale.pod(6, "EvictionByEvictionAPI")
    tale.labels(60, STATE, "rebooting", actor="roller").crashes(70)
    tale.labels(300, STATE, None, old="rebooting", actor="roller")
    done = decided(tale.verdict())
    assert done == ("admin-request", "roller", None, "possible")


def test_who_then_says_that_it_reboots_took_over_from_a_program() -> None:
    tale = Tale().condition(5, "FanStopped", "True", actor="a-detector")
    tale.cordons(7, "keeper").taints(7, "FanStopped", actor="keeper")
    tale.labels(10, STATE, "rebooting", actor="roller").crashes(20)
    done = decided(tale.labels(240, STATE, None, actor="roller").verdict())
    assert done[:2] == ("auto-remediation", "roller")


def test_who_asked_again_after_an_order_was_withdrawn_is_named() -> None:
    tale = Tale()
    for seconds, who in ((10, "alice"), (60, "bob")):
        tale.labels(seconds, REQUESTED, None, old="now")
        tale.labels(seconds + 1, REQUESTED, "now", actor="kubectl-label")
        body = f'{{"labels":"{REQUESTED}"}}'
        tale.asks(seconds + 1, who, "patch", body)
    tale.cordons(62, "roller").crashes(70)
    tale.labels(290, REQUESTED, None, old="now", actor="roller")
    assert decided(tale.verdict())[:2] == ("admin-request", "bob")


def test_who_requested_the_deletion_of_a_node_also_removed_it() -> None:
    tale = Tale().event(5, "maker", "Registered", "joined autoscaling group a")
    tale.add(60, FactKind.DELETION_REQUESTED, {}, actor="maker").vanishes(65)
    assert decided(tale.verdict())[1] == "maker"


def test_an_object_that_reboots_it_took_over_from_who_announced_a_drain() -> (
    None
):
    about = ObjectIdentity("power.example.com", "PowerCycle", "", "n1-7", None)
    tale = Tale().condition(5, "KernelDeadlock", "True", actor="a-detector")
    tale.event(7, "draino", "CordonStarting", "Cordoning node")
    tale.cordons(7, "draino")
    made = {"created": True, "state": {"nodeName": "n1", "action": "reboot"}}
    tale.add(10, FactKind.APPEARED, made, about=about)
    phase = {"field": "phase", "old": None, "new": "Running"}
    tale.add(11, FactKind.FIELD_CHANGED, phase, about=about, actor="cycler")
    assert decided(tale.crashes(20).verdict())[:2] == (
        "auto-remediation",
        None,
    )
