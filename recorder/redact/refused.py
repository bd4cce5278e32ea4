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

_STRUCTURE = b" \t\n\r{}[],:"
_CONSTANTS = frozenset({b"", b"true", b"false", b"null"})
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
    """Mask every value in bytes that are not a document.

    Masking twice changes nothing more: a piece is judged by the masked ones
    before it, and structure at the edges of a piece stays.
    """
    pieces = head.split(b'"')
    if len(pieces) == 1:
        return _masked_text(head)
    masked: list[bytes] = []
    for piece, after in zip(pieces, [*pieces[1:], b""], strict=True):
        known = _is_key(piece, masked, after) or _is_harmless(piece, masked)
        masked.append(piece if known else _masked_piece(piece))
    return b'"'.join(masked)


def _masked_piece(piece: bytes) -> bytes:
    content = piece.strip(_STRUCTURE)
    if content in _CONSTANTS:
        return piece
    before = len(piece) - len(piece.lstrip(_STRUCTURE))
    return piece[:before] + GONE + piece[before + len(content) :]


def _is_key(piece: bytes, masked: list[bytes], after: bytes) -> bool:
    """Classify a key by what stands around it."""
    before = masked[-1].rstrip()[-1:] if masked else b""
    return bool(
        before in {b"{", b",", b""}
        and _AFTER_KEY.match(after)
        and _KEY.fullmatch(piece)
    )


def _is_harmless(piece: bytes, masked: list[bytes]) -> bool:
    """Classify a value by its key and its looks."""
    return bool(
        len(masked) > 1
        and masked[-2] in _HARMLESS_KEYS
        and _COLON.fullmatch(masked[-1])
        and _PLAIN.fullmatch(piece)
    )


def _masked_text(text: bytes) -> bytes:
    """Mask the words of a text that may be more than words.

    An error page of a proxy stays readable; tokens, addresses and
    assignments do not.
    """
    return _WORD.sub(GONE, text)
