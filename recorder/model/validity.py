"""Check whether bytes are a JSON document.

The scanner msgspec has for values that it passes over is the fastest check
of the grammar there is, but it does not look at the encoding, and it refuses
surrogates without their other half, which the grammar allows. For these the
standard library decides.
"""

import json
from typing import Never

import msgspec

from recorder.model.errors import InputError

_scan = msgspec.json.Decoder(msgspec.Raw).decode


class UnreadableError(InputError):
    """Bytes that should be a JSON document are not one."""

    code = "input.unreadable"


def is_plain(raw: bytes) -> bool:
    """Return whether any decoder can read a document."""
    try:
        if not raw.isascii():
            str(raw, "utf-8")
        _scan(raw)
    except (ValueError, RecursionError):
        return False
    return True


def check_document(raw: bytes) -> None:
    """Pass if the bytes are JSON in UTF-8.

    Raises:
        UnreadableError: they are not, or are nested too deeply.
    """
    if not is_plain(raw):
        decode_loosely(raw)


def decode_loosely(raw: bytes) -> object:
    """Decode with the widest understanding of JSON that is still JSON.

    Numbers come as text, because an integer of a million digits would cost
    a second.

    Raises:
        UnreadableError: as for `check_document`.
    """
    try:
        return json.loads(
            str(raw, "utf-8"),
            parse_int=str,
            parse_float=str,
            parse_constant=_refuse_constant,
        )
    except RecursionError as exc:
        msg = "cannot read a document: it is nested too deeply"
        raise UnreadableError(msg) from exc
    except UnicodeDecodeError as exc:
        msg = f"cannot read a document: invalid UTF-8 at byte {exc.start}"
        raise UnreadableError(msg) from exc
    except ValueError as exc:
        msg = f"cannot read a document: {exc}"
        raise UnreadableError(msg) from exc


def _refuse_constant(name: str) -> Never:
    msg = f"{name} is not JSON"
    raise ValueError(msg)
