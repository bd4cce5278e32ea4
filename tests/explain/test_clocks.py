"""A node whose clock is wrong is judged as if it were right."""

from datetime import timedelta

import pytest

from recorder.explain.verdict import Verdict
from recorder.model.fact import FactKind
from recorder.model.outcomes import Fault, Happened
from tests.explain.tale import Tale
from tests.support.builders import at

OFFSETS = [-3600.0, -40.0, 0.0, 3.0, 180.0, 7200.0]


def story(wrong: float) -> Tale:
    """A node is cordoned by hand, crashes and is back.

    What its kubelet says is late by a tenth of a second.
    """
    tale = Tale()
    for seconds in (5, 65, 125):
        said(tale, seconds, wrong, "ImageGCFailed")
    tale.cordons(150, "kubectl-cordon")
    tale.silent(171, renewed=170 + wrong)
    tale.lost(210)
    tale.boots(300)
    for reason in ("Starting", "Rebooted"):
        message = "Node n1 has been rebooted, boot id: boot-2"
        said(tale, 300.5, wrong, reason, message)
    return tale.ready(301)


def said(
    tale: Tale,
    seconds: float,
    wrong: float,
    reason: str,
    message: str = "",
    **detail: str,
) -> None:
    tale.event(
        seconds,
        "kubelet",
        reason,
        message,
        host="n1",
        occurred=seconds - 0.1 + wrong,
        **detail,
    )


def conclusions(verdict: Verdict) -> object:
    return (
        verdict.happened,
        verdict.cause,
        verdict.confidence,
        verdict.mode,
        verdict.boot_id_after,
    )


@pytest.mark.parametrize("wrong", OFFSETS)
def test_a_wrong_clock_of_a_node_changes_nothing(wrong: float) -> None:
    right, found = story(0).verdict(), story(wrong).verdict()
    assert conclusions(found) == conclusions(right)
    for one, other in (
        (found.not_before, right.not_before),
        (found.not_after, right.not_after),
    ):
        assert one is not None
        assert other is not None
        assert abs(one - other) < timedelta(seconds=2)
    assert found.down is not None
    assert abs(found.down.length.total_seconds() - 130) < 2


@pytest.mark.parametrize("wrong", OFFSETS)
def test_how_far_a_clock_is_wrong_is_reported(wrong: float) -> None:
    skew = story(wrong).verdict().clock_skew_seconds
    assert skew == (0 if wrong == 0 else pytest.approx(wrong, abs=2))


@pytest.mark.parametrize("wrong", OFFSETS)
def test_what_a_kubelet_counts_on_is_by_its_clock_too(wrong: float) -> None:
    tale = Tale("n1", "n2")
    for seconds in (5, 65, 125):
        said(tale, seconds, wrong, "ImageGCFailed")
    tale.lost(200).ready(300)
    first = f"{at(20 + wrong):%Y-%m-%dT%H:%M:%SZ}"
    said(tale, 301, wrong, "NodeHasSufficientMemory", first=first)
    assert tale.verdict().happened == "unreachable"


@pytest.mark.parametrize(
    ("wrong", "renewed", "fault"),
    [
        (-900, 202, None),
        (-900, 195, Fault.PARTITION),
        (0, 202, Fault.PARTITION),
    ],
)
def test_a_node_that_is_given_up_for_its_clock_is_not_cut_off(
    wrong: float, renewed: float, fault: Fault | None
) -> None:
    """Its lease was observed just before: its control plane counts claims."""
    tale = Tale("n1", "n2")
    for seconds in (5, 65, 125):
        said(tale, seconds, wrong, "ImageGCFailed")
    tale.silent(renewed + 1, renewed=renewed + wrong)
    verdict = tale.lost(210).ready(216).verdict()

    assert verdict.happened is Happened.UNREACHABLE
    assert (verdict.fault and verdict.fault.fault) is fault


def test_what_one_list_shows_late_proves_no_clock() -> None:
    tale = Tale()
    for number in range(5):
        said(tale, 5, -30 - number / 100, "ImageGCFailed")
    assert tale.boots(20).verdict().clock_skew_seconds == 0


def test_reports_that_come_late_now_and_then_prove_no_clock() -> None:
    tale = Tale()
    for seconds in (5, 25, 45, 65):
        said(tale, seconds, -seconds, "ImageGCFailed")
    assert tale.boots(70).verdict().clock_skew_seconds == 0


def test_what_was_kept_back_and_comes_at_once_proves_no_clock() -> None:
    tale = Tale()
    said(tale, 5, -7.5, "ImageGCFailed")
    for number in range(4):
        said(tale, 30 + number / 5, -7.5 - number / 5, "ImageGCFailed")
    assert tale.boots(60).verdict().clock_skew_seconds == 0


BOOTED = "Node n1 has been rebooted, boot id: boot-2"


def boots_with(wrong: float) -> Tale:
    """A node loses power; only in its new boot is its clock wrong."""
    tale = Tale()
    for seconds in (5, 65, 125):
        said(tale, seconds, 0, "ImageGCFailed")
    tale.silent(171, renewed=170).lost(210)
    said(tale, 299.5, wrong, "Starting", "Starting kubelet.")
    tale.boots(300)
    said(tale, 300.5, wrong, "Rebooted", BOOTED)
    return tale.ready(301)


@pytest.mark.parametrize("wrong", [-2820.0, 0.0, 3600.0])
@pytest.mark.parametrize("is_set", [True, False])
def test_a_clock_is_measured_in_each_boot(
    wrong: float, *, is_set: bool
) -> None:
    tale = boots_with(wrong)
    for seconds in (420, 480, 540):
        said(tale, seconds, 0 if is_set else wrong, "ImageGCFailed")
    verdict = tale.verdict()
    assert verdict.not_before == at(170)
    assert abs(verdict.not_after - at(299.5)) < timedelta(seconds=1.5)
    assert abs(verdict.clock_skew_seconds - wrong) < 1


@pytest.mark.parametrize("wrong", OFFSETS)
def test_a_clock_that_is_set_while_the_node_runs_is_right_from_then_on(
    wrong: float,
) -> None:
    tale = Tale("n1", "n2")
    for seconds in (5, 65, 125):
        said(tale, seconds, wrong, "ImageGCFailed")
    for seconds in (205, 265, 325):
        said(tale, seconds, 0, "ImageGCFailed")
    tale.silent(415, renewed=370).lost(415).ready(500)
    verdict = tale.verdict()
    assert (verdict.not_before, verdict.clock_skew_seconds) == (at(370), 0)
    assert [step.at for step in verdict.steps] == [at(415), at(500)]


def test_a_boot_that_a_list_shows_late_proves_no_clock() -> None:
    tale = Tale().silent(171, renewed=170).lost(210)
    tale.event(900, "kubelet", "Starting", "Starting kubelet.", occurred=300)
    tale.event(900, "kubelet", "Rebooted", BOOTED, occurred=300)
    verdict = tale.boots(900).ready(900).verdict()
    assert verdict.clock_skew_seconds == 0
    assert verdict.not_after <= at(301)


def test_a_time_that_the_control_plane_gives_ahead_of_us_is_ours() -> None:
    """Its clock is wrong: what is observed has happened."""
    tale, day = Tale(), 86_400
    unknown = {"status": "Unknown", "reason": "NodeStatusUnknown"}
    ready = {"status": "True", "reason": "KubeletReady"}
    for seconds, old, new, by in (
        (60, ready, unknown, "kube-controller-manager"),
        (66, unknown, ready, "kubelet"),
    ):
        turned = {"type": "Ready", "old": old, "new": new}
        wrong = seconds + day if by != "kubelet" else None
        tale.add(
            seconds,
            FactKind.CONDITION_CHANGED,
            turned,
            actor=by,
            occurred=wrong,
        )
    assert tale.verdict().at == at(60)
