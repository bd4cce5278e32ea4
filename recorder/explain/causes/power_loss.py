"""Power went: machines that share a place stop at once and boot anew."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from recorder.explain.causes.cause import CONCLUDED, FaultCause, Found
from recorder.explain.signals import Topic
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Fault, Happened

__all__ = ["CAUSE", "seen_lost", "shared_place"]


def shared_place(transition: Transition) -> tuple[str, list[str]] | None:
    """Return the place whose nodes went together, and these nodes.

    Not a place that holds the whole fleet: that tells nothing.
    """
    fleet, node = transition.fleet, transition.episode.node
    together = {
        *fleet.lost_with(node, seen_lost(transition)),
        *fleet.silent_with(transition.lost_at),
    } - {node}
    # Who goes down in order has its power.
    together = {
        n for n in together if not fleet.was_shut_down(n, transition.lost_at)
    }
    for key, value in sorted(fleet.place(node).items()):
        gone = sorted(n for n in together if fleet.stands(n, key, value))
        if not gone:
            continue
        there = fleet.standing(key, value)
        stayed = set(there) - {node, *gone}
        # Of who was down before, nobody can see that the power went.
        if (
            len(there) != fleet.size
            and len(stayed) <= len(gone)
            and all(fleet.was_down(n, transition.lost_at) for n in stayed)
        ):
            return f"{key}={value}", gone
    return None


def seen_lost(transition: Transition) -> datetime:
    """Return when it was seen that the node was lost."""
    losses = transition.episode.of(Topic.READY)
    return (losses[0] if losses else transition.effect).stored.at


def _find(transition: Transition) -> Found | None:
    if (
        transition.happened != Happened.REBOOT
        or transition.decisions
        or transition.faults
    ):
        return None
    if transition.was_shut_down:
        return None
    found = shared_place(transition)
    if found is None:
        return None
    _, others = found
    if _is_taken_down(transition, others):
        return None
    if not all(
        transition.fleet.booted_after(o, transition.lost_at) for o in others
    ):
        return None
    # Of what was lost when the log began nobody saw how it went; and who had
    # set all the others aside may have switched them off.
    seen = transition.episode.baseline.ready == "True"
    sure = seen and not all(_were_set_aside(transition, others))
    return Found(
        transition.effect, Confidence.LIKELY if sure else Confidence.POSSIBLE
    )


def _is_taken_down(transition: Transition, others: Iterable[str]) -> bool:
    """Whether somebody set about to take the machine down.

    A person's bare cordon explains no loss, and who emptied one machine and
    set no other aside took no others down with it.
    """
    cordon = transition.first(Topic.CORDON)
    if cordon is None:
        return False
    author = transition.author(cordon)
    by_hand = author is not None and not (author.is_program or author.library)
    return not by_hand or (
        transition.first(Topic.EVICTION) is not None
        and any(_were_set_aside(transition, others))
    )


def _were_set_aside(t: Transition, others: Iterable[str]) -> Iterator[bool]:
    """Yield of each whether it was cordoned when it was lost."""
    return (t.fleet.was_set_aside(other, t.lost_at) for other in others)


CAUSE = FaultCause(
    fault=Fault.POWER_LOSS,
    signature=(
        "all nodes of a rack or a PDU that were up stop renewing within one"
        " interval, and every one of them reboots"
    ),
    lookalikes=(
        "network-partition: the boot IDs stay the same",
        "kernel-panic: a single machine",
    ),
    weight=CONCLUDED,
    find=_find,
)
