"""The time limits that verdicts use, with their sources, and the strengths."""

from dataclasses import dataclass
from datetime import timedelta

from recorder.model.outcomes import Confidence

STRENGTHS = tuple(reversed(Confidence))


def rank(strength: Confidence) -> int:
    """Return the rank of a strength, from 0."""
    return STRENGTHS.index(strength)


def weaker(*strengths: Confidence) -> Confidence:
    """Return the weakest of the strengths."""
    return min(strengths, key=rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """How long things take, or how far apart they still belong together."""

    asynchronous: timedelta = timedelta(seconds=1)
    """How far reporters of one thing may be apart; also how coarse a claim
    in whole seconds is."""

    astray: timedelta = timedelta(seconds=2)
    """How much one watch, or clock, may be ahead of another."""

    same_write: timedelta = timedelta(seconds=3)
    """Between an audit record and the change that it made."""

    first_lists: timedelta = timedelta(seconds=5)
    """How long the first lists of all resources take, one after another; and
    after a join, the start of the kubelet that joined."""

    barely: timedelta = timedelta(seconds=5)
    """How soon after a sign of life a node is declared lost only if that sign
    is of its next life: controllers wait at least ten seconds."""

    renewal: timedelta = timedelta(seconds=10)
    """Between renewals of a lease. A controller waits longer for the next."""

    together: timedelta = timedelta(seconds=15)
    """Between losses of one cause: a renewal interval (10 s) and a little."""

    linger: timedelta = timedelta(seconds=20)
    """How long after a return to service trailing signals are waited for:
    kubelets send conditions every ten seconds."""

    contested: timedelta = timedelta(minutes=15)
    """Between a cordon and its undoing by another, if they disagree: a
    controller looks again within ten minutes."""

    moment: timedelta = timedelta(minutes=2)
    """How long before a loss an Event may lie and still be likely its cause:
    it does not show what held afterwards. Also between a boot and the Event
    about it, and between the stop of a kubelet and the loss of its node."""

    unheard: timedelta = timedelta(minutes=4)
    """How long a node is lost at least before its machine is replaced for
    that; the shortest known time is five minutes."""

    patience: timedelta = timedelta(minutes=10)
    """How long a signal without an effect waits for one, and at most, until
    the loss of a silent node is observed."""

    recent: timedelta = timedelta(hours=1)
    """How long before a loss something that holds may lie and still be likely
    its cause."""

    autopsy: timedelta = timedelta(hours=1)
    """How long after a boot the dump of a panic before it may be found."""

    set_aside: timedelta = timedelta(days=7)
    """How long after a cordon a node is no longer about to be taken down."""

    not_long: timedelta = timedelta(seconds=30)
    """Between the deletion of a Node and the loss that it makes."""


LIMITS = Thresholds()
