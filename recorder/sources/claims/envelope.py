"""Reading CloudEvents 1.0 out of a request: structured, batch or binary.

Each becomes one document in JSON, as the structured mode has it, and an error
names the member that is wrong. A structured document stays as it was sent.
"""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import UnionType
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote

import msgspec

from recorder.facts.classify.claims import claim_key
from recorder.facts.classify.times import moment
from recorder.model.errors import InputError
from recorder.model.validity import check_document

STRUCTURED = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
PREFIX = "ce-"
"""Of the headers of the binary mode."""

CLAIMS_MAX = 500
"""Of one request; each waits for the same commit."""

CLAIM_BYTES_MAX = 256 << 10
"""A claim is a statement, not a store of files."""

CHARACTERS_MAX = 1024
"""Of a member of the envelope; they are names."""

AHEAD_MAX = timedelta(minutes=5)
"""How far the clock of a sender may be ahead. A claim of the future would be
evidence for what has not happened."""

FUTURE = "is in the future"

SPARE = 200
"""Levels of nesting that an event must leave."""

NEEDED = ("specversion", "id", "source", "type")
TEXTS = (*NEEDED, "subject", "time", "datacontenttype", "dataschema")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
NAME = re.compile(r"[a-z0-9]{1,64}")
"""Of a member, extensions included."""

JSON_TYPE = re.compile(r"[^;]*[/+]json\s*(;.*)?", re.IGNORECASE)


class EnvelopeError(InputError):
    """A request that holds no CloudEvents, or one that is malformed."""

    code = "input.cloudevent"
    reason: ClassVar[str] = "malformed"
    """By which refused requests are counted."""


class FutureError(EnvelopeError):
    """An event that claims a time that has not come."""

    reason = "future"


class TooLargeError(EnvelopeError):
    """An event or a batch beyond its bound."""

    reason = "large"


class Claim(NamedTuple):
    """One CloudEvent, as it was posted."""

    source: str
    type: str
    key: str
    """The SHA-256 of its source and id."""

    document: bytes


def read_claims(
    headers: Mapping[str, str], body: bytes, *, now: datetime
) -> Sequence[Claim]:
    """Return the CloudEvents of a request.

    Raises:
        EnvelopeError: one of them is malformed; the member is named.
    """
    content = headers.get("content-type", "")
    media = content.partition(";")[0].strip().lower()
    if media == STRUCTURED:
        return [_claim(body, now)]
    if media == BATCH:
        return _batch(body, now)
    if f"{PREFIX}specversion" in headers:
        return [_claim(_binary(headers, content, body), now)]
    msg = (
        f"the request holds no CloudEvent: send {STRUCTURED}, {BATCH}, or the"
        f" headers {PREFIX}specversion, {PREFIX}id, {PREFIX}source and"
        f" {PREFIX}type"
    )
    raise EnvelopeError(msg)


def _batch(body: bytes, now: datetime) -> Sequence[Claim]:
    try:
        items = msgspec.json.decode(body, type=list[msgspec.Raw])
    except (ValueError, RecursionError) as exc:
        msg = f"the batch is not a list in JSON: {exc}"
        raise EnvelopeError(msg) from exc
    if len(items) > CLAIMS_MAX:
        msg = f"the batch has {len(items)} events, more than {CLAIMS_MAX}"
        raise TooLargeError(msg)
    return _numbered([bytes(item) for item in items], now)


def claims_of(
    events: Sequence[Mapping[str, Any]], *, now: datetime
) -> Sequence[Claim]:
    """Return the claims of events that were converted, in their order.

    Raises:
        EnvelopeError: one of them is malformed; the member is named.
    """
    if len(events) > CLAIMS_MAX:
        msg = f"the request has {len(events)} events, more than {CLAIMS_MAX}"
        raise TooLargeError(msg)
    return _numbered(
        [
            msgspec.json.encode({"specversion": "1.0", **event})
            for event in events
        ],
        now,
    )


def _numbered(documents: Sequence[bytes], now: datetime) -> Sequence[Claim]:
    claims = []
    for number, document in enumerate(documents, 1):
        try:
            claims.append(_claim(document, now))
        except EnvelopeError as exc:
            msg = f"event {number}: {exc}"
            raise type(exc)(msg) from exc
    return claims


def _binary(headers: Mapping[str, str], content: str, body: bytes) -> bytes:
    """Return the document of an event whose envelope is in the headers."""
    said: dict[str, object] = {
        name.removeprefix(PREFIX): unquote(value)
        for name, value in headers.items()
        if name.startswith(PREFIX)
    }
    for name in ("data", "data_base64"):
        if name in said:
            msg = f'"{name}" is in a header: send it as the body'
            raise EnvelopeError(msg)
    if content:
        said["datacontenttype"] = content
    if not body:
        return msgspec.json.encode(said)
    if not content or JSON_TYPE.fullmatch(content):
        said["data"] = msgspec.Raw(_checked(body, "data"))
    else:
        try:
            said["data"] = body.decode()
        except UnicodeDecodeError:
            said["data_base64"] = b64encode(body).decode()
    return msgspec.json.encode(said)


def _claim(document: bytes, now: datetime) -> Claim:
    if len(document) > CLAIM_BYTES_MAX:
        msg = f"it has more than {CLAIM_BYTES_MAX:,} bytes"
        raise TooLargeError(msg)
    try:
        # Deeper than it is: what reads it later is deeper in its own calls.
        msgspec.json.decode(b"[" * SPARE + document + b"]" * SPARE)
        said: dict[str, Any] = msgspec.json.decode(
            _checked(document, "the event"), type=dict[str, Any]
        )
    except (ValueError, RecursionError) as exc:
        msg = f"the event is not an object in JSON: {exc}"
        raise EnvelopeError(msg) from exc
    for name in NEEDED:
        if name not in said:
            msg = f'"{name}" is missing'
            raise EnvelopeError(msg)
    for name, value in said.items():
        wrong = _wrong(name, value, now)
        if wrong is not None:
            msg = f'"{name[:64]}" {wrong}'
            raise (FutureError if wrong == FUTURE else EnvelopeError)(msg)
    if "data" in said and "data_base64" in said:
        msg = '"data_base64" is beside "data": send one of them'
        raise EnvelopeError(msg)
    key = claim_key(said["source"], said["id"])
    return Claim(said["source"], said["type"], key, document)


def _wrong(name: str, value: object, now: datetime) -> str | None:
    """Return what is wrong with a member; None if nothing is."""
    if name in TEXTS:
        return _wrong_text(name, value, now)
    allowed: type | UnionType = str | bool | int
    if name in {"data", "data_base64"}:
        allowed = object if name == "data" else str
    elif NAME.fullmatch(name) is None:
        return "is no name of a member: use a-z and 0-9"
    return None if isinstance(value, allowed) else "is of a wrong type"


def _wrong_text(name: str, value: object, now: datetime) -> str | None:
    if not isinstance(value, str) or not 0 < len(value) <= CHARACTERS_MAX:
        return f"is not a text of 1 to {CHARACTERS_MAX} characters"
    if not value.isprintable():
        return "has a control character in it"
    if name == "specversion" and value != "1.0":
        return "is not 1.0"
    return _wrong_time(value, now) if name == "time" else None


def _wrong_time(text: str, now: datetime) -> str | None:
    at = moment(text) if TIME.fullmatch(text) else None
    if at is None:
        return "is not a time with a zone by RFC 3339, since 1970"
    return FUTURE if at - now > AHEAD_MAX else None


def _checked(text: bytes, what: str) -> bytes:
    """Check that bytes are JSON, as redaction will.

    Raises:
        EnvelopeError: they are not.
    """
    try:
        check_document(text)
    except (InputError, ValueError, RecursionError) as exc:
        msg = f"{what} is not JSON: {exc}"
        raise EnvelopeError(msg) from exc
    return text
