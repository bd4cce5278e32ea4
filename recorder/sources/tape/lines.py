"""Writing frames: one observation, one line of a tape.

The counterpart of `frames`. Observations of live connections only, such as a
resumed stream or a jump of the clock, have no frame and no line.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import assert_never

from recorder.model.observation import (
    AuditRecorded,
    ClockJumped,
    CloudEventPosted,
    EpochBegan,
    HistoryWalked,
    InputRefused,
    ListPage,
    Noticed,
    Observation,
    PlaceReached,
    Polled,
    RecordsLost,
    RequestFailed,
    StreamClosed,
    StreamResumed,
    WatchFrame,
)
from recorder.sources.tape.wire import (
    written_document,
    written_text,
    written_time,
)


def line_of(observation: Observation) -> bytes | None:
    """Return one observation as a line; None if it has no frame.

    Raises:
        UnwritableError: a document in it cannot be in a line.
    """
    body = _body(observation)
    if body is None:
        return None
    at = written_time(observation.observed_at).encode()
    source = written_text(observation.source)
    return b'{"at":"%b","source":%b,%b}\n' % (at, source, body)


def _body(observation: Observation) -> bytes | None:
    match observation:
        case WatchFrame() | ListPage() | HistoryWalked():
            return _watched(observation)
        case AuditRecorded():
            event = written_document(observation.event)
            return b'"frame":"audit","event":%b' % event
        case CloudEventPosted():
            key = observation.key
            return b'"frame":"cloudevent","event":%b%b' % (
                written_document(observation.event),
                b"" if key is None else b',"key":%b' % written_text(key),
            )
        case Polled():
            return b'"frame":"poll","resource":%b,"items":[%b]' % (
                written_text(observation.resource),
                _items(observation.items),
            )
        case (
            StreamResumed()
            | ClockJumped()
            | PlaceReached()
            | RecordsLost()
            | Noticed()
        ):
            return None
        case _:
            return _incident(observation)


def _watched(observation: WatchFrame | ListPage | HistoryWalked) -> bytes:
    match observation:
        case WatchFrame():
            return _watch(observation)
        case ListPage():
            return _list(observation)
        case HistoryWalked():
            return _walked(observation)


def _incident(
    observation: StreamClosed | RequestFailed | InputRefused | EpochBegan,
) -> bytes:
    """Return an observation without documents."""
    reason = written_text(observation.reason)
    match observation:
        case StreamClosed(resource=resource):
            return b'"frame":"closed","resource":%b,"reason":%b' % (
                written_text(str(resource)),
                reason,
            )
        case RequestFailed(resource=resource):
            return (
                b'"frame":"failed","resource":%b,"status":%d,"reason":%b'
                % (written_text(str(resource)), observation.status, reason)
            )
        case EpochBegan():
            return b'"frame":"epoch","reason":%b' % reason
        case InputRefused():
            return _refused(observation)
        case _:
            assert_never(observation)


def _watch(frame: WatchFrame) -> bytes:
    return (
        b'"frame":"watch","resource":%b,%b%b%b"event":{"type":%b,"object":%b}'
    ) % (
        written_text(str(frame.resource)),
        b'"renewed":true,' if frame.renewed else b"",
        b'"late":true,' if frame.late else b"",
        _recovered(frame) if frame.recovered else b"",
        written_text(frame.type),
        written_document(frame.object),
    )


def _recovered(frame: WatchFrame) -> bytes:
    if frame.written_by is None:
        return b'"recovered":true,'
    at = written_time(frame.written_by).encode()
    return b'"recovered":true,"written_by":"%b",' % at


def _walked(walked: HistoryWalked) -> bytes:
    return (
        b'"frame":"walked","resource":%b,"since":%b,"until":%b,'
        b'"proved":%b,"possible":%b%b'
    ) % (
        written_text(str(walked.resource)),
        written_text(walked.since),
        written_text(walked.until),
        written_text(walked.proved),
        b"null"
        if walked.possible is None
        else b"[%b]" % b",".join(map(written_text, walked.possible)),
        b',"resumes":true' if walked.resumes else b"",
    )


def _list(page: ListPage) -> bytes:
    flags = b',"more":true' if page.more else b',"more":false'
    if page.made:
        flags += b',"made":true'
    if page.kind is not None:
        flags += b',"kind":%b' % written_text(page.kind)
    return b'"frame":"list","resource":%b,"resource_version":%b%b,%b' % (
        written_text(str(page.resource)),
        written_text(page.resource_version),
        flags,
        b'"items":[%b]' % _items(page.items),
    )


def _refused(refused: InputRefused) -> bytes:
    named = b""
    if refused.resource is not None:
        named = b'"resource":%b,' % written_text(str(refused.resource))
    return (
        b'"frame":"refused",%b"bytes_base64":"%b","sha256":%b,'
        b'"length":%d,"reason":%b'
    ) % (
        named,
        b64encode(refused.head),
        written_text(refused.sha256),
        refused.length,
        written_text(refused.reason),
    )


def _items(items: Sequence[bytes]) -> bytes:
    return b",".join([written_document(item) for item in items])
