r"""Halves of surrogate pairs: valid in JSON, but rejected by msgspec.

``"\udc80"`` is JSON, and Python's own encoder writes it for bytes that are not
UTF-8, in a file name for example. A document with such a half is evidence like
any other. So where msgspec rejects a line, the halves are replaced by escapes
of private characters of the same length, the line is decoded, and they are put
back into its documents.
"""

import re
from dataclasses import replace

import msgspec

from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    ListPage,
    Observation,
    Polled,
    WatchFrame,
)

_HALVES = re.compile(
    rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u([dD])([89a-fA-F]..)|\\.",
    re.DOTALL,
)
"""Whole pairs and other escapes, to step over them, and halves."""

_HIDDEN = re.compile(rb"\\u([eE])([89a-fA-F]..)|\\.", re.DOTALL)


def hidden(text: bytes) -> bytes | None:
    """Replace the halves; None if that could not be undone."""
    if any(match[1] for match in _HIDDEN.finditer(text)):
        return None
    return _HALVES.sub(lambda match: _moved(match, by=1), text)


def revealed(observation: Observation) -> Observation:
    """Put the halves back into the documents."""
    match observation:
        case WatchFrame(object=document):
            revealing = _reveal(document)
            return msgspec.structs.replace(observation, object=revealing)
        case AuditRecorded(event=document) | CloudEventPosted(event=document):
            return replace(observation, event=_reveal(document))
        case ListPage(items=items) | Polled(items=items):
            return replace(observation, items=[_reveal(one) for one in items])
        case _:
            return observation


def _reveal(document: bytes) -> bytes:
    return _HIDDEN.sub(lambda match: _moved(match, by=-1), document)


def _moved(match: re.Match[bytes], *, by: int) -> bytes:
    """Turn d into e or back, in the case in which it was written."""
    if match[1] is None:
        return match[0]
    return b"\\u%c%b" % (match[1][0] + by, match[2])
