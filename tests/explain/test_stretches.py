"""Each time in which a node was away has a transition of its own."""

from tests.explain.tale import Tale
from tests.support.builders import at


def restarted(*, runs_on: bool) -> Tale:
    """A kubelet restarts under a cordon; a moment later the machine dies."""
    tale = Tale().cordons(5, "kubectl-cordon").kubelet_starts(10)
    if runs_on:
        tale.event(14, "kubelet", "ImageGCFailed", host="n1")
    tale.silent(50, renewed=25 if runs_on else 9).lost(50)
    return tale.boots(70).kubelet_starts(70)


def test_a_kubelet_that_ran_on_was_not_the_one_that_was_lost() -> None:
    first, second = restarted(runs_on=True).verdicts()
    assert (first.happened, second.happened) == ("kubelet-restart", "reboot")
    assert first.not_after == at(10)
    assert second.not_before == at(25)
    assert second.not_after == at(70)


def test_a_kubelet_that_only_started_is_of_the_loss_after_it() -> None:
    (only,) = restarted(runs_on=False).verdicts()
    assert only.happened == "reboot"


def test_what_a_kubelet_repeats_of_its_start_is_no_other_start() -> None:
    tale = Tale().lost(50).boots(70).kubelet_starts(70)
    tale.event(71, "kubelet", "Rebooted", "Node n1 has been rebooted").ready(
        80
    )

    tale.event(88, "kubelet", "Rebooted", "Node n1 has been rebooted")

    assert [one.happened for one in tale.verdicts()] == ["reboot"]


def test_the_count_after_a_boot_says_nothing_of_a_loss_before() -> None:
    tale = Tale().cordons(5, "kubectl-cordon").lost(50).ready(120)
    tale.lost(590).boots(600).kubelet_starts(600)

    tale.kubelet_counts(601, first=598)

    assert [one.happened for one in tale.verdicts()] == [
        "unreachable",
        "reboot",
    ]
