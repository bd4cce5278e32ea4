"""What the end of a stream, a rejection or a rewind means for the log.

Each ending leads to a named state; those after which something may be missing
open a gap.
"""

from datetime import datetime, timedelta

from recorder.facts.metrics import METRICS, Kept
from recorder.facts.texts import cut
from recorder.intake.document import collection_of, is_events
from recorder.intake.gaps import CAME_AND_WENT, Outcome, counted, own_draft
from recorder.intake.ledger import Ledger
from recorder.intake.relisting import Relisting
from recorder.intake.state import StreamKey, StreamState
from recorder.intake.streams import is_half_read, settle, vouch
from recorder.intake.walking import WATCH_EXPIRED
from recorder.model.entry import Operation
from recorder.model.observation import (
    ABSENT,
    CLEAN_REASONS,
    CLOUDEVENTS,
    EXPIRED,
    SETTLED,
    ClockJumped,
    EpochBegan,
    RecordsLost,
    RequestFailed,
    StreamClosed,
    StreamResumed,
)
from recorder.model.reference import Resource

HTTP_UNAUTHORIZED = 401
HTTP_FORBIDDEN = 403
HTTP_NOT_FOUND = 404

REWOUND = "history rewound"
VANISHED = "kind no longer served (404)"
LAST_VERSIONS = "the last versions of the objects that are absent"
REFUSED = {
    HTTP_UNAUTHORIZED: "unauthorized (401)",
    HTTP_FORBIDDEN: "forbidden (403)",
}


def stream_closed(
    ledger: Ledger, relisting: Relisting, closed: StreamClosed
) -> None:
    """Process the end of a watch."""
    key = (closed.source, str(closed.resource))
    point = ledger.moved(key)
    at = closed.observed_at
    if closed.reason in CLEAN_REASONS:
        vouch(point, at, StreamState.LIVE)
        if closed.reason == SETTLED:
            # The log that this was cut out of knew more than a part of it.
            point.settled_until = None
            settle(point, at)
    elif closed.reason == ABSENT:
        _vanished(ledger, relisting, key, closed.resource, at)
    elif closed.reason == EXPIRED:
        _must_list(ledger, relisting, closed, WATCH_EXPIRED)
    elif closed.reason == "reconcile-mismatch":
        _must_list(ledger, relisting, closed, "reconcile mismatch")
    else:
        point.state = StreamState.BACKING_OFF


def _must_list(
    ledger: Ledger, relisting: Relisting, closed: StreamClosed, reason: str
) -> None:
    key = (closed.source, str(closed.resource))
    point = ledger.moved(key)
    point.state = StreamState.LISTING
    if point.began_at is None:
        return
    if is_events(closed.resource):
        # A list may still prove that nothing was missed.
        relisting.explain(key, reason)
    else:
        ledger.open_gap(key, reason, closed.observed_at)


def _vanished(
    ledger: Ledger,
    relisting: Relisting,
    key: StreamKey,
    resource: Resource,
    at: datetime,
) -> None:
    """Record that a kind is no longer served, so no object of it exists."""
    point = ledger.moved(key)
    relisting.abandon(key)
    if point.state is not StreamState.ABSENT and point.began_at is not None:
        ledger.open_gap(key, VANISHED, at)
        left = sorted(ledger.versions.of(collection_of(resource)))
        absent = counted(len(left)) + (" is" if len(left) == 1 else " are")
        for thing in left:
            relisting.absent(key, thing, at)
        ledger.close_gap(
            key,
            at,
            version=None,
            outcome=Outcome(
                "the cluster no longer serves the kind: none of it exists,"
                f" {absent} absent",
                [LAST_VERSIONS, CAME_AND_WENT],
            ),
        )
    if point.state is not StreamState.ABSENT:
        point.completed = point.pending = None
        point.seen.clear()
    settle(point, at)
    vouch(point, at, StreamState.ABSENT)


def stream_resumed(ledger: Ledger, resumed: StreamResumed) -> None:
    """Record that a watch resumed where it had stopped."""
    key = (resumed.source, str(resumed.resource))
    if not is_half_read(ledger.moved(key)):
        heal(ledger, key, resumed.observed_at)
    vouch(ledger.moved(key), resumed.observed_at, StreamState.LIVE)


def heal(ledger: Ledger, key: StreamKey, at: datetime) -> None:
    """Close the gap of a stream that could be resumed after all."""
    ledger.close_gap(
        key,
        at,
        version=ledger.moved(key).pending,
        outcome=Outcome(
            "the watch was resumed at the version before: the server still"
            " held the history, and nothing is missing",
            [],
        ),
    )


def request_failed(
    ledger: Ledger, relisting: Relisting, failed: RequestFailed
) -> None:
    """Process a rejection by the API server."""
    key = (failed.source, str(failed.resource))
    at = failed.observed_at
    if failed.status == HTTP_NOT_FOUND:
        _vanished(ledger, relisting, key, failed.resource, at)
        return
    point = ledger.moved(key)
    reason = REFUSED.get(failed.status)
    if reason is None:
        point.state = StreamState.BACKING_OFF
        return
    point.state = StreamState.FORBIDDEN
    ledger.open_gap(key, reason, at)


def records_lost(ledger: Ledger, lost: RecordsLost) -> None:
    """Record that records of a stream were never read.

    They were made after the last that was read, or after a known later time,
    and before now.
    """
    key = (lost.source, lost.stream)
    ledger.open_gap(key, lost.reason, lost.observed_at, since=lost.since)
    ledger.close_gap(
        key,
        lost.observed_at,
        version=None,
        outcome=Outcome(
            lost.proved, [] if lost.possible is None else [lost.possible]
        ),
    )


def metrics_lost(ledger: Ledger, lost: Kept, at: datetime) -> None:
    """Record that the metrics of a node were not kept, of no stream."""
    key = (CLOUDEVENTS, METRICS)
    reason, possible = cut(lost.trouble), cut(f"metrics of node {lost.node}")
    ledger.open_gap(key, reason or "", at, since=lost.begin)
    ledger.close_gap(
        key,
        at,
        version=None,
        outcome=Outcome("nothing", [possible or ""], until=lost.end),
    )
    ledger.leave(key)


def epoch_began(ledger: Ledger, began: EpochBegan) -> None:
    """Record that the cluster's history was rewound.

    Earlier versions cannot be compared with later ones: every stream must
    list.
    """
    ledger.epoch += 1
    ledger.enter(
        None,
        own_draft(
            Operation.EPOCH_BEGAN,
            began.observed_at,
            began.source,
            None,
            {"epoch": ledger.epoch, "reason": began.reason},
        ),
    )
    for key, point in sorted(ledger.streams.items()):
        if key[0] != began.source or point.began_at is None:
            continue
        if point.state is not StreamState.ABSENT:
            ledger.open_gap(key, REWOUND, began.observed_at)
        moved = ledger.moved(key)
        moved.completed = moved.pending = None
        moved.seen.clear()


def clock_jumped(
    ledger: Ledger, relisting: Relisting, jumped: ClockJumped
) -> None:
    """Record a clock jump; windows across it are unreliable."""
    at, by = jumped.observed_at, timedelta(seconds=jumped.seconds)
    ledger.jumped(at, by)
    relisting.jumped(at, by)
    ledger.enter(
        None,
        own_draft(
            Operation.CLOCK_JUMPED,
            jumped.observed_at,
            "recorder",
            None,
            {"seconds": jumped.seconds},
        ),
    )
