"""What belongs together, what does not, and what a verdict is worth."""

from random import Random

import pytest

from recorder.explain.verdict import Verdict
from recorder.facts.projections import NodeState
from recorder.model.outcomes import Confidence, Decision, Fault
from recorder.model.state import Condition
from tests.explain.tale import Tale
from tests.explain.test_traps import decision, fault
from tests.support.builders import at

DETECTOR = "node-problem-detector"
DAY = 86_400
REBOOTED = "Node n1 has been rebooted, boot id: "


def test_evidence_of_one_reboot_never_serves_another() -> None:
    tale = Tale("n1", "n2")
    tale.condition(10, "KernelDeadlock", "True", actor=DETECTOR)
    tale.made(12, "janitor.dgxc.nvidia.com", "RebootNode").crashes(20)
    tale.condition(240, "KernelDeadlock", "False", was="True").crashes(400)
    first, second = tale.verdicts()
    assert fault(first) is Fault.HUNG_KERNEL
    assert decision(first) is Decision.AUTO_REMEDIATION
    assert (second.fault, second.decision) == (None, None)
    assert second.mode == "abrupt"
    positions = [
        {e.sign.position for e in v.evidence} for v in tale.verdicts()
    ]
    assert not positions[0] & positions[1]


def test_what_breaks_between_two_reboots_explains_the_second() -> None:
    tale = Tale("n1", "n2").crashes(20)
    tale.condition(400, "KernelDeadlock", "True", actor=DETECTOR).crashes(420)
    first, second = tale.verdicts()
    assert first.fault is None
    assert fault(second) is Fault.HUNG_KERNEL


@pytest.mark.parametrize("ended", [True, False])
def test_of_repeated_boots_the_first_cause_stays_until_it_ends(
    *, ended: bool
) -> None:
    tale = Tale("n1", "n2")
    tale.condition(10, "KernelDeadlock", "True", actor=DETECTOR).crashes(20)
    if ended:
        tale.condition(240, "KernelDeadlock", "False", was="True")
    _, second = tale.crashes(300).verdicts()
    assert fault(second) is (None if ended else Fault.HUNG_KERNEL)
    assert second.confidence in {Confidence.UNKNOWN, Confidence.POSSIBLE}


def test_what_is_still_said_long_after_a_boot_holds_still() -> None:
    tale = Tale("n1", "n2")
    tale.condition(10, "GpuMemWatch", "True").crashes(20)
    tale.cordons(1800, "fault-quarantine")
    _, second = tale.pod(1801, "EvictionByEvictionAPI").verdicts()
    assert second.happened == "drained"


def test_a_proof_of_a_panic_goes_to_the_boot_before_it() -> None:
    tale = Tale("n1", "n2").crashes(10).crashes(1000)
    tale.event(1240, "gpud", "kernel_panic")
    first, second = tale.verdicts()
    assert first.fault is None
    assert fault(second) is Fault.KERNEL_PANIC


def verdict_after(days: float, *, drained: bool = False) -> Verdict:
    tale = Tale("n1", "n2").cordons(10, "kubectl")
    if drained:
        tale.pod(11, "EvictionByEvictionAPI")
    return tale.crashes(days * DAY).verdict()


def test_a_cordon_of_days_ago_planned_no_crash() -> None:
    verdict = verdict_after(3, drained=True)
    assert (verdict.happened, verdict.mode) == ("reboot", "unknown")
    assert verdict.confidence == "possible"
    still_open = {r.cause for r in verdict.rivals if not r.excluded}
    assert still_open == {"kernel-panic", "power-loss"}


def test_a_drain_just_before_a_reboot_planned_it() -> None:
    verdict = verdict_after(0.01, drained=True)
    assert (verdict.mode, verdict.confidence) == ("planned", "likely")
    assert verdict_after(0.01).confidence == "possible"


def test_a_controller_that_cordoned_days_ago_decided_no_crash() -> None:
    tale = Tale("n1", "n2").cordons(10, "kured").crashes(3 * DAY)
    assert tale.verdict().decision is None
    tale = Tale("n1", "n2").condition(5, "KernelDeadlock", "True")
    verdict = tale.cordons(10, "draino").crashes(3 * DAY).verdict()
    assert (verdict.mode, verdict.confidence) == ("unknown", "possible")


def test_a_remediation_that_waits_for_hours_is_still_one() -> None:
    nlcc = "node-lifecycle-controller"
    tale = Tale("n1", "n2").condition(10, "KernelDeadlock", "True")
    tale.cordons(30, nlcc)
    tale.condition(40, "PendingPhaseState", "True", actor=nlcc)
    tale.condition(14_400, "NLCCImmediateReboot", "True", actor=nlcc)
    verdict = tale.crashes(14_410).uncordons(15_000, nlcc).verdict()
    assert fault(verdict) is Fault.HUNG_KERNEL
    assert decision(verdict) is Decision.AUTO_REMEDIATION
    assert (verdict.mode, verdict.confidence) == ("planned", "proven")


def test_a_fault_of_days_ago_is_no_more_than_a_possible_cause() -> None:
    tale = Tale("n1", "n2").condition(5, "GpuMemWatch", "True")
    assert tale.crashes(3 * DAY).verdict().confidence == "possible"


def test_a_fault_that_lasted_for_weeks_is_no_reason_for_a_drain() -> None:
    tale = Tale().condition(5, "NTPProblem", "True")
    verdict = tale.cordons(14 * DAY, "kubectl").verdict()
    assert verdict.cause == "manual-drain"


def test_a_fault_that_lasts_for_weeks_hides_no_second_happening() -> None:
    tale = Tale("n1", "n2").condition(5, "NTPProblem", "True").crashes(DAY)
    tale.cordons(2 * DAY, "kubectl").pod(2 * DAY, "EvictionByEvictionAPI")
    assert [v.happened for v in tale.verdicts()] == ["reboot", "drained"]


def test_an_event_explains_what_follows_at_once() -> None:
    near = Tale("n1", "n2").event(5, "kernel-monitor", "TaskHung").crashes(35)
    assert near.verdict().confidence == "likely"
    far = Tale("n1", "n2").event(5, "kernel-monitor", "IOError").crashes(305)
    assert far.verdict().confidence == "possible"


def test_a_notice_of_next_week_explains_no_crash_today() -> None:
    key = "cloud.google.com/scheduled-maintenance-time"
    due = int(at(7 * DAY).timestamp())
    tale = Tale("n1", "n2").labels(5, key, str(due))
    assert tale.crashes(5000).verdict().decision is None
    due = int(at(5000).timestamp())
    tale = Tale("n1", "n2").labels(5, key, str(due))
    assert decision(tale.crashes(5000).verdict()) is Decision.HOST_MAINTENANCE


@pytest.mark.parametrize("planned", [True, False])
def test_a_gap_takes_away_from_confidence_and_mode(*, planned: bool) -> None:
    def verdict_of(*, gap: bool) -> Verdict:
        tale = Tale("n1", "n2")
        if planned:
            tale.locks(5).cordons(6, "kured")
        tale.crashes(10)
        return (tale.gap(20, 150) if gap else tale).verdict()

    whole, holed = verdict_of(gap=False), verdict_of(gap=True)
    if planned:
        assert (whole.confidence, holed.confidence) == ("proven", "likely")
        assert whole.mode == holed.mode == "planned"
    else:
        assert (whole.mode, holed.mode) == ("abrupt", "unknown")


def test_a_gap_elsewhere_takes_nothing_away() -> None:
    tale = Tale("n1", "n2").gap(1, 4).crashes(10).gap(500, 600)
    assert tale.verdict().mode == "abrupt"


@pytest.mark.parametrize("named", ["boot-9", "boot-1"])
def test_an_event_against_the_boot_id_is_shown_and_not_settled(
    named: str,
) -> None:
    tale = Tale("n1", "n2")
    verdict = tale.event(
        600, "kubelet", "Rebooted", REBOOTED + named
    ).verdict()
    assert verdict.happened == "kubelet-restart"
    assert verdict.confidence == "possible"
    (against,) = verdict.contradictions
    assert against.entry == verdict.effect.stored.entry
    assert ("still boot-1" in against.but) == (named == "boot-1")
    (rival,) = [r for r in verdict.rivals if r.cause == "reboot"]
    assert not rival.excluded


def test_an_event_against_the_boot_id_is_shown_for_an_outage_too() -> None:
    tale = Tale("n1", "n2").lost(60)
    tale.event(200, "kubelet", "Rebooted", REBOOTED + "boot-9").ready(210)
    verdict = tale.verdict()
    assert verdict.happened == "kubelet-restart"
    assert verdict.contradictions
    assert verdict.confidence == "possible"


def test_an_event_about_the_boot_that_was_seen_contradicts_nothing() -> None:
    tale = Tale("n1", "n2").crashes(10)
    tale.event(211, "kubelet", "Rebooted", REBOOTED + "boot-2")
    late = tale.event(
        900, "kubelet", "Rebooted", REBOOTED + "boot-2", occurred=210
    )
    assert not late.verdict().contradictions


def test_a_boot_that_only_an_event_shows_is_reported() -> None:
    tale = Tale("n1", "n2").gap(20, 390)
    tale.event(400, "kubelet", "Rebooted", REBOOTED + "boot-2", occurred=200)
    verdict = tale.boots(400, new="boot-3").verdict()
    assert verdict.happened == "reboot"
    assert "boot-2" in verdict.contradictions[0].but


@pytest.mark.parametrize("events_first", [True, False])
def test_after_a_gap_events_may_be_listed_before_nodes_or_long_after(
    *,
    events_first: bool,
) -> None:
    tale = Tale("n1", "n2").gap(10, 300)
    if not events_first:
        tale.boots(302)
    seen = 301 if events_first else 390
    tale.kubelet_starts(seen, occurred=200)
    tale.event(seen, "kubelet", "Rebooted", REBOOTED + "boot-2", occurred=200)
    if events_first:
        tale.boots(302)
    verdict = tale.verdict()
    assert verdict.happened == "reboot"
    assert not verdict.contradictions


OUTAGE = NodeState(
    present=True,
    uid="uid-n1",
    boot_id="boot-1",
    conditions={"Ready": Condition("Unknown")},
)


def test_a_window_may_begin_in_the_middle_of_an_outage() -> None:
    tale = Tale()
    tale.facts.clear()
    verdict = (
        tale.boots(100).kubelet_starts(100).ready(110).verdict(base=OUTAGE)
    )
    assert verdict.happened == "reboot"
    assert verdict.boot_id_before == "boot-1"
    assert verdict.back_in_service_at == at(110)


def test_a_window_that_sees_only_the_heal_has_nothing_new() -> None:
    tale = Tale()
    tale.facts.clear()
    tale.event(100, "kubelet", "Rebooted", REBOOTED + "boot-1").ready(110)
    assert tale.verdicts(base=OUTAGE) == []


def test_a_node_that_never_comes_back_is_never_in_service() -> None:
    verdict = Tale("n1", "n2").silent(60, renewed=10).lost(60).verdict()
    assert verdict.happened == "unreachable"
    assert verdict.back_in_service_at is None
    assert verdict.cause == "unrecorded"


def test_a_standing_taint_says_who_may_come_not_that_none_may() -> None:
    taint = {"key": "dedicated", "value": "llm", "effect": "NoSchedule"}
    tale = Tale("n1").appears(1, "n2", taints=[taint]).crashes(10, "n2")
    assert tale.verdict("n2").back_in_service_at == at(220)


def test_a_healthy_node_that_is_deleted_is_reported() -> None:
    tale = Tale().vanishes(10).event(11, "node-controller", "RemovingNode")
    assert tale.verdict().happened == "removed"


def test_a_shutdown_in_order_was_planned() -> None:
    tale = Tale().event(10, "kubelet", "Shutdown", "detected shutdown event")
    tale.condition(
        10, "Ready", "False", "", "node is shutting down", was="True"
    )
    verdict = tale.boots(100).ready(110, was="False").verdict()
    assert (verdict.mode, verdict.decision) == ("planned", None)
    cancelled = Tale().event(
        10,
        "kubelet",
        "Shutdown",
        "Shutdown manager detected shutdown cancellation",
    )
    assert cancelled.verdicts() == []


def test_a_shutdown_in_order_leaves_open_what_it_was_for() -> None:
    tale = Tale().vanishes(60)
    stopped = Tale().event(10, "kubelet", "Shutdown", "shutdown event")

    open_ = [
        {r.cause for r in one.verdict().rivals if not r.excluded}
        for one in (tale, stopped.vanishes(60))
    ]

    assert open_ == [set(), {"scale-down", "preemption", "host-maintenance"}]


def test_the_same_facts_give_the_same_verdict_in_whatever_order() -> None:
    tale = Tale("n1", "n2").condition(5, "KernelDeadlock", "True")
    tale.made(8, "janitor.dgxc.nvidia.com", "RebootNode")
    tale.crashes(10).crashes(10, "n2")
    expected = repr(tale.verdicts())
    for seed in range(20):
        facts = list(tale.facts)
        Random(seed).shuffle(facts)
        facts.sort(key=lambda fact: (fact.entry, fact.index))
        assert repr(tale.verdicts(facts=facts)) == expected
