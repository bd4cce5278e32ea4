"""Masking of bytes that could not be read.

They are kept to show a person what came, and may be the torn half of a
Secret. Nothing can be parsed, so nothing is believed: the pieces between
quotation marks are judged one by one, which holds whether a mark opens or
closes, and whatever is not plainly a key, structure or the value of a
harmless key is masked.
"""

import re

from recorder.redact.digest import GONE

__all__ = ["masked_head"]

_STRUCTURE = re.compile(rb"[\s{}\[\],:]*(?:(?:true|false|null)[\s{}\[\],:]*)?")
_KEY = re.compile(rb"[A-Za-z][A-Za-z0-9_.:/-]{0,127}")
_AFTER_KEY = re.compile(rb"\s*:")
_COLON = re.compile(rb"\s*:\s*")
_PLAIN = re.compile(rb"[A-Za-z0-9_.:/-]{1,253}")
_HARMLESS_KEYS = frozenset(
    {
        b"apiVersion",
        b"kind",
        b"name",
        b"namespace",
        b"resource",
        b"resourceVersion",
        b"type",
        b"uid",
        b"verb",
    }
)
"""Keys whose values name things."""

_WORD = re.compile(rb"[^\s]{12,}|[^\s]*[=:@%+/\\][^\s]*")


def masked_head(head: bytes) -> bytes:
    """Mask every value in bytes that are not a document."""
    pieces = head.split(b'"')
    if len(pieces) == 1:
        return _masked_text(head)
    masked = []
    for place, piece in enumerate(pieces):
        before = pieces[place - 1] if place else b""
        after = pieces[place + 1] if place + 1 < len(pieces) else b""
        if (
            _STRUCTURE.fullmatch(piece)
            or _is_key(piece, before, after)
            or _is_harmless(piece, before, pieces[place - 2 : place - 1])
        ):
            masked.append(piece)
        else:
            masked.append(GONE)
    return b'"'.join(masked)


def _is_key(piece: bytes, before: bytes, after: bytes) -> bool:
    return bool(
        _AFTER_KEY.match(after)
        and _KEY.fullmatch(piece)
        and before.rstrip()[-1:] in {b"{", b",", b""}
    )


def _is_harmless(piece: bytes, before: bytes, key: list[bytes]) -> bool:
    return bool(
        key
        and key[0] in _HARMLESS_KEYS
        and _COLON.fullmatch(before)
        and _PLAIN.fullmatch(piece)
    )


def _masked_text(text: bytes) -> bytes:
    """Mask the words of a text that may be more than words.

    An error page of a proxy stays readable; tokens, addresses and
    assignments do not.
    """
    return _WORD.sub(GONE, text)
