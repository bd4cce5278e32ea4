"""Refused input: an entry, and a gap of a moment.

The kept bytes are bounded; their hash and length are of all of them.
"""

from base64 import b64encode
from hashlib import sha256

from recorder.intake.gaps import Outcome, own_draft
from recorder.intake.ledger import Ledger
from recorder.intake.state import StreamKey
from recorder.model.entry import Operation
from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    InputRefused,
    ListPage,
    Polled,
    WatchFrame,
)

HEAD_BYTES = 4096
"""Of refused input that is kept: enough to recognize its sender."""

UNDECODABLE = "undecodable input"
POSSIBLE = "one change of an object that cannot be named"

Documented = AuditRecorded | CloudEventPosted | ListPage | Polled | WatchFrame


def refusal(observation: Documented, raw: bytes, reason: str) -> InputRefused:
    """Describe a document that cannot be read."""
    resource = None
    if isinstance(observation, ListPage | WatchFrame):
        resource = observation.resource
    return InputRefused(
        observed_at=observation.observed_at,
        resource=resource,
        head=raw[:HEAD_BYTES],
        sha256=sha256(raw).hexdigest(),
        length=len(raw),
        reason=reason,
        source=observation.source,
    )


def input_refused(ledger: Ledger, refused: InputRefused) -> None:
    """Enter the input, and the gap that it may represent."""
    resource = None if refused.resource is None else str(refused.resource)
    draft = own_draft(
        Operation.REFUSED,
        refused.observed_at,
        refused.source,
        resource,
        {
            "reason": refused.reason,
            "length": refused.length,
            "sha256": refused.sha256,
            "bytes_base64": b64encode(refused.head[:HEAD_BYTES]).decode(),
        },
    )
    if resource is None:
        ledger.enter(None, draft)
        return
    key: StreamKey = (refused.source, resource)
    point = ledger.moved(key)
    token = f"refused:{refused.sha256}"
    if token in point.seen:
        return
    point.seen.add(token)
    ledger.enter(key, draft)
    if point.gap is not None:
        return
    ledger.open_gap(key, UNDECODABLE, refused.observed_at)
    ledger.close_gap(
        key,
        refused.observed_at,
        version=point.pending,
        outcome=Outcome(
            f"one frame of {refused.length} bytes could not be read",
            [POSSIBLE],
        ),
    )
