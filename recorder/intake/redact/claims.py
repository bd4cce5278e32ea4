"""Claims about the user in an audit record, under names that others chose.

Authenticators put attributes of a user into ``extra``, webhooks annotate the
record, and a client chooses its user agent. Each value has a name; a value
with the name of a secret is one, by the same patterns as a variable.
"""

import re
from collections.abc import Iterator

import msgspec

from recorder.intake.redact.bodiless import members
from recorder.intake.redact.digest import KeyedDigest
from recorder.intake.redact.edits import Edit
from recorder.intake.redact.rules import NameMatcher
from recorder.intake.redact.tokens import plain_value

OF_KUBERNETES = frozenset(
    {b"authentication.k8s.io", b"authentication.kubernetes.io"}
)
"""Domains whose names mention tokens and credentials, and hold none: the id of
one, or the account that uses an old one."""

USERS = frozenset({b"user", b"impersonatedUser"})

_SAID = re.compile(
    rb"([A-Za-z][\w.-]*)\s*[=:]\s*(?:(?i:bearer|basic)\s+)?([^\s;,()]+)"
    rb"|\b(?i:bearer|basic)\s+([^\s;,()]+)"
)
"""A name with its value in a user agent."""

_SPOKEN = re.compile(rb"[=:]|(?i:bearer|basic)\s")


class _User(msgspec.Struct, frozen=True):
    extra: dict[str, msgspec.Raw] | None = None


class _Record(msgspec.Struct, frozen=True, rename="camel"):
    user: _User | None = None
    impersonated_user: _User | None = None
    annotations: dict[str, msgspec.Raw] | None = None
    user_agent: str | None = None


_decode = msgspec.json.Decoder(_Record).decode


def claims(
    raw: bytes, matches: NameMatcher, digest: KeyedDigest
) -> list[Edit]:
    """Find values with the name of a secret, and replace them by digests."""
    if not _may_claim(raw, matches):
        return []
    edits = []
    for name, start, end in members(raw):
        piece = raw[start:end]
        if name == b"userAgent":
            said = _unnamed(plain_value(piece), matches, digest)
            edits.append(Edit(start, end, _encoded(said)))
        elif name == b"annotations":
            edits += _named(piece, start, matches, digest)
        elif name in USERS:
            for inner, begin, finish in members(piece):
                if inner == b"extra":
                    edits += _named(
                        piece[begin:finish], start + begin, matches, digest
                    )
    return [edit for edit in edits if raw[edit.start : edit.end] != edit.text]


def _may_claim(raw: bytes, matches: NameMatcher) -> bool:
    """Return whether to search closely; most records have no claims."""
    try:
        record = _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return True
    names = [*(record.annotations or ())]
    for user in (record.user, record.impersonated_user):
        names += (user and user.extra) or ()
    return any(_is_secret(name.encode(), matches) for name in names) or (
        _SPOKEN.search((record.user_agent or "").encode()) is not None
    )


def _is_secret(name: bytes, matches: NameMatcher) -> bool:
    if name.partition(b"/")[0] in OF_KUBERNETES:
        return False
    # A domain names who chose the name, not what it is about.
    return matches(name.rpartition(b"/")[2].decode(errors="replace"))


def _named(
    piece: bytes, at: int, matches: NameMatcher, digest: KeyedDigest
) -> Iterator[Edit]:
    """Yield the values in an object whose names are those of secrets."""
    for name, start, end in members(piece):
        if _is_secret(name, matches):
            text = _replaced(piece[start:end], digest)
            yield Edit(at + start, at + end, text)


def _replaced(value: bytes, digest: KeyedDigest) -> bytes:
    try:
        several = msgspec.json.decode(value, type=list[str])
    except msgspec.DecodeError:
        return _encoded(digest(plain_value(value)))
    return msgspec.json.encode(
        [digest(one.encode()).decode() for one in several]
    )


def _unnamed(said: bytes, matches: NameMatcher, digest: KeyedDigest) -> bytes:
    def replaced(found: re.Match[bytes]) -> bytes:
        group = 3 if found[1] is None else 2
        if group == 2 and not matches(found[1].decode()):  # noqa: PLR2004
            return found[0]
        start = found.start(group) - found.start()
        return found[0][:start] + digest(found[group])

    return _SAID.sub(replaced, said)


def _encoded(text: bytes) -> bytes:
    return msgspec.json.encode(text.decode(errors="replace"))
