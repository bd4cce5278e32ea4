"""Durations: how long a node was down, and how long away from service."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from recorder.explain.tracks.bounds import heard_again
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Duration
from recorder.model.fact import StoredFact
from recorder.model.outcomes import DurationKind

__all__ = ["away_of", "down_of", "shown"]

SHORTEST = timedelta(seconds=1)
"""What lasts for less is not shown."""


def shown(down: Duration | None, away: Duration | None) -> Duration | None:
    """Return how long it lasted: down, or else away from service.

    Lists, sentences, cards, counts and reports show the same.
    """
    for one in (down, away):
        if one is not None and one.length >= SHORTEST:
            return one
    return None


def down_of(transition: Transition, last: datetime | None) -> Duration | None:
    """Return the time from a last proof of life to the next one.

    Nobody knows when in it the node went. None where it was never down, is
    not back, or was not heard before.
    """
    if not transition.is_back:
        return None
    again = heard_again(transition)
    if last is None or again is None:
        return None
    length = max(again - last, timedelta())
    return Duration.of(DurationKind.DOWN, length, at_most=True)


def away_of(
    transition: Transition,
    back: StoredFact | None,
    proved: datetime | None,
    down: Duration | None,
) -> Duration | None:
    """Return how long a node was not in service; None while it is not.

    Of one that was lost it begins with the last proof of life, if that comes
    before it was seen out of service. One that was down and never seen out
    of service was out of it while it was down.
    """
    left = transition.episode.left_at
    if back is None:
        return None
    if left is None:
        return down and replace(down, kind=DurationKind.AWAY)
    bound = transition.was_lost and proved is not None and proved < left
    if bound and proved is not None:
        left = proved
    length = max(back.observed_at - left, timedelta())
    return Duration.of(DurationKind.AWAY, length, at_most=bound)
