"""The entry point of redaction: which path a document takes.

The body in an audit record need not name its kind: a patch of a Secret has
none. So every place that may name the object of the request is checked.

Bytes that could not be parsed are kept to show a person what came, and may be
the torn half of a Secret. Nothing can be parsed, so nothing is trusted: the
pieces between quotation marks are judged one by one, which works whether a
mark opens or closes, and everything that is not clearly a key, structure or
the value of a harmless key is masked.
"""

import re

import msgspec
from stringzilla import find

from recorder.intake.redact.bodiless import (
    bodies,
    commands,
    is_bodiless,
    messages,
    patches,
    truncated_addresses,
)
from recorder.intake.redact.claims import claims
from recorder.intake.redact.digest import GONE, KeyedDigest
from recorder.intake.redact.edits import splice
from recorder.intake.redact.gates import (
    has_token_kind,
    may_hide_letters,
    patches_env,
)
from recorder.intake.redact.posted import named_secrets
from recorder.intake.redact.rules import NameMatcher, RedactionRules
from recorder.intake.redact.search import SecretSearch
from recorder.model.errors import ConfigError
from recorder.model.validity import check_document, is_plain

KEY_SIZE_BYTES_MIN = 16
"""A shorter key could be tried out together with the values."""

PLAIN_RESOURCES = frozenset(
    {
        "coordination.k8s.io/v1/leases",
        "events.k8s.io/v1/events",
        "v1/events",
        "v1/nodes",
        "v1/pods",
    }
)
"""Nearly all of the traffic. The API server keeps only the fields in the
schema of these, which hold no Secret, and escapes no letter of them."""


class Redaction:
    """Removes the secrets from documents, by rules and under one key.

    Every method returns the same object if there is nothing to redact, and
    redacting twice changes nothing more.
    """

    def __init__(self, rules: RedactionRules, key: bytes) -> None:
        """Prepare the rules.

        Raises:
            ConfigError: a pattern is no regular expression, or the key is
                too short.
        """
        if len(key) < KEY_SIZE_BYTES_MIN:
            msg = (
                f"the redaction key has {len(key)} bytes, at least"
                f" {KEY_SIZE_BYTES_MIN} are needed"
            )
            raise ConfigError(msg)
        self._truncates_addresses = rules.truncates_addresses
        self._matches = NameMatcher(rules.patterns)
        self._digest = KeyedDigest(key)
        self._search = SecretSearch(self._matches, self._digest)

    def document(
        self,
        raw: bytes,
        *,
        resource: str | None,
        served: bool = False,
        checked: bool = False,
    ) -> bytes:
        """Redact an object from a list or a watch frame.

        ``resource``, in its written form, identifies items of a list, which do
        not name it. ``served`` is the caller's guarantee that an API server
        sent exactly these bytes and that they are JSON: then that is not
        checked again, and what cannot be in an object of the resource is not
        searched for. It must never be set for a tape. ``checked`` only
        guarantees that they are JSON in UTF-8, as a tape's reader has
        verified.

        Raises:
            UnreadableError: the bytes are not a JSON document.
        """
        served = served and raw.isascii()
        if not (served or checked):
            check_document(raw)
        if served and resource in PLAIN_RESOURCES:
            edits = self._search.environments(raw)
        elif resource is not None and resource.endswith("/secrets"):
            edits = self._search.guarded(raw, None)
        else:
            edits = self._search.everything(raw)
        return splice(raw, edits) if edits else raw

    def audit(self, raw: bytes) -> bytes:
        """Redact one ``audit.k8s.io`` Event.

        Bodies that cannot be parsed, with half a character or nested too
        deeply, are not kept: who requested what is.

        Raises:
            UnreadableError: the bytes are not a JSON document.
        """
        if not is_plain(raw):
            raw = _without_bodies(raw)
            check_document(raw)
        if is_about_secrets(raw):
            edits = self._search.guarded(raw, GUARDED_MEMBERS)
            edits = [*edits, *messages(raw)]
        elif has_token_kind(raw) or patches_env(raw):
            edits = self._search.guarded(raw, frozenset())
        else:
            edits = self._search.everything(raw)
        if is_bodiless(raw):
            edits = [*edits, *bodies(raw), *commands(raw)]
        edits = [*edits, *claims(raw, self._matches, self._digest)]
        edits = [*edits, *patches(raw)]
        if self._truncates_addresses:
            edits = [*edits, *truncated_addresses(raw)]
        return splice(raw, edits)

    def posted(self, raw: bytes) -> bytes:
        """Redact a CloudEvent, whose data may be anything.

        Raises:
            UnreadableError: the bytes are not a JSON document.
        """
        clean = self.any_json(raw)
        return splice(clean, named_secrets(clean, self._matches, self._digest))

    def any_json(self, raw: bytes) -> bytes:
        """Redact a document of unknown kind, a response for example.

        Raises:
            UnreadableError: the bytes are not a JSON document.
        """
        check_document(raw)
        return splice(raw, self._search.everything(raw))

    def refused(self, head: bytes) -> bytes:
        """Mask a piece of bytes that could not be parsed as a document.

        Never raises. It keeps names and structure, which show people what it
        is, and no value that is not known to be harmless. The result may be up
        to five times as long.
        """
        return masked_head(head)


def _without_bodies(raw: bytes) -> bytes:
    try:
        return splice(raw, bodies(raw))
    except ValueError:
        # Not a record; the caller's next step rejects it.
        return raw


GUARDED_MEMBERS = frozenset({"requestObject", "responseObject"})
"""The members of an audit record that hold bodies."""

_RESOURCE = re.compile(
    rb'"(?:resource"\s*:\s*"(?:secrets|tokenreviews)'
    rb'|subresource"\s*:\s*"token'
    rb'|requestURI"\s*:\s*"[^"?]*/(?:secrets|tokenreviews|token))'
    rb'["/?]'
)


class _Reference(msgspec.Struct, frozen=True):
    resource: str = ""
    subresource: str = ""


class _Record(msgspec.Struct, frozen=True):
    requestURI: str = ""  # noqa: N815 - the name on the wire
    objectRef: _Reference = _Reference()  # noqa: N815


_decode = msgspec.json.Decoder(_Record).decode


_NAMED = (b"/secrets", b'"secrets', b"/token", b'"token')
"""What `_RESOURCE` finds contains one of these."""


def is_about_secrets(raw: bytes) -> bool:
    """Return whether a request was about Secrets or tokens."""
    if any(find(raw, name) >= 0 for name in _NAMED) and _RESOURCE.search(raw):
        return True
    if not may_hide_letters(raw):
        return False
    try:
        record = _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        # Readable, but not an audit record as we know them.
        return True
    plain = msgspec.json.encode(record)
    return _RESOURCE.search(plain) is not None


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
    """Return whether a piece is a key, judging by its neighbors."""
    before = masked[-1].rstrip()[-1:] if masked else b""
    return bool(
        before in {b"{", b",", b""}
        and _AFTER_KEY.match(after)
        and _KEY.fullmatch(piece)
    )


def _is_harmless(piece: bytes, masked: list[bytes]) -> bool:
    """Return whether a value is harmless, judging by its key and its form."""
    return bool(
        len(masked) > 1
        and masked[-2] in _HARMLESS_KEYS
        and _COLON.fullmatch(masked[-1])
        and _PLAIN.fullmatch(piece)
    )


def _masked_text(text: bytes) -> bytes:
    """Mask the words of a text that may be more than words.

    An error page of a proxy stays readable; tokens, addresses and assignments
    do not.
    """
    return _WORD.sub(GONE, text)
