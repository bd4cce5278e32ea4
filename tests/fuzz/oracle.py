"""What must not leave, decided slowly and from the rules alone.

Decodes with the standard library, keeps duplicate keys, walks with a stack of
its own, and knows neither bytes nor gates. In doubt it demands nothing: a
canary that is also in a place where anything may be is accepted.
"""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.fuzz.canaries import APPLIED, CANARY, SECRET_NAMES, spellings

__all__ = ["must_not_show", "shown", "untouched"]

DATA = frozenset({"data", "stringData"})
BODIES = frozenset({"requestObject", "responseObject"})
EMBEDDED_MAX = 8
_MARK = re.compile(rb'(?:\\*")?redacted(?::[0-9a-f]{32})?(?:\\*")?')
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|/)")
_decode_piece = json.JSONDecoder().raw_decode


class Members(tuple[tuple[str, Any], ...]):
    """An object, its duplicate keys included."""

    __slots__ = ()


class Place(NamedTuple):
    """A value, and what the places around it say of it."""

    value: Any
    guarded: bool = False
    """Whether everything in here belongs to something secret."""

    is_variable: bool = False
    of_secret_list: bool = False
    in_secret: bool = False
    packed: int = 0
    """How often JSON was packed into a string to get here."""


def must_not_show(raw: bytes, resource: str | None, way: str) -> set[str]:
    """Return the canaries that may not be left; none if it is no JSON.

    ``way`` is how the document comes in: ``document``, ``audit`` or ``any``.
    """
    if b"cAnArY" not in raw and b"Y0FuQXJZ" not in raw:
        return set()
    try:
        root = _decode(raw.decode())
    except (ValueError, RecursionError):
        return set()
    search = _Search()
    if way == "audit":
        search.audit(root)
    else:
        guarded = way == "document" and (resource or "").endswith("/secrets")
        search.walk(Place(root, guarded=guarded, in_secret=guarded))
    return search.hidden - search.shown


def members(pairs: list[tuple[str, Any]]) -> Members:
    return Members(pairs)


_decode = json.JSONDecoder(object_pairs_hook=members, parse_int=str).decode


class _Search:
    """Sorts canaries by whether their place is a secret one."""

    def __init__(self) -> None:
        self.hidden: set[str] = set()
        self.shown: set[str] = set()
        self._open: list[Place] = []

    def audit(self, root: Any) -> None:
        """Walk an audit record; about Secrets, its bodies are secret."""
        about = isinstance(root, Members) and any(
            key == "objectRef" and ("resource", "secrets") in value
            for key, value in root
            if isinstance(value, Members)
        )
        if not about:
            self.walk(Place(root))
            return
        for key, value in root:
            guarded = key in BODIES
            self.walk(Place(value, guarded=guarded, in_secret=guarded))

    def walk(self, place: Place) -> None:
        """Walk everything below a place."""
        self._open.append(place)
        while self._open:
            now = self._open.pop()
            if isinstance(now.value, Members):
                self._object(now)
            elif isinstance(now.value, list):
                self._open += [now._replace(value=v) for v in now.value]
            elif isinstance(now.value, str):
                self._text(now)

    def _object(self, place: Place) -> None:
        said = {v for key, v in place.value if key == "kind" and _is_text(v)}
        names = {v for key, v in place.value if key == "name" and _is_text(v)}
        is_secret = place.guarded or not said.isdisjoint(
            {"Secret", "SecretList"}
        )
        named = place.is_variable and not names.isdisjoint(SECRET_NAMES)
        inside = Place(
            None,
            guarded=place.guarded,
            in_secret=place.in_secret or is_secret,
            packed=place.packed,
        )
        for key, value in place.value:
            self.shown |= canaries_in(key)
            if key in DATA and (is_secret or place.of_secret_list):
                self._data(value)
            elif (named and key == "value") or (
                inside.in_secret and key == APPLIED and _is_text(value)
            ):
                self.hidden |= canaries_in(value)
            else:
                self._open.append(
                    inside._replace(
                        value=value,
                        is_variable=key == "env" and isinstance(value, list),
                        of_secret_list=is_secret
                        and key == "items"
                        and isinstance(value, list),
                    )
                )

    def _data(self, value: Any) -> None:
        if not isinstance(value, Members):
            self.hidden |= canaries_in(value)
            return
        for key, inner in value:
            self.shown |= canaries_in(key)
            self.hidden |= canaries_in(inner)

    def _text(self, place: Place) -> None:
        text = place.value
        inner = _document_in(text) if place.packed < EMBEDDED_MAX else None
        if inner is None:
            self.shown |= canaries_in(text)
        else:
            self._open.append(Place(inner, packed=place.packed + 1))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _document_in(text: str) -> Any:
    """Decode a string that is JSON, or that quotes one piece of it."""
    if not any(sign in text for sign in '{["'):
        return None
    try:
        return _decode(text)
    except (ValueError, RecursionError):
        pass
    start = text.find("{")
    if start <= 0 or "\\" in text:
        return None
    try:
        end = _decode_piece(text, start)[1]
        inner = _decode(text[start:end])
    except (ValueError, RecursionError):
        return None
    return None if canaries_in(text[:start] + text[end:]) else inner


def canaries_in(value: Any) -> set[str]:
    """Find canaries in a value, plain or in Base64."""
    if not isinstance(value, str):
        value = " ".join(_texts_in(value))
    text = value
    found = set(CANARY.findall(text))
    for piece in re.findall(r"Y0FuQXJZ[0-9A-Za-z+/]{16}", text):
        found.add(base64.b64decode(piece).decode("latin-1"))
    return found


def _texts_in(value: Any) -> Iterator[str]:
    """Yield every string in a value, however deep."""
    waiting = [value]
    while waiting:
        now = waiting.pop()
        if isinstance(now, str):
            yield now
        elif isinstance(now, tuple | list):
            # Pairs of key and value, or items.
            waiting += now


def shown(canary: str, clean: bytes) -> bool:
    """Return whether a canary shows, in any spelling and however packed."""
    if any(spelling in clean for spelling in spellings(canary)):
        return True
    if b"\\u" not in clean:
        return False
    text = clean.decode("utf-8", "replace")
    for _ in range(EMBEDDED_MAX):
        text = re.sub(
            r"\\+u00([2-7][0-9a-fA-F])",
            lambda match: chr(int(match[1], 16)),
            text,
        )
        if canary in text:
            return True
        if "\\u00" not in text:
            return False
    return False


def untouched(raw: bytes, clean: bytes) -> bool:
    """Return whether nothing but redactions sets a document apart.

    What is between the redactions must be in the original, in the
    same order. An environment within a string is redacted as a whole, so
    there what was escaped for no reason may stand for itself.
    """
    return _in_order(raw, clean) or _in_order(_plainer(raw), _plainer(clean))


def _in_order(raw: bytes, clean: bytes) -> bool:
    first, *others = _MARK.split(clean)
    if not raw.startswith(first):
        return False
    place = len(first)
    for piece in others[:-1]:
        found = raw.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return not others or (
        raw.endswith(others[-1]) and len(raw) - len(others[-1]) >= place
    )


def _plainer(raw: bytes) -> bytes:
    text = raw.decode("utf-8", "replace")
    plain = _ESCAPE.sub(_meaning, text)
    return plain.encode("utf-8", "surrogatepass")


def _meaning(escape: re.Match[str]) -> str:
    return "/" if escape[1] is None else chr(int(escape[1], 16))
