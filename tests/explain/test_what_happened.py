"""What happened: what a machine leaves behind decides, and dates it.

The word of a monitor alone proves nothing.
"""

import pytest
from msgspec.structs import replace

from recorder.model.fact import FactKind
from recorder.model.outcomes import Confidence, Decision, Fault
from tests.explain.history import a_pod
from tests.explain.tale import Tale, decided
from tests.support.builders import at


def test_a_claim_in_whole_seconds_bounds_by_the_end_of_its_second() -> None:
    tale = Tale().kubelet_starts(12.7, occurred=12)
    assert tale.verdict().not_after == at(12.7)


REFUSED = "dial tcp 127.0.0.1:5555: connect: connection refused"


def blinded(name: str, status: str, reason: str, message: str) -> Tale:
    return Tale().condition(10, name, status, reason, message, actor="watcher")


MONITORS = pytest.mark.parametrize(
    "condition",
    [
        ("AcceleratedHardwareReady", "False", "DCGMError", "no connection"),
        ("GPUHealthy", "False", "ProbeFailed", REFUSED),
        ("FleetGpuProblem", "True", "Probe", f"failed to connect: {REFUSED}"),
        ("FleetExporterDown", "True", "ProbeFailed", "it did not answer"),
    ],
)


@MONITORS
def test_a_monitor_that_is_blind_takes_no_node_away(
    condition: tuple[str, str, str, str],
) -> None:
    assert blinded(*condition).crashes(30).verdict().fault is None


@MONITORS
def test_a_controller_may_act_because_a_monitor_blinded(
    condition: tuple[str, str, str, str],
) -> None:
    verdict = blinded(*condition).cordons(20, "fixer").crashes(30).verdict()
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


def test_a_request_begins_nothing() -> None:
    tale = Tale().asks(
        10, "system:kube-scheduler", "create", resource="pods/binding"
    )
    verdict = tale.cordons(78, "kubectl-drain").verdicts()[-1]
    assert verdict.began_at == at(78)
