"""Searching a document for secrets: the quick way if possible, else the walk.

The quick way searches only environments, which are by far the most frequent
secrets, and the copy that kubectl keeps; it is certain, because it first
checks whether there may be anything else, and gives up on unknown constructs.

Nearly every environment is an array of plain variables, written without
whitespace, names before values. Such an array is decoded as one, and
re-encoding it to the same bytes proves it: then no key was repeated, escaped
or put elsewhere, and encoding it with other values changes nothing but these.
The walk is slower by a factor of a hundred and needs no such proof.

Tools keep whole objects in annotations, above all kubectl the configuration
last applied. What is secret in the object is secret in the copy, so the text
of a string is searched like a document. Text that only resembles JSON,
truncated for example, cannot be parsed exactly: everything from where a secret
may begin is removed.
"""

import json
import re
from collections.abc import Callable
from functools import partial

import msgspec

from recorder.intake.redact.digest import GONE, KeyedDigest
from recorder.intake.redact.edits import Edit
from recorder.intake.redact.gates import (
    has_secret_kind,
    may_hide_letters,
    next_env,
)
from recorder.intake.redact.rules import NameMatcher
from recorder.intake.redact.tokens import plain_value, rewritten, string_at
from recorder.intake.redact.walk import Walk
from recorder.model.validity import UnreadableError, check_document

APPLIED = b'"kubectl.kubernetes.io/last-applied-configuration":"'

COPY_SIZE_BYTES_MAX = 65_536
"""Larger copies are left to the walk. Kubernetes allows four times as much
for all annotations together; without a bound, a list of copies would cost the
square of its length."""


class SecretSearch:
    """Finds what to change in documents.

    Its methods raise `UnreadableError` for bytes that they must parse and that
    are not JSON.
    """

    def __init__(self, matches: NameMatcher, digest: KeyedDigest) -> None:
        self._matches = matches
        self._digest = digest
        self._environments = Environments(matches, digest)

    def everything(self, raw: bytes, depth: int = 0) -> list[Edit]:
        """Find every secret of a document that may be anything.

        ``depth`` is how often JSON was packed into a string to get here.
        """
        if may_hide_letters(raw) or has_secret_kind(raw):
            return self._walk(raw, depth=depth)
        return self.environments(raw, depth)

    def guarded(
        self, raw: bytes, members: frozenset[str] | None
    ) -> list[Edit]:
        """Find the secrets of a document that is itself secret, or part of it.

        That is the content of these members; None means all of it.
        """
        return self._walk(raw, guarded=members)

    def environments(self, raw: bytes, depth: int = 0) -> list[Edit]:
        """Find the secrets in environments, and in copies of environments."""
        edits: list[Edit] = []
        place, in_copy = 0, False
        mark = next_env(raw)
        while mark is not None:
            if mark.start() >= place:
                edit = self._quickly(raw, mark, depth)
                if edit is None:
                    return self._walk(raw, depth=depth)
                place, in_copy = edit.end, mark[1] is None
                if edit.text != raw[edit.start : place]:
                    edits.append(edit)
            elif not in_copy:
                # An environment within another.
                return self._walk(raw, depth=depth)
            mark = next_env(raw, mark.end())
        return edits

    def _quickly(
        self, raw: bytes, mark: re.Match[bytes], depth: int
    ) -> Edit | None:
        """Redact what begins at a mark; None if only the walk can."""
        if mark[1] is None:
            return self._copy_at(raw, mark.start(), depth)
        start = mark.start(1)
        end = raw.find(b"]", start) + 1
        if raw[end - 2 : end - 1] != b"}":
            end = raw.find(b"}]", start) + 2
        if raw[mark.start() - 1 : mark.start()] == b"\\":
            # The end of a longer key, with a quotation mark in it.
            return None
        redacted = self._environments.redacted(raw[start:end])
        return None if redacted is None else Edit(start, end, redacted)

    def _copy_at(self, raw: bytes, place: int, depth: int) -> Edit | None:
        """Redact the copy around a place, if kubectl keeps it there."""
        key = raw.rfind(APPLIED, 0, place)
        if key < 0 or raw[key - 1 : key] == b"\\":
            return None
        start = key + len(APPLIED) - 1
        piece = raw[start : start + COPY_SIZE_BYTES_MAX].decode("latin-1")
        try:
            _, length = string_at(piece, 0)
        except ValueError:
            return None
        end = start + length
        if end <= place:
            return None
        return Edit(start, end, self._string(raw[start:end], depth))

    def _string(self, token: bytes, depth: int) -> bytes:
        return redacted_string(
            token,
            search=partial(self.everything, depth=depth + 1),
            depth=depth,
        )

    def _walk(
        self,
        raw: bytes,
        *,
        guarded: frozenset[str] | None = frozenset(),
        depth: int = 0,
    ) -> list[Edit]:
        check_document(raw)
        walk = Walk(
            raw,
            matches=self._matches,
            digest=self._digest,
            redact_string=partial(self._string, depth=depth),
            guarded=guarded,
        )
        return walk.edits()


EMBEDDING_DEPTH_MAX = 8
"""How many times JSON may be packed into strings of itself. Each time
doubles the backslashes; tools do it once, rarely twice."""

PIECES_MAX = 1_000
"""How many environments the text of one string may contain. Messages quote one
or two."""

_SECRET_TEXT = re.compile(rb'"Secret(?:List)?\\*"')
_SECRET_DATA = re.compile(rb'"(?:data|stringData)\\*"')
_ENV_TEXT = re.compile(rb'"env\\*"\s*:\s*\[')
_ENV_KEY = b'{"env":'
_decode_value = json.JSONDecoder(strict=False).raw_decode

Search = Callable[[bytes], list[Edit]]
"""Finds the edits of a valid document."""


def redacted_string(token: bytes, *, search: Search, depth: int) -> bytes:
    """Redact a string token, quotes included, by the text in it.

    ``depth`` is how often JSON was packed to get here.
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
        # An environment may be written so that it is not found below.
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


REMEMBERED_ARRAYS_MAX = 2_048
SIZE_BYTES_MAX = 4_096
"""Every version of a Pod, and every Pod of a Job, has the same environment.
The results for the last few are kept, under a keyed digest of the array, never
the array itself: at most 8 MiB, usually one."""


class _Variable(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """A variable of a container; empty bytes represent an absent member."""

    name: str
    value: msgspec.Raw = msgspec.Raw()
    value_from: msgspec.Raw = msgspec.Raw()


_NO_VALUE = (b"", b"null")
_decode = msgspec.json.Decoder(list[_Variable]).decode
_encode = msgspec.json.Encoder().encode


class Environments:
    """Redacts arrays of variables that are written plainly."""

    def __init__(self, matches: NameMatcher, digest: KeyedDigest) -> None:
        self._matches = matches
        self._digest = digest
        self._known: dict[bytes, bytes] = {}

    def redacted(self, array: bytes) -> bytes | None:
        """Redact an array of variables; None if it needs the walk."""
        mark = self._digest.mark(array)
        redacted = self._known.get(mark)
        if redacted is None:
            redacted = self._redact(array)
            if redacted is not None and len(array) <= SIZE_BYTES_MAX:
                if len(self._known) >= REMEMBERED_ARRAYS_MAX:
                    self._known.clear()
                self._known[mark] = redacted
        return redacted

    def _redact(self, array: bytes) -> bytes | None:
        try:
            variables = _decode(array)
        except (ValueError, RecursionError):
            return None
        if _encode(variables) != array:
            return None
        for variable in variables:
            value = bytes(variable.value)
            if self._matches(variable.name) and value not in _NO_VALUE:
                text = self._digest(plain_value(value))
                variable.value = msgspec.Raw(b'"%s"' % text)
        return _encode(variables)
