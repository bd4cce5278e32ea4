"""The exact way: every secret of a document, wherever and however written.

One pass over the tokens with a stack of what is open, so that depth costs no
recursion and a document of any size costs its length. It sees what quick
searches cannot: keys written with escapes, a name that comes after its value,
repeated keys, JSON inside the strings of JSON.

Whether something must be hidden is often known only at the end: the kind of an
object may follow its data. Until then the spans wait in the frame of the
object or array, and move to the enclosing frame if that one decides: the items
of a list, the variables of an environment.

It returns edits and changes nothing itself. If in doubt it returns more, never
less: if one of two names of a variable is that of a secret, all its values are
hidden. The document must be valid (`check_document`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from recorder.intake.redact.digest import GONE, KeyedDigest
from recorder.intake.redact.edits import Edit
from recorder.intake.redact.gates import may_hide_json
from recorder.intake.redact.rules import NameMatcher
from recorder.intake.redact.tokens import plain_value, string_at

Span = tuple[int, int]
_T = TypeVar("_T")


@dataclass(slots=True)
class Frame:
    """An open object or array.

    A document may have millions of them, so lists are created when there is
    something to add; until then None represents an empty one.
    """

    start: int
    is_object: bool
    guarded: bool = False
    """Whether everything in here belongs to something secret."""

    is_data: bool = False
    """Whether this is the ``data`` or ``stringData`` of an object."""

    member: str | None = None
    """The key whose value comes next; None where a key does."""

    kinds: list[str] | None = None
    """The values of ``kind``: more than one in a strange document."""

    is_operation: bool = False
    """Whether there is an ``op``, as in the operations of a JSON patch."""

    targets_env: bool = False
    """Whether ``path`` points to or into an ``env``, as there too."""

    named_secret: bool = False
    """Whether a ``name`` is that of a secret."""

    values: list[Span] | None = None
    """The spans of each ``value``."""

    content: list[Span] | None = None
    """The spans of the values in ``data`` or ``stringData``."""

    payload: list[Span] | None = None
    """To be hidden if this is a Secret: the content of its data."""

    items: list[Span] | None = None
    """To be hidden if this is a list of Secrets: the payload of its items."""

    variables: list[Edit] | None = None
    """To be made if this is a variable, or an array of them, in an ``env``
    or in what a patch writes to one."""


def joined(some: list[_T] | None, more: list[_T] | None) -> list[_T] | None:
    """Append one list to another, where either may be None."""
    if not more:
        return some
    if some is None:
        return list(more)
    some += more
    return some


StringRedaction = Callable[[bytes], bytes]
"""Redacts a string token by the JSON that its text may be."""

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


class Walk:
    """One document being walked, once."""

    def __init__(
        self,
        raw: bytes,
        *,
        matches: NameMatcher,
        digest: KeyedDigest,
        redact_string: StringRedaction,
        guarded: frozenset[str] | None = frozenset(),
    ) -> None:
        """Prepare a walk through a valid document.

        ``guarded`` names the members of the root that belong to something
        secret, whatever they declare; None is for the root itself.
        """
        self._raw = raw
        # Latin-1 maps every byte to one character: positions in the text
        # are positions in the bytes.
        self._text = raw.decode("latin-1")
        self._matches = matches
        self._digest = digest
        self._redact_string = redact_string
        self._guarded = guarded or frozenset()
        self._edits: list[Edit] = []
        self._applied: list[Span] = []
        self._tokens: list[Span] = []
        # A frame around the root spares every step a check for one.
        self._frame = Frame(start=-1, is_object=False, guarded=guarded is None)
        self._stack: list[Frame] = []

    def edits(self) -> list[Edit]:
        """Walk through the document and return what must change."""
        place = 0
        while token := _TOKEN.match(self._text, place):
            place = self._take(token)
        return self._edits

    def _take(self, token: re.Match[str]) -> int:
        """Take one token and return its end."""
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
                value, end = string_at(self._text, start)
                self._escaped_string(value, start, end=end)
            case 6 if token[6] != "null":
                self._value_ended(start, end)
        return end

    def _open(self, start: int, *, is_object: bool) -> None:
        outer = self._frame
        frame = Frame(
            start,
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
            token = self._raw[start:end]
            if may_hide_json(token):
                redacted = self._redact_string(token)
                if redacted != token:
                    self._edits.append(Edit(start, end, redacted))
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
                frame.kinds = joined(frame.kinds, [value])
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
        if frame.is_data:
            frame.content = joined(frame.content, [(start, end)])
        if frame.member in DATA_MEMBERS:
            frame.payload = joined(frame.payload, [(start, end)])
        elif frame.member == "value":
            frame.values = joined(frame.values, [(start, end)])

    def _close(self, end: int) -> None:
        frame = self._frame
        self._frame = self._stack.pop()
        if frame.is_object:
            self._judge(frame)
        outer = self._frame
        if frame.is_data:
            # The keys stay, so the object itself is not to be hidden.
            outer.payload = joined(outer.payload, frame.content)
            if outer.is_data:
                span = (frame.start, end)
                outer.content = joined(outer.content, [span])
            return
        if not outer.is_object:
            outer.variables = joined(outer.variables, frame.variables)
            outer.payload = joined(outer.payload, frame.payload)
        elif outer.member == "value":
            outer.variables = joined(outer.variables, frame.variables)
        elif not frame.is_object and outer.member == "env":
            self._edits += frame.variables or ()
        elif not frame.is_object and outer.member == "items":
            outer.items = joined(outer.items, frame.payload)
        self._value_ended(frame.start, end)

    def _judge(self, frame: Frame) -> None:
        """Decide about an object that has been read to its end."""
        variables, frame.variables = frame.variables, None
        if frame.guarded and frame.is_operation:
            # What a patch writes into something secret leaves no digest.
            self._hide(frame.values)
        elif frame.named_secret:
            frame.variables = self._digested(frame.values)
        elif frame.is_operation and frame.targets_env:
            # A patch writes variables, or what may be the value of one.
            self._edits += variables or ()
            self._edits += self._digested(
                [
                    span
                    for span in frame.values or ()
                    if self._text[span[0]] not in "{["
                ]
            )
        if frame.guarded or _is_one_of(frame.kinds, SECRET_KINDS):
            self._hide(frame.payload)
            self._hide(frame.items)
            self._hide(_since(self._applied, frame.start))
        if frame.guarded or _is_one_of(frame.kinds, TOKEN_KINDS):
            self._hide(_since(self._tokens, frame.start))

    def _hide(self, spans: list[Span] | None) -> None:
        for start, end in spans or ():
            if self._raw[start:end] != _HIDDEN:
                self._edits.append(Edit(start, end, _HIDDEN))

    def _digested(self, spans: list[Span] | None) -> list[Edit]:
        edits = []
        for start, end in spans or ():
            token = self._raw[start:end]
            text = b'"' + self._digest(plain_value(token)) + b'"'
            if text != token:
                edits.append(Edit(start, end, text))
        return edits


def _is_one_of(kinds: list[str] | None, wanted: frozenset[str]) -> bool:
    return kinds is not None and not wanted.isdisjoint(kinds)


def _since(spans: list[Span], start: int) -> list[Span]:
    """Return the spans that begin after a place, which are the last ones."""
    kept = len(spans)
    while kept and spans[kept - 1][0] > start:
        kept -= 1
    taken = spans[kept:]
    del spans[kept:]
    return taken
