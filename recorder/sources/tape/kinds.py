"""The kinds of frame: what a line must hold to be one, and what it means.

A line is decoded into one of these types in one step, with the documents left
as bytes. Each type can return its observation.
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
    HistoryWalked,
    InputRefused,
    ListPage,
    Polled,
    RequestFailed,
    StreamClosed,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.tape.refusing import HEAD_BYTES_MAX
from recorder.sources.tape.wire import LineError, quoted

_RESOURCES_MAX = 4096
"""Resources remembered; a cluster serves hundreds, a bad tape any number."""

_TAKEN = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})

_Time = Annotated[datetime, msgspec.Meta(tz=True)]
_Status = Annotated[int, msgspec.Meta(ge=0, le=999)]
_Sha256 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_Length = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


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
            items=[bytes(item) for item in self.items],
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
    renewed: bool = False
    late: bool = False
    recovered: bool = False
    written_by: _Time | None = None

    def observation(self) -> WatchFrame | StreamClosed | InputRefused:
        event = self.event
        if event.type not in _TAKEN:
            return _not_taken(self)
        return WatchFrame(
            observed_at=self.observed_at(),
            resource=_resource(self.resource),
            type=event.type,
            object=bytes(event.object),
            source=self.source,
            renewed=self.renewed,
            late=self.late,
            recovered=self.recovered,
            written_by=self.written_by,
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


class _Walked(_Frame, tag="walked", frozen=True, gc=False):
    resource: str
    since: str
    until: str
    proved: str
    possible: list[str] | None
    resumes: bool = False

    def observation(self) -> HistoryWalked:
        return HistoryWalked(
            observed_at=self.observed_at(),
            resource=_resource(self.resource),
            since=self.since,
            until=self.until,
            proved=self.proved,
            possible=self.possible,
            resumes=self.resumes,
            source=self.source,
        )


class _Audit(_Frame, tag="audit", frozen=True, gc=False):
    event: msgspec.Raw

    def observation(self) -> AuditRecorded:
        return AuditRecorded(
            observed_at=self.observed_at(),
            event=bytes(self.event),
            source=self.source,
        )


class _CloudEvent(_Frame, tag="cloudevent", frozen=True, gc=False):
    event: msgspec.Raw
    key: _Sha256 | None = None

    def observation(self) -> CloudEventPosted:
        return CloudEventPosted(
            observed_at=self.observed_at(),
            event=bytes(self.event),
            source=self.source,
            key=self.key,
        )


class _Poll(_Frame, tag="poll", frozen=True, gc=False):
    resource: str
    items: list[msgspec.Raw]

    def observation(self) -> Polled:
        return Polled(
            observed_at=self.observed_at(),
            resource=self.resource,
            items=[bytes(item) for item in self.items],
            source=self.source,
        )


class _Refused(_Frame, tag="refused", frozen=True, gc=False):
    bytes_base64: bytes
    sha256: str
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


class _ErrorObject(msgspec.Struct):
    """The fields that we read of the Status in a watch frame of type ERROR."""

    code: int | None = None


Frame = (
    _List
    | _Watch
    | _Closed
    | _Walked
    | _Audit
    | _CloudEvent
    | _Poll
    | _Refused
    | _Failed
    | _Epoch
)
"""Any frame; `observation` returns its observation, or raises `LineError` or,
for a time at the ends of the calendar, `OverflowError`."""

KINDS = (
    "list",
    "watch",
    "closed",
    "walked",
    "audit",
    "cloudevent",
    "poll",
    "refused",
    "failed",
    "epoch",
)
"""The names of the kinds."""

_decode_error = msgspec.json.Decoder(_ErrorObject).decode


@lru_cache(_RESOURCES_MAX)
def _resource(text: str) -> Resource:
    try:
        return Resource.parse(text)
    except ValueError as exc:
        msg = f"not a frame: {exc}"
        raise LineError(msg) from exc


def _not_taken(frame: _Watch) -> StreamClosed | InputRefused:
    """Return the meaning of a watch frame without a version of an object.

    The same as over the network: an expired version ends the watch, everything
    else is refused input.
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
        reason=f"a watch frame of type {quoted(event.type)}",
        source=frame.source,
    )


def _code(error: msgspec.Raw) -> int | None:
    try:
        return _decode_error(error).code
    except (msgspec.DecodeError, RecursionError):
        return None
