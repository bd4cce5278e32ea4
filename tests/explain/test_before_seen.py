"""Events that were recorded before their Node was ever seen, as of a dump."""

from collections.abc import Mapping
from typing import Any

import pytest

from recorder.explain.verdict import Verdict
from recorder.model.fact import FactKind
from tests.explain.history import a_pod
from tests.explain.tale import Tale
from tests.support.builders import at

REBOOTED = "Node n1 has been rebooted, boot id: "
CREATED: dict[str, Any] = {"created_at": at(-7200).isoformat()}


def a_dump() -> Tale:
    """Return a tale without the first list of its Nodes."""
    tale = Tale()
    tale.facts.clear()
    return tale


def say(tale: Tale, seconds: float, reporter: str, *words: str) -> None:
    tale.event(seconds, reporter, *words, occurred=seconds)


def lose(tale: Tale, seconds: float) -> None:
    say(tale, seconds, "node-controller", "NodeNotReady", "n1 is not ready")


def come_back(tale: Tale, seconds: float, boot: str) -> None:
    say(tale, seconds, "kubelet", "Starting", "Starting kubelet.")
    say(tale, seconds, "kubelet", "Rebooted", REBOOTED + boot)
    say(tale, seconds + 1, "kubelet", "NodeReady", "n1 is ready")


def test_a_reboot_is_known_from_events_and_one_state() -> None:
    tale = a_dump()
    lose(tale, 100)
    come_back(tale, 130, "boot-1")
    tale.appears(3600, boot="boot-1", **CREATED)

    verdict = tale.verdict()

    assert verdict.happened == "reboot"
    assert verdict.effect.stored.at == at(130)
    assert not verdict.contradictions


def test_each_of_two_reboots_is_its_own() -> None:
    tale = a_dump()
    for seconds, boot in ((100, "boot-0"), (1800, "boot-1")):
        lose(tale, seconds)
        come_back(tale, seconds + 30, boot)
    tale.appears(3600, boot="boot-1", **CREATED)

    verdicts = tale.verdicts()

    assert [v.happened for v in verdicts] == ["reboot", "reboot"]
    assert not any(v.contradictions for v in verdicts)


def test_without_its_node_a_loss_has_an_end_too() -> None:
    tale = a_dump()
    lose(tale, 100)
    say(tale, 190, "kubelet", "NodeReady", "n1 is ready")

    verdict = tale.verdict()

    assert verdict.happened == "unreachable"
    assert verdict.back_in_service_at == at(190)
    (reboot,) = [r for r in verdict.rivals if r.cause == "reboot"]
    assert not reboot.excluded


@pytest.mark.parametrize("came_again", [False, True])
def test_a_node_that_was_never_listed_was_removed_as_an_event_says(
    *, came_again: bool
) -> None:
    tale = a_dump()
    lose(tale, 100)
    say(tale, 2800, "node-controller", "RemovingNode", "Removing Node n1")
    if came_again:
        created: dict[str, Any] = {"created_at": at(2820).isoformat()}
        tale.appears(3600, uid="n1-anew", **created)

    verdict = tale.verdict()

    assert verdict.happened == "removed"
    assert verdict.lost_at == at(100)
    assert verdict.back_in_service_at == (at(3600) if came_again else None)
    assert not verdict.contradictions


def test_a_node_that_joined_did_not_restart_its_kubelet() -> None:
    tale = a_dump()
    say(tale, 100, "kubelet", "Starting", "Starting kubelet.")
    say(tale, 102, "node-controller", "RegisteredNode", "n1 is registered")
    assert tale.verdicts() == []

    tale.appears(3600, created_at=at(101).isoformat())
    assert tale.verdicts() == []


def test_what_a_first_list_shows_of_an_hour_stays_old() -> None:
    tale = a_dump()
    tale.event(3600, "kubelet", "Rebooted", REBOOTED + "boot-1", occurred=100)
    tale.appears(3601, boot="boot-1", **CREATED)

    assert tale.verdicts() == []


def test_a_node_first_seen_after_its_notice_is_removed() -> None:
    tale = a_dump()
    by = "scheduledevents-plugin-monitor"
    say(tale, 100, by, "PreemptScheduled", "Preempt Scheduled")
    tale.appears(101, **CREATED).lost(130).vanishes(160)

    assert tale.verdict().happened == "removed"


def saved_with(
    manager: str, written: float, *, notes: Mapping[str, str] = {}
) -> Verdict:
    """Return the verdict on a reboot by a dump with what a manager wrote."""
    tale = a_dump()
    lose(tale, 100)
    come_back(tale, 130, "boot-1")
    fields = {"boot_id": "boot-1", "unschedulable": True}
    names = ["unschedulable", *(f"annotations/{key}" for key in notes)]
    since = at(written).isoformat()
    held = [{"manager": manager, "time": since, "names": names}]
    tale.appears(3600, **CREATED, fields=fields, held=held, annotations=notes)
    return tale.verdict()


@pytest.mark.parametrize("manager", ["kubectl", "manager", "acme-fixer"])
def test_a_cordon_that_its_entry_dates_before_a_reboot_is_a_step(
    manager: str,
) -> None:
    verdict = saved_with(manager, 80)

    first = verdict.steps[0]
    assert (first.says, first.at) == ("cordoned by then", at(80))
    assert (verdict.cause, verdict.mode) == ("unrecorded", "unknown")


def test_what_its_entry_dates_after_the_reboot_is_no_evidence() -> None:
    verdict = saved_with("kubectl", 200)

    assert verdict.cause == "unrecorded"
    assert "cordoned by then" not in [step.says for step in verdict.steps]


@pytest.mark.parametrize(
    ("written", "cause"), [(80, "os-upgrade"), (200, "unrecorded")]
)
def test_a_decision_in_an_annotation_of_a_dump_is_likely_at_most(
    written: float, cause: str
) -> None:
    note = {"weave.works/kured-reboot-in-progress": "2026"}
    verdict = saved_with("kured", written, notes=note)

    assert verdict.cause == cause
    assert verdict.confidence == ("likely" if written < 100 else "unknown")


@pytest.mark.parametrize(
    ("evictions", "cause", "confidence"),
    [(1, "manual-drain", "likely"), (0, "unrecorded", "unknown")],
)
def test_who_cordoned_a_listed_node_drained_it_if_it_was_emptied(
    evictions: int, cause: str, confidence: str
) -> None:
    fields = {"boot_id": "boot-1", "unschedulable": True}
    one = {"manager": "kubectl", "time": at(-600).isoformat()}
    held = [{**one, "names": ["unschedulable"]}]
    tale = a_dump().appears(0, fields=fields, held=held)
    for _ in range(evictions):
        tale.pod(590, "EvictionByEvictionAPI")

    verdict = tale.crashes(600).verdict()

    assert (verdict.cause, verdict.confidence) == (cause, confidence)
    if verdict.decision is not None:
        assert verdict.decision.actor.tool == "kubectl"


def test_who_cordoned_a_node_emptied_it_if_its_pods_still_end() -> None:
    fields = {"boot_id": "boot-1", "unschedulable": True}
    one = {"manager": "kubectl", "time": at(-600).isoformat()}
    held = [{**one, "names": ["unschedulable"]}]
    evicted = {
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "since": at(-590).isoformat(),
    }
    state = {"node": "n1", "conditions": {"DisruptionTarget": evicted}}
    tale = a_dump().appears(0, fields=fields, held=held)
    tale.add(1, FactKind.APPEARED, {"state": state}, about=a_pod("pod-1"))

    verdict = tale.crashes(60).verdict()

    assert (verdict.cause, verdict.confidence) == ("manual-drain", "likely")
