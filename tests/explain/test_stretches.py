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
