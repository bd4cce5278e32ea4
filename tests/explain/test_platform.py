"""What the platform itself reports: kubelets, monitors, and its own objects.

Its words and changes explain what happened even if no controller has rules.
"""

import pytest

from recorder.explain.verdict import Verdict
from recorder.model.fact import FactKind
from recorder.model.outcomes import (
    Confidence,
    Decision,
    Fault,
    Happened,
    Mode,
)
from recorder.model.reference import ObjectIdentity
from tests.explain.history import a_pod
from tests.explain.tale import Tale
from tests.support.builders import at

NO_NETWORK = (
    "container runtime network not ready: NetworkReady=false"
    " reason:NetworkPluginNotReady message:Network plugin returns error:"
    " cni plugin not initialized"
)

STUCK = (
    "PLEG is not healthy: pleg was last seen active 3m5.9s ago; "
    "threshold is 3m0s"
)


def broken(verdict: Verdict) -> Fault | None:
    return None if verdict.fault is None else verdict.fault.fault


def not_ready(tale: Tale, seconds: float, message: str) -> Tale:
    return tale.condition(
        seconds, "Ready", "False", "KubeletNotReady", message,
        was="True", actor="kubelet",
    )  # fmt: skip


def test_a_kubelet_that_is_not_ready_reports_what_it_waits_for() -> None:
    verdict = not_ready(Tale(), 100, NO_NETWORK).verdict()
    assert broken(verdict) is Fault.OTHER
    assert "cni plugin not initialized" in verdict.sentence
    assert verdict.confidence is Confidence.LIKELY


def test_a_kubelet_reports_in_one_sentence_that_it_waits() -> None:
    verdict = not_ready(Tale(), 100, STUCK).verdict()
    assert broken(verdict) is Fault.RUNTIME


def test_a_part_that_a_kubelet_waited_for_is_possible_for_a_loss() -> None:
    verdict = not_ready(Tale(), 10, NO_NETWORK).crashes(30).verdict()
    assert broken(verdict) is Fault.OTHER
    assert verdict.confidence is Confidence.POSSIBLE


@pytest.mark.parametrize(
    "message",
    [
        "node is shutting down",
        "[PLEG is not healthy: pleg has yet to be successful]",
        f"[runtime status check may not have completed yet, {STUCK}]",
    ],
)
def test_a_kubelet_that_starts_or_stops_reports_nothing_broken(
    message: str,
) -> None:
    assert broken(not_ready(Tale(), 100, message).verdict()) is None


@pytest.mark.parametrize("was", ["True", "Unknown"])
def test_what_a_kubelet_waits_for_as_it_starts_broke_nothing(was: str) -> None:
    tale = Tale().lost(50).boots(200)
    tale.condition(201, "Ready", "False", "", NO_NETWORK, was=was)
    again = tale.boots(240, old="boot-2", new="boot-3").ready(250).verdicts()
    assert [broken(verdict) for verdict in again] == [None, None]


def test_a_monitor_that_names_what_broke_precedes_the_kubelet() -> None:
    tale = Tale().condition(5, "KernelDeadlock", "True", "DockerHung")
    verdict = not_ready(tale, 10, "PLEG is not healthy").crashes(30).verdict()
    assert broken(verdict) is Fault.HUNG_KERNEL


def test_a_controller_may_act_because_a_kubelet_is_not_ready() -> None:
    tale = not_ready(Tale(), 10, NO_NETWORK).cordons(400, "fixer")
    verdict = tale.crashes(420).verdict()
    assert verdict.decision is not None
    assert verdict.decision.decision is Decision.AUTO_REMEDIATION
    assert broken(verdict) is Fault.OTHER


@pytest.mark.parametrize(
    ("reason", "message", "fault"),
    [
        ("KernelPanicPreviousBoot", "", Fault.KERNEL_PANIC),
        ("PrevBootPanic", "", Fault.KERNEL_PANIC),
        (
            "PreviousBootCrash",
            "kernel panic - not syncing",
            Fault.KERNEL_PANIC,
        ),
        ("PreviousBootLog", "is kept in /var/log", None),
        ("KernelPanic", "", None),
    ],
)
def test_an_event_about_the_boot_before_explains_that_boot(
    reason: str, message: str, fault: Fault | None
) -> None:
    tale = Tale().crashes(100).event(320, "boot-log-reader", reason, message)
    verdict = tale.verdict()
    assert broken(verdict) is fault
    assert verdict.happened is Happened.REBOOT
    assert verdict.confidence is not Confidence.PROVEN


def refuses(tale: Tale, seconds: float, message: str) -> Tale:
    """Let the kubelet refuse a Pod for which it has no device."""
    reason = "UnexpectedAdmissionError"
    ended = {"phase": "Failed", "reason": reason, "message": message}
    pod = a_pod(f"llm-{seconds}")
    return tale.add(seconds, FactKind.ENDED, ended, about=pod)


def test_what_a_kubelet_refuses_again_and_again_is_still_broken() -> None:
    tale = Tale()
    for seconds in range(10, 700, 60):
        refuses(tale, seconds, "Pod was rejected: nvml: GPU is lost")
    verdict = tale.cordons(900, "kubectl-cordon").crashes(1200).verdict()
    assert verdict.happened is Happened.REBOOT
    assert broken(verdict) is Fault.GPU


def test_a_container_that_met_its_limit_made_no_node_unready() -> None:
    tale = not_ready(Tale(), 100, NO_NETWORK).container_ends(220, "OOMKilled")
    verdict = tale.verdict()
    assert verdict.at == at(100)
    assert broken(verdict) is Fault.OTHER


def test_a_kubelet_of_another_version_did_not_fail() -> None:
    tale = Tale().kubelet_starts(100)
    tale.version(100, "kubelet_version", "v1.30.1", "v1.31.2")
    verdict = tale.verdict()
    assert verdict.happened is Happened.KUBELET_RESTART
    assert broken(verdict) is None
    assert "kubelet version: v1.30.1 -> v1.31.2" in verdict.sentence
    assert verdict.mode is Mode.UNKNOWN


def test_a_machine_that_boots_another_kernel_perhaps_was_updated() -> None:
    tale = Tale().crashes(100).version(300, "kernel_version", "5.15", "5.16")
    verdict = tale.verdict()
    assert "5.15 -> 5.16: perhaps for an update" in verdict.sentence
    assert verdict.mode is Mode.UNKNOWN


def unexplained(verdict: Verdict) -> list[str]:
    """Return the reports whose meaning is not known."""
    end = ": reported, meaning not known"
    said = [r.because for r in verdict.rivals if r.because.endswith(end)]
    return [text.partition(" ")[0].rstrip(":") for text in said]


def test_what_is_reported_without_a_rule_is_named() -> None:
    tale = Tale().condition(10, "FrobStuck", "True", "Stuck", was="False")
    tale.event(15, "frob", "FrobLost", "no frob", type="Warning")
    tale.event(16, "frob", "FrobCount", "2 frobs", type="Normal")
    verdict = tale.crashes(30).verdict()
    assert broken(verdict) is None
    assert unexplained(verdict) == ["FrobStuck=True", "FrobLost"]


@pytest.mark.parametrize("named", [True, False])
def test_an_event_about_a_condition_with_a_rule_is_no_other_report(
    *, named: bool
) -> None:
    name = "VMEventScheduled"
    tale = Tale("n1", "n2").condition(10, name, "True", "Freeze Scheduled")
    said = f"Node condition {name} is now: True" if named else "no frob"
    tale.event(10, "frob", "FrobLost", said, type="Warning")
    verdict = tale.crashes(30).verdict()
    assert verdict.decision is not None
    assert unexplained(verdict) == ([] if named else ["FrobLost"])


def test_what_became_of_an_object_of_the_node_is_named() -> None:
    state = ObjectIdentity("example.net", "NodeInfo", "", "n1", "uid-i")
    tale = Tale().add(
        10, FactKind.FIELD_CHANGED,
        {"field": "state", "old": "Idle", "new": "Broken"}, about=state,
    )  # fmt: skip
    said = {"reason": "FabricLost", "message": "no fabric", "count": 1}
    tale.add(12, FactKind.EVENT, said, about=state, actor="fabric-agent")
    assert len(unexplained(tale.crashes(30).verdict())) == 2


def test_what_was_reported_and_taken_back_is_not_named() -> None:
    tale = Tale().condition(10, "FrobStuck", "True", "Stuck", was="False")
    tale.condition(20, "FrobStuck", "False", "Fine", was="True").crashes(30)
    assert unexplained(tale.verdict()) == []


def refused(code: int, user: str = "") -> Tale:
    """Let the API server refuse requests of a kubelet until it is lost."""
    tale = Tale()
    for seconds in (100, 110, 120):
        tale.asks(
            seconds, user, "patch", subresource="status", code=code,
            user_agent="kubelet/v1.30.1 (linux/amd64)",
        )  # fmt: skip
    return tale.silent(150, renewed=95).lost(150)


def test_a_kubelet_whose_credentials_are_refused_is_not_cut_off() -> None:
    verdict = refused(401).ready(300).verdict()
    assert verdict.happened is Happened.UNREACHABLE
    assert broken(verdict) is Fault.KUBELET
    assert verdict.confidence is Confidence.LIKELY
    assert "401" in verdict.sentence


def test_a_request_that_conflicts_shows_a_kubelet_that_runs() -> None:
    verdict = refused(409, "system:node:n1").ready(300).verdict()
    assert broken(verdict) is not Fault.KUBELET


def test_a_refused_request_alone_is_no_incident() -> None:
    tale = Tale().asks(100, "", "patch", code=401, user_agent="kubelet/v1.30")
    assert tale.verdicts() == []


def not_ready_at(seconds: float, *, listed: float) -> Tale:
    """Let a list show that the node was declared lost for some seconds."""
    tale = Tale().silent(5, renewed=5)
    tale.event(
        listed, "node-controller", "NodeNotReady", occurred=seconds
    ).event(listed, "kubelet", "NodeReady", occurred=seconds + 8)
    return tale.silent(listed + 20, renewed=listed + 20)


def test_a_loss_in_a_gap_is_shown_by_the_events_of_a_list() -> None:
    verdict = not_ready_at(30, listed=100).verdict()
    assert verdict.happened is Happened.UNREACHABLE
    assert verdict.at == at(30)
    assert verdict.fault is None


def test_a_gap_over_a_loss_excludes_no_outage_of_the_control_plane() -> None:
    tale = Tale("n1", "n2").gap(20, 100).silent(5, renewed=5)
    tale.event(100, "node-controller", "NodeNotReady", occurred=30)
    tale.event(100, "kubelet", "NodeReady", occurred=38)
    outage = {r.cause: r.excluded for r in tale.verdict().rivals}
    assert outage["control-plane-outage"] is False


def test_an_event_that_comes_at_once_shows_no_loss_alone() -> None:
    assert not_ready_at(99, listed=100).verdicts() == []


def test_an_event_about_a_recorded_loss_shows_no_other() -> None:
    tale = Tale().silent(50, renewed=20).lost(50).ready(90)
    tale.event(200, "node-controller", "NodeNotReady", occurred=50)
    assert len(tale.verdicts()) == 1


HOST = ObjectIdentity("metal3.io", "BareMetalHost", "metal", "n1", "uid-h")
ASKED = "reboot.metal3.io"


def host_is_asked(*, audited: bool = False) -> Tale:
    """A person asks for a reboot by an annotation of the bare machine."""
    key = {"key": ASKED}
    tale = Tale().add(
        10, FactKind.ANNOTATION_CHANGED, {**key, "old": None, "new": ""},
        about=HOST, actor="kubectl-annotate",
    )  # fmt: skip
    if audited:
        request = {"verb": "patch", "body": ASKED, "code": 200, "user": "dora"}
        request |= {"resource": "baremetalhosts", "namespace": "metal"}
        tale.audited = True
        tale.add(
            10, FactKind.REQUESTED, request,
            about=HOST, actor="dora", occurred=10,
        )  # fmt: skip
    return tale.crashes(20).add(
        225, FactKind.ANNOTATION_CHANGED, {**key, "old": "", "new": None},
        about=HOST, actor="baremetal-operator",
    )  # fmt: skip


@pytest.mark.parametrize(("audited", "who"), [(False, None), (True, "dora")])
def test_who_asks_by_an_object_of_the_node_decided(
    who: str | None, *, audited: bool
) -> None:
    decided = host_is_asked(audited=audited).verdict().decision
    assert decided is not None
    assert decided.decision is Decision.ADMIN_REQUEST
    assert decided.actor.name == who


@pytest.mark.parametrize("name", ["KernelDeadlocked", "CPUSoftLockup"])
def test_a_condition_of_any_monitor_may_name_a_hung_kernel(name: str) -> None:
    verdict = Tale().condition(10, name, "True").crashes(30).verdict()
    assert broken(verdict) is Fault.HUNG_KERNEL
    assert verdict.confidence is Confidence.LIKELY


@pytest.mark.parametrize(
    ("code", "fault"), [(79, Fault.GPU), (74, Fault.LINK)]
)
def test_a_condition_of_any_monitor_is_read_by_the_code_of_the_driver(
    code: int, fault: Fault
) -> None:
    said = f"NVRM: Xid (PCI:0000:b3:00): {code}, pid=1"
    tale = Tale().condition(10, "NodeXidError", "True", "Seen", message=said)
    assert broken(tale.verdict()) is fault
