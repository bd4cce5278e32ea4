"""The order in which facts happened, as far as their times tell."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from recorder.model.fact import StoredFact
from recorder.model.moment import shifted

__all__ = ["order_of"]

Place = tuple[datetime, int, int]

REST = timedelta(seconds=1) - timedelta(microseconds=1)
NONE = timedelta()


def order_of(facts: Iterable[StoredFact]) -> Callable[[StoredFact], Place]:
    """Return the place of each fact among all of these.

    Much of what Kubernetes says of a time is cut to the second: it was some
    time in that second, and not at its beginning. Within it our own clock
    decides, which saw it later; then the place in the log, which keeps the
    versions of an object in order. The cluster's clock may be ahead of ours,
    by as much at least as it told of incarnations before we saw them.
    """
    ahead = max(
        (
            stored.fact.occurred_at - stored.observed_at
            for stored in facts
            if stored.fact.occurred_at is not None
        ),
        default=NONE,
    )

    def place(stored: StoredFact) -> Place:
        at = stored.at
        if stored.fact.occurred_at is not None and at.microsecond == 0:
            seen = shifted(stored.observed_at, max(ahead, NONE))
            at = min(max(at, seen), shifted(at, REST))
        return at, stored.entry.position, stored.index

    return place
