"""JSON within the strings of JSON.

Tools keep whole objects in annotations, above all kubectl the configuration
last applied. What is secret in the object is secret in the copy, so the text
of a string is searched like a document, and what is found there is expressed
as edits of the string as it is written, escapes and all.

Text that only resembles JSON, cut short for example, cannot be read exactly:
from the place where a secret may begin, nothing of it stays.
"""

import json
import re
from collections.abc import Callable

from recorder.redact.digest import GONE
from recorder.redact.edits import Edit
from recorder.redact.gates import may_hide_letters
from recorder.redact.validity import UnreadableError, check_document
from recorder.redact.walk import plain_value

__all__ = ["EMBEDDING_DEPTH_MAX", "embedded_edits"]

EMBEDDING_DEPTH_MAX = 8
"""How many times JSON may be packed into strings of itself. Each time
doubles the backslashes; tools do it once, rarely twice."""

_NEEDLE = re.compile(rb"env\\|Secret(?:List)?\\|Token(?:Request|Review)\\")
_SECRET_TEXT = re.compile(rb'"Secret(?:List)?\\*"')
_SECRET_DATA = re.compile(rb'"(?:data|stringData)\\*"')
_ENV_TEXT = re.compile(rb'"env\\*"\s*:\s*\[')
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u(....)|.)", re.DOTALL
)
_decode_value = json.JSONDecoder(strict=False).raw_decode

Search = Callable[[bytes], list[Edit]]


def embedded_edits(token: bytes, *, search: Search, depth: int) -> list[Edit]:
    """Find what to hide in a string token, quotes included.

    ``search`` finds the edits of a valid document; ``depth`` tells how often
    JSON was packed to get here.
    """
    if not (_NEEDLE.search(token) or may_hide_letters(token)):
        return []
    whole = [Edit(0, len(token), b'"' + GONE + b'"')]
    if depth >= EMBEDDING_DEPTH_MAX:
        return whole
    text = plain_value(token)
    try:
        check_document(text)
    except UnreadableError:
        edits = _edits_of_text(text, search)
    else:
        edits = search(text)
    return _as_written(edits, token)


def _edits_of_text(text: bytes, search: Search) -> list[Edit]:
    """Find what to hide in text with pieces of JSON in it."""
    rest = Edit(0, len(text), GONE)
    if _SECRET_TEXT.search(text) and _SECRET_DATA.search(text):
        return [rest]
    edits: list[Edit] = []
    place = 0
    while found := _ENV_TEXT.search(text, place):
        start = found.end() - 1
        try:
            _, place = _decode_value(text.decode("latin-1"), start)
        except (ValueError, RecursionError):
            return [*edits, rest._replace(start=start)]
        inner = search(b'{"env":' + text[start:place] + b"}")
        shift = start - len(b'{"env":')
        edits += [Edit(a + shift, b + shift, c) for a, b, c in inner]
    if text.lstrip()[:1] in b"{[" and may_hide_letters(text):
        return [rest]
    return edits


def _as_written(edits: list[Edit], token: bytes) -> list[Edit]:
    """Translate edits of a string's text into edits of the string token."""
    if not edits:
        return []
    wanted = sorted({place for edit in edits for place in edit[:2]})
    places = dict(zip(wanted, _places_as_written(wanted, token), strict=True))
    return [
        Edit(
            places[start],
            places[end],
            json.dumps(text.decode())[1:-1].encode(),
        )
        for start, end, text in edits
    ]


def _places_as_written(wanted: list[int], token: bytes) -> list[int]:
    """Give the place in the token of each place in its text, ascending."""
    places: list[int] = []
    # Before each escape: so far in the token, so far in the text.
    written, read = 1, 0
    for escape in _ESCAPE.finditer(token, 1, len(token) - 1):
        reach = read + escape.start() - written
        while len(places) < len(wanted) and wanted[len(places)] <= reach:
            places.append(written + wanted[len(places)] - read)
        if len(places) == len(wanted):
            return places
        written, read = escape.end(), reach + _length_read(escape)
    places += [written + place - read for place in wanted[len(places) :]]
    return places


def _length_read(escape: re.Match[bytes]) -> int:
    """Give the length in UTF-8 of what an escape stands for."""
    code = escape[1]
    if code is None:
        return 1 if len(escape[0]) == len(b"\\n") else 4
    return len(chr(int(code, 16)).encode(errors="surrogatepass"))
