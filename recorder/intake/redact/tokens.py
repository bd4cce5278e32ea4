"""String tokens of JSON: their text, and how they were written."""

import json
import re
from collections.abc import Sequence

import orjson

from recorder.intake.redact.edits import Edit, splice

_decode = json.JSONDecoder(strict=False).raw_decode
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u(....)|.)", re.DOTALL
)
_GO_ESCAPES = ((b"&", rb"\u0026"), (b"<", rb"\u003c"), (b">", rb"\u003e"))


def string_at(text: str, start: int) -> tuple[str, int]:
    """Decode the string that begins at a place; return it and its end.

    The text is the document in Latin-1, where places are those of the bytes;
    so characters beyond ASCII are wrong, unless they were escaped.

    Raises:
        ValueError: no string begins there.
    """
    value, end = _decode(text, start)
    if not isinstance(value, str):
        msg = "another value begins there"
        raise ValueError(msg)  # noqa: TRY004 - a wrong place, no wrong type
    return value, end


def plain_value(token: bytes) -> bytes:
    """Return a value without the notation of JSON, if it is a string."""
    if not token.startswith(b'"'):
        return token
    if b"\\" not in token:
        return token[1:-1]
    value = str(json.loads(str(token, "utf-8")))
    return value.encode("utf-8", "surrogatepass")


def rewritten(token: bytes, text: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply edits of a string's text to the string as it is written.

    Unaffected parts keep their spelling. If one of the two usual encoders
    wrote the token, it can write it again; else the places are found one by
    one.
    """
    for encode in (_encoded, _encoded_by_go):
        if encode(text) == token:
            return encode(splice(text, edits))
    return splice(token, _edits_as_written(edits, token))


def _encoded(text: bytes) -> bytes:
    try:
        return orjson.dumps(str(text, "utf-8"))
    except ValueError:
        # Half a surrogate, which only our own decoding lets pass.
        return b""


def _encoded_by_go(text: bytes) -> bytes:
    token = _encoded(text)
    for character, escape in _GO_ESCAPES:
        token = token.replace(character, escape)
    return token


def _edits_as_written(edits: Sequence[Edit], token: bytes) -> list[Edit]:
    wanted = sorted({place for edit in edits for place in edit[:2]})
    places = dict(zip(wanted, _places_as_written(wanted, token), strict=True))
    return [
        Edit(places[start], places[end], _encoded(text)[1:-1])
        for start, end, text in edits
    ]


def _places_as_written(wanted: list[int], token: bytes) -> list[int]:
    """Return the place in the token of each place in its text, ascending."""
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
    """Return the length in UTF-8 of the character of an escape."""
    code = escape[1]
    if code is None:
        return 1 if len(escape[0]) == len(b"\\n") else 4
    return len(chr(int(code, 16)).encode(errors="surrogatepass"))
