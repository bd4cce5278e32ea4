"""What an unknown program says that it does counts if it also does it."""

import pytest

from recorder.explain.verdict import Verdict
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
