"""Frames: one line of a tape, one observation.

Pure, both ways, and the same both ways: a line read and written again holds
the same documents byte for byte (`wire` tells the one exception), and an
observation written and read again is equal. Fields that this version does not
know are passed over; a kind of frame that it does not know is an error,
because leaving out a line would leave out history.

Nothing here looks into a document further than to its end.
"""

from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Annotated

import msgspec

from recorder.model.observation import (
    EXPIRED,
    AuditRecorded,
    CloudEventPosted,
    EpochBegan,
    InputRefused,
    ListPage,
    Observation,
    Polled,
    RequestFailed,
    StreamClosed,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.tape.wire import LineError, checked_utf8

__all__ = ["HEAD_BYTES_MAX", "KINDS", "UnknownKindError", "observation_of"]

HEAD_BYTES_MAX = 4096
"""How much is kept of a watch frame of a type that we do not take."""

_RESOURCES_MAX = 4096
"""Resources remembered; a cluster serves hundreds, a bad tape any number."""

_TAKEN = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})

_Time = Annotated[datetime, msgspec.Meta(tz=True)]
_Status = Annotated[int, msgspec.Meta(ge=0, le=999)]
_Length = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class UnknownKindError(LineError):
    """The line is a frame of a kind that this version does not know."""


class _Frame(msgspec.Struct, tag_field="frame", frozen=True, gc=False):
    """What every frame carries."""

    at: _Time
    source: str

    def observed_at(self) -> datetime:
        if self.at.tzinfo is UTC:
            return self.at
        return self.at.astimezone(UTC)


class _List(_Frame, tag="list", frozen=True, gc=False):
    resource: str
    resource_version: str
    items: list[msgspec.Raw]
    more: bool = False
    made: bool = False
    kind: str | None = None

    def observation(self) -> ListPage:
        return ListPage(
            observed_at=self.observed_at(),
            resource=_resource(self.resource),
            resource_version=self.resource_version,
            items=[_document(item) for item in self.items],
            more=self.more,
            kind=self.kind,
            made=self.made,
            source=self.source,
        )


class _WatchEvent(msgspec.Struct, frozen=True, gc=False):
    type: str
    object: msgspec.Raw


class _Watch(_Frame, tag="watch", frozen=True, gc=False):
    resource: str
    event: _WatchEvent

    def observation(self) -> WatchFrame | StreamClosed | InputRefused:
        event = self.event
        if event.type not in _TAKEN:
            return _not_taken(self)
        return WatchFrame(
            observed_at=self.observed_at(),
            resource=_resource(self.resource),
            type=event.type,
            object=_document(event.object),
            source=self.source,
        )


class _Closed(_Frame, tag="closed", frozen=True, gc=False):
    resource: str
    reason: str

    def observation(self) -> StreamClosed:
        return StreamClosed(
            observed_at=self.observed_at(),
            resource=_resource(self.resource),
            reason=self.reason,
            source=self.source,
        )


class _Audit(_Frame, tag="audit", frozen=True, gc=False):
    event: msgspec.Raw

    def observation(self) -> AuditRecorded:
        return AuditRecorded(
            observed_at=self.observed_at(),
            event=_document(self.event),
            source=self.source,
        )


class _CloudEvent(_Frame, tag="cloudevent", frozen=True, gc=False):
    event: msgspec.Raw

    def observation(self) -> CloudEventPosted:
        return CloudEventPosted(
            observed_at=self.observed_at(),
            event=_document(self.event),
            source=self.source,
        )


class _Poll(_Frame, tag="poll", frozen=True, gc=False):
    resource: str
    items: list[msgspec.Raw]

    def observation(self) -> Polled:
        return Polled(
            observed_at=self.observed_at(),
            resource=self.resource,
            items=[_document(item) for item in self.items],
            source=self.source,
        )


class _Refused(_Frame, tag="refused", frozen=True, gc=False):
    bytes_base64: bytes
    sha256: _Sha256
    length: _Length
    reason: str
    resource: str | None = None

    def observation(self) -> InputRefused:
        named = self.resource
        return InputRefused(
            observed_at=self.observed_at(),
            resource=None if named is None else _resource(named),
            head=self.bytes_base64,
            sha256=self.sha256,
            length=self.length,
            reason=self.reason,
            source=self.source,
        )


class _Failed(_Frame, tag="failed", frozen=True, gc=False):
    resource: str
    status: _Status
    reason: str

    def observation(self) -> RequestFailed:
        return RequestFailed(
            observed_at=self.observed_at(),
            resource=_resource(self.resource),
            status=self.status,
            reason=self.reason,
            source=self.source,
        )


class _Epoch(_Frame, tag="epoch", frozen=True, gc=False):
    reason: str

    def observation(self) -> EpochBegan:
        return EpochBegan(
            observed_at=self.observed_at(),
            reason=self.reason,
            source=self.source,
        )


_AnyFrame = (
    _List
    | _Watch
    | _Closed
    | _Audit
    | _CloudEvent
    | _Poll
    | _Refused
    | _Failed
    | _Epoch
)

KINDS = (
    "list",
    "watch",
    "closed",
    "audit",
    "cloudevent",
    "poll",
    "refused",
    "failed",
    "epoch",
)
"""Every kind of frame of this format."""


class _Kind(msgspec.Struct):
    """Only what says which kind of frame a line is."""

    frame: str


class _ErrorObject(msgspec.Struct):
    """What we read of the Status in a watch frame of type ERROR."""

    code: int | None = None


_decode = msgspec.json.Decoder(_AnyFrame).decode
_decode_kind = msgspec.json.Decoder(_Kind).decode
_decode_error = msgspec.json.Decoder(_ErrorObject).decode


def observation_of(line: bytes) -> Observation:
    """Read one line, without its newline.

    Raises:
        UnknownKindError: a frame, but of no kind that we know.
        LineError: no frame; the message says what is wrong with it.
    """
    checked_utf8(line)
    try:
        frame: _AnyFrame = _decode(line)
        return frame.observation()
    except LineError:
        raise
    except msgspec.ValidationError as exc:
        raise _misfit(line, exc) from exc
    except msgspec.DecodeError as exc:
        msg = f"invalid JSON: {exc}"
        raise LineError(msg) from exc
    except RecursionError as exc:
        msg = "invalid JSON: nested deeper than can be read"
        raise LineError(msg) from exc
    except OverflowError as exc:
        msg = 'the time "at" lies outside the years 1 to 9999'
        raise LineError(msg) from exc


def _misfit(line: bytes, exc: msgspec.ValidationError) -> LineError:
    """Say why a line that is JSON is not one of our frames."""
    try:
        kind = _decode_kind(line).frame
    except (msgspec.DecodeError, RecursionError):
        return LineError(f"not a frame: {exc}")
    if kind not in KINDS:
        return UnknownKindError(
            f'unknown frame "{kind[:80]}": this version knows '
            f"{', '.join(KINDS)}; use the version of recorder that wrote it"
        )
    return LineError(f'not a frame of kind "{kind}": {exc}')


def _document(raw: msgspec.Raw) -> bytes:
    document = bytes(raw)
    if document[0] != _BRACE:
        msg = f"not a frame: a document is no JSON object: {document[:40]!r}"
        raise LineError(msg)
    return document


_BRACE = ord("{")


@lru_cache(_RESOURCES_MAX)
def _resource(text: str) -> Resource:
    try:
        return Resource.parse(text)
    except ValueError as exc:
        msg = f"not a frame: {exc}"
        raise LineError(msg) from exc


def _not_taken(frame: _Watch) -> StreamClosed | InputRefused:
    """Say what a watch frame means that carries no version of an object.

    The same as when it came over the wire: an expired version ends the
    watch, everything else could not be taken.
    """
    event = frame.event
    resource = _resource(frame.resource)
    if event.type == "ERROR" and _code(event.object) == int(EXPIRED):
        return StreamClosed(
            observed_at=frame.observed_at(),
            resource=resource,
            reason=EXPIRED,
            source=frame.source,
        )
    sent = b'{"type":%b,"object":%b}' % (
        msgspec.json.encode(event.type),
        bytes(event.object),
    )
    return InputRefused(
        observed_at=frame.observed_at(),
        resource=resource,
        head=sent[:HEAD_BYTES_MAX],
        sha256=sha256(sent).hexdigest(),
        length=len(sent),
        reason=f'a watch frame of type "{event.type[:80]}"',
        source=frame.source,
    )


def _code(error: msgspec.Raw) -> int | None:
    try:
        return _decode_error(error).code
    except (msgspec.DecodeError, RecursionError):
        return None
