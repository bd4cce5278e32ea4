"""JSON within the strings of JSON.

Tools keep whole objects in annotations, above all kubectl the configuration
last applied. What is secret in the object is secret in the copy, so the text
of a string is searched like a document.

Text that only resembles JSON, cut short for example, cannot be read exactly:
from the place where a secret may begin, nothing of it stays.
"""

import json
import re
from collections.abc import Callable

from recorder.redact.digest import GONE
from recorder.redact.edits import Edit
from recorder.redact.gates import may_hide_letters
from recorder.redact.tokens import plain_value, rewritten
from recorder.redact.validity import UnreadableError, check_document

__all__ = ["Search", "redacted_string"]

EMBEDDING_DEPTH_MAX = 8
"""How many times JSON may be packed into strings of itself. Each time
doubles the backslashes; tools do it once, rarely twice."""

PIECES_MAX = 1_000
"""How many environments may stand in the text of one string. Messages quote
one or two."""

_SECRET_TEXT = re.compile(rb'"Secret(?:List)?\\*"')
_SECRET_DATA = re.compile(rb'"(?:data|stringData)\\*"')
_ENV_TEXT = re.compile(rb'"env\\*"\s*:\s*\[')
_ENV_KEY = b'{"env":'
_decode_value = json.JSONDecoder(strict=False).raw_decode

Search = Callable[[bytes], list[Edit]]
"""Finds the edits of a valid document."""


def redacted_string(token: bytes, *, search: Search, depth: int) -> bytes:
    """Redact a string token, quotes included, by the text in it.

    ``depth`` tells how often JSON was packed to get here.
    """
    if depth >= EMBEDDING_DEPTH_MAX:
        return b'"' + GONE + b'"'
    text = plain_value(token)
    try:
        check_document(text)
    except UnreadableError:
        edits = _edits_of_text(text, search)
    else:
        edits = search(text)
    return rewritten(token, text, edits) if edits else token


def _edits_of_text(text: bytes, search: Search) -> list[Edit]:
    """Find what to hide in text with pieces of JSON in it."""
    rest = Edit(0, len(text), GONE)
    if _SECRET_TEXT.search(text) and _SECRET_DATA.search(text):
        return [rest]
    if text.lstrip()[:1] in {b"{", b"["} and may_hide_letters(text):
        # An environment may be spelled so that it is not found below.
        return [rest]
    edits: list[Edit] = []
    place = pieces = 0
    characters = text.decode("latin-1")
    while found := _ENV_TEXT.search(text, place):
        start = found.end() - 1
        try:
            _, place = _decode_value(characters, start)
        except (ValueError, RecursionError):
            return [*edits, rest._replace(start=start)]
        pieces += 1
        if pieces > PIECES_MAX:
            return [*edits, rest._replace(start=start)]
        shift = start - len(_ENV_KEY)
        edits += [
            Edit(edit.start + shift, edit.end + shift, edit.text)
            for edit in search(_ENV_KEY + text[start:place] + b"}")
        ]
    return edits
