"""Secrets in what senders post: members with the name of a secret.

A sender may post anything, so each member counts, wherever it is, and not only
those of environments. One pass over the tokens of a valid document, in linear
time whatever its depth; only the values of such members change.
"""

import re
from dataclasses import dataclass

from recorder.intake.redact.digest import GONE, KeyedDigest
from recorder.intake.redact.edits import Edit
from recorder.intake.redact.rules import NameMatcher
from recorder.intake.redact.tokens import plain_value

_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL
)
_NOTHING = frozenset({b"null", b"true", b"false"})
"""Values that are no secrets."""


@dataclass(slots=True)
class _Open:
    """An object or a list that is not closed yet."""

    start: int
    has_names: bool
    is_secret: bool
    """Whether it is the value of a member with the name of a secret."""

    awaits_name: bool = False
    named_secret: bool = False
    """Whether the value that comes next is."""

    def opened(self, start: int, *, has_names: bool) -> "_Open":
        """Return what begins in here as the next value."""
        return _Open(start, has_names, self.named_secret, has_names)

    def takes(self, value: bytes) -> bool:
        """Take the next value; return whether it is to be hidden."""
        is_hidden, self.named_secret = self.named_secret, False
        return is_hidden and _may_be_secret(value)


def named_secrets(
    raw: bytes, matches: NameMatcher, digest: KeyedDigest
) -> list[Edit]:
    """Find the values of members with the name of a secret."""
    edits: list[Edit] = []
    stack = [_Open(0, has_names=False, is_secret=False)]
    for token in _TOKEN.finditer(raw):
        inner, text = stack[-1], token[0]
        if text in b"{[":
            stack.append(inner.opened(token.start(), has_names=text == b"{"))
        elif text in b"}]":
            if stack.pop().is_secret:
                edits.append(_hidden(raw, inner.start, token.end(), digest))
            stack[-1].named_secret = False
        elif text == b",":
            inner.awaits_name = inner.has_names
        elif text != b":" and inner.awaits_name:
            name = plain_value(text).decode(errors="replace")
            inner.awaits_name, inner.named_secret = False, matches(name)
        elif text != b":" and inner.takes(text):
            edits.append(_hidden(raw, *token.span(), digest))
    return edits


def _may_be_secret(value: bytes) -> bool:
    return value not in _NOTHING and plain_value(value) != GONE


def _hidden(raw: bytes, start: int, end: int, digest: KeyedDigest) -> Edit:
    return Edit(start, end, b'"%b"' % digest(plain_value(raw[start:end])))
