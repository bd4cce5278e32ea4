r"""The conventions of every line of a tape: texts, times, documents.

A document of the cluster is part of a line byte for byte, with one exception
and one condition. The white space of JSON may hold newlines, which would end
the line, so a newline in a document is written as a space; inside a string
JSON writes it as ``\n``, two other bytes, so nothing else is touched. And
white space around a document is not part of it and is not kept.
"""

from datetime import UTC, datetime

import msgspec

from recorder.sources.tape.surrogates import hidden

_DEPTH_SPARE = 200
"""Depth that a document leaves to its reader, whose own stack counts too."""

_skip = msgspec.json.Decoder(msgspec.Raw).decode


class LineError(ValueError):
    """A line is not valid; the message states why.

    Internal to this package: the reader adds the file and the line.
    """


class UnwritableError(ValueError):
    """No line can hold a document; `refusing` describes it instead."""


def checked_utf8(line: bytes) -> None:
    """Reject what is not UTF-8; the decoder checks only keys and texts.

    Raises:
        LineError: the bytes are not UTF-8.
    """
    if line.isascii():
        return
    try:
        line.decode()
    except UnicodeDecodeError as exc:
        msg = (
            f"invalid UTF-8 at byte {exc.start} of the line ({exc.reason}): "
            "the line was altered after it was written"
        )
        raise LineError(msg) from exc


def quoted(text: str) -> str:
    """Return a bounded beginning of a foreign text, fit for one line."""
    return written_text(text[:80]).decode()


def written_time(at: datetime) -> str:
    """Return a time in UTC with microseconds, as every frame carries it."""
    assert at.tzinfo is not None, "an observation without a time zone"
    utc = at.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="microseconds") + "Z"


def written_text(text: str) -> bytes:
    """Return a text as a JSON string.

    A lone surrogate, which Python puts into a message for bytes that are not
    UTF-8, has no JSON form and becomes a question mark.
    """
    try:
        return msgspec.json.encode(text)
    except UnicodeEncodeError:
        return msgspec.json.encode(text.encode(errors="replace").decode())


def written_document(raw: bytes) -> bytes:
    """Return a document in the form in which a line can hold it.

    Raises:
        UnwritableError: it is not JSON, or nested too deeply. A line with it
            would end the tape for every reader.
    """
    document = raw.strip(b" \t\r\n")
    if b"\n" in document:
        document = document.replace(b"\n", b" ")
    try:
        text = checked_json(document)
        if text.count(b"{") + text.count(b"[") > _DEPTH_SPARE:
            _skip(b"[" * _DEPTH_SPARE + text + b"]" * _DEPTH_SPARE)
    except RecursionError as exc:
        msg = "a tape cannot hold the document: it is nested too deeply"
        raise UnwritableError(msg) from exc
    except ValueError as exc:
        msg = f"a tape cannot hold the document: {exc}"
        raise UnwritableError(msg) from exc
    return document


def checked_json(text: bytes) -> bytes:
    """Reject what a reader would not accept as one JSON value.

    Returns the text as msgspec takes it, of the same length.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested deeper than can be read.
    """
    checked_utf8(text)
    try:
        _skip(text)
    except msgspec.DecodeError:
        text = hidden(text) or text
        _skip(text)
    return text
