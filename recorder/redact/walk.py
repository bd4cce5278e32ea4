"""The exact way: every secret of a document, wherever and however written.

One pass over the tokens with a stack of what is open, so that depth costs
no recursion and a document of any size costs its length. It sees what quick
searches cannot: keys spelled with escapes, a name that comes after its value,
keys given twice, JSON inside the strings of JSON.

It answers with edits and changes nothing itself. Where it is in doubt it
names more, never less: if any of two names given for one variable is that of
a secret, all its values are. The document must be valid (`check_document`).
"""

import json
import re
from collections.abc import Callable

from recorder.redact.digest import GONE, KeyedDigest
from recorder.redact.edits import Edit
from recorder.redact.frame import Frame, Span
from recorder.redact.rules import NameMatcher

__all__ = ["DATA_MEMBERS", "EmbeddedSearch", "Walk"]

EmbeddedSearch = Callable[[bytes], list[Edit]]
"""Finds what to hide within a string token, quotes included."""

DATA_MEMBERS = frozenset({"data", "stringData"})
SECRET_KINDS = frozenset({"Secret", "SecretList"})
TOKEN_KINDS = frozenset({"TokenRequest", "TokenReview"})
APPLIED_ANNOTATIONS = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "kapp.k14s.io/original",
        "objectset.rio.cattle.io/applied",
        "banzaicloud.com/last-applied",
    }
)
"""Annotations in which tools keep a whole object, Secrets included."""

_HIDDEN = b'"' + GONE + b'"'
_TOKEN = re.compile(
    r"""[ \t\n\r:]*(?:
        ("[^"\\]*")  # a string without escapes
      | ([{\[])
      | ([}\]])
      | (,)
      | (")  # the beginning of any other string
      | ([^\s{}\[\],:"]+)  # a number, true, false or null
    )""",
    re.VERBOSE,
)
_ENV_PATH = re.compile(r"/env(/|$)")
_decode_string = json.JSONDecoder(strict=False).raw_decode


class Walk:
    """One document being walked, once."""

    def __init__(
        self,
        raw: bytes,
        *,
        matches: NameMatcher,
        digest: KeyedDigest,
        search: EmbeddedSearch,
        guarded: frozenset[str] | None = frozenset(),
    ) -> None:
        """Prepare a walk through a valid document.

        ``guarded`` names the members of the root that belong to something
        secret, whatever they say of themselves; None is for the root itself.
        """
        self._raw = raw
        # Latin-1 maps every byte to one character: positions in the text
        # are positions in the bytes.
        self._text = raw.decode("latin-1")
        self._matches = matches
        self._digest = digest
        self._search = search
        self._guarded = guarded or frozenset()
        self._edits: list[Edit] = []
        self._applied: list[Span] = []
        self._tokens: list[Span] = []
        # A frame around the root spares every step the question for one.
        self._frame = Frame(start=-1, is_object=False, guarded=guarded is None)
        self._stack: list[Frame] = []

    def edits(self) -> list[Edit]:
        """Walk through the document and give what must change."""
        place = 0
        while token := _TOKEN.match(self._text, place):
            place = self._take(token)
        return self._edits

    def _take(self, token: re.Match[str]) -> int:
        """Take one token and give its end."""
        shape, end = token.lastindex or 0, token.end()
        start = token.start(shape)
        match shape:
            case 1:
                self._string(token[1][1:-1], start, end=end)
            case 2:
                self._open(start, is_object=token[2] == "{")
            case 3:
                self._close(end)
            case 4:
                self._frame.member = None
            case 5:
                value, end = _decode_string(self._text, start)
                self._escaped_string(value, start, end=end)
            case 6 if token[6] != "null":
                self._value_ended(start, end)
        return end

    def _open(self, start: int, *, is_object: bool) -> None:
        outer = self._frame
        frame = Frame(
            start=start,
            is_object=is_object,
            guarded=outer.guarded or self._is_guarded_member(),
            is_data=is_object and outer.member in DATA_MEMBERS,
        )
        self._stack.append(outer)
        self._frame = frame

    def _is_guarded_member(self) -> bool:
        # With one frame below, the one around it, this is the root.
        return len(self._stack) == 1 and self._frame.member in self._guarded

    def _escaped_string(self, value: str, start: int, *, end: int) -> None:
        if not (self._frame.is_object and self._frame.member is None):
            for edit in self._search(self._raw[start:end]):
                self._edits.append(
                    Edit(start + edit.start, start + edit.end, edit.text)
                )
        self._string(value, start, end=end)

    def _string(self, value: str, start: int, *, end: int) -> None:
        """Take a string, which is a key where an object waits for one."""
        frame = self._frame
        if frame.is_object and frame.member is None:
            frame.member = value
            frame.is_operation |= value == "op"
            return
        match frame.member:
            case "kind":
                frame.kinds.add(value)
            case "name":
                frame.named_secret |= self._matches(value)
            case "path":
                frame.targets_env |= _ENV_PATH.search(value) is not None
            case "token":
                self._tokens.append((start, end))
            case _ if frame.member in APPLIED_ANNOTATIONS:
                self._applied.append((start, end))
            case _:
                pass
        if self._is_guarded_member() or (frame.guarded and not self._stack):
            self._hide([(start, end)])
        self._value_ended(start, end)

    def _value_ended(self, start: int, end: int) -> None:
        """Note a value that may have to be hidden, by its key."""
        frame = self._frame
        if frame.is_data or frame.member in DATA_MEMBERS:
            frame.payload.append((start, end))
        elif frame.member == "value":
            frame.values.append((start, end))

    def _close(self, end: int) -> None:
        frame = self._frame
        self._frame = self._stack.pop()
        if frame.is_object:
            self._judge(frame)
        outer = self._frame
        if frame.is_data:
            # The keys stay, so the object itself is not to be hidden.
            outer.payload += frame.payload
            return
        if not outer.is_object:
            outer.variables += frame.variables
            outer.payload += frame.payload
        elif outer.member == "env" and not frame.is_object:
            self._edits += frame.variables
        elif outer.member == "value":
            outer.variables += frame.variables
        elif outer.member == "items" and not frame.is_object:
            outer.items += frame.payload
        self._value_ended(frame.start, end)

    def _judge(self, frame: Frame) -> None:
        """Decide about an object that has been read to its end."""
        if frame.named_secret:
            frame.variables = self._digested(frame.values)
        elif frame.is_operation and frame.targets_env:
            # A patch names the place of a variable, not the variable.
            self._edits += frame.variables
            self._edits += self._digested(frame.values)
        else:
            frame.variables = []
        if frame.guarded or not frame.kinds.isdisjoint(SECRET_KINDS):
            self._hide(frame.payload)
            self._hide(frame.items)
            self._hide(_since(self._applied, frame.start))
        if frame.guarded or not frame.kinds.isdisjoint(TOKEN_KINDS):
            self._hide(_since(self._tokens, frame.start))
        if frame.guarded and frame.is_operation:
            self._hide(frame.values)

    def _hide(self, spans: list[Span]) -> None:
        for start, end in spans:
            if self._raw[start:end] != _HIDDEN:
                self._edits.append(Edit(start, end, _HIDDEN))

    def _digested(self, spans: list[Span]) -> list[Edit]:
        edits = []
        for start, end in spans:
            token = self._raw[start:end]
            text = b'"' + self._digest(plain_value(token)) + b'"'
            if text != token:
                edits.append(Edit(start, end, text))
        return edits


def plain_value(token: bytes) -> bytes:
    """Give a value without the notation of JSON, if it is a string."""
    if not token.startswith(b'"'):
        return token
    if b"\\" not in token:
        return token[1:-1]
    text = str(json.loads(token))
    return text.encode("utf-8", "surrogatepass")


def _since(spans: list[Span], start: int) -> list[Span]:
    """Take the spans that begin after a place, which are the last ones."""
    kept = len(spans)
    while kept and spans[kept - 1][0] > start:
        kept -= 1
    taken = spans[kept:]
    del spans[kept:]
    return taken
