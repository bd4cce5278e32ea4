"""The one entrance to redaction: which way a document has to take."""

from recorder.errors import ConfigError
from recorder.redact.audit import GUARDED_MEMBERS, is_about_secrets
from recorder.redact.digest import KeyedDigest
from recorder.redact.edits import Edit, splice
from recorder.redact.embedded import embedded_edits
from recorder.redact.gates import (
    env_marks,
    has_secret_kind,
    has_token_kind,
    may_hide_letters,
)
from recorder.redact.refused import masked_head
from recorder.redact.rules import NameMatcher, RedactionRules
from recorder.redact.validity import check_document
from recorder.redact.walk import Walk

__all__ = ["Redaction"]

KEY_SIZE_BYTES_MIN = 16
"""A shorter key could be tried out together with the values."""


class Redaction:
    """Takes the secrets out of documents, by rules and under one key.

    Every method gives the same object back when there is nothing to redact,
    and redacting twice changes nothing more.
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
        self._matches = NameMatcher(rules.patterns)
        self._digest = KeyedDigest(key)

    def document(self, raw: bytes, *, resource: str | None) -> bytes:
        """Redact an object as it came in a list or a watch frame.

        The resource, in its written form, tells what the items of a list
        do not say of themselves.

        Raises:
            UnreadableError: the bytes are not a JSON document.
        """
        check_document(raw)
        if resource is not None and resource.endswith("/secrets"):
            return splice(raw, self._walked(raw, guarded=None))
        return self._searched(raw)

    def audit(self, raw: bytes) -> bytes:
        """Redact one ``audit.k8s.io`` Event.

        Raises:
            UnreadableError: the bytes are not a JSON document.
        """
        check_document(raw)
        if is_about_secrets(raw):
            return splice(raw, self._walked(raw, guarded=GUARDED_MEMBERS))
        return self._searched(raw)

    def any_json(self, raw: bytes) -> bytes:
        """Redact a document of no known kind, a CloudEvent or an answer.

        Raises:
            UnreadableError: the bytes are not a JSON document.
        """
        check_document(raw)
        return self._searched(raw)

    def refused(self, head: bytes) -> bytes:
        """Mask a piece of bytes that could not be read as a document.

        Never raises. It keeps what tells people what they look at, names
        and structure, and no value that it does not know to be harmless.
        """
        return masked_head(head)

    def _searched(self, raw: bytes) -> bytes:
        return splice(raw, self._edits(raw, depth=0))

    def _edits(self, raw: bytes, *, depth: int) -> list[Edit]:
        if (
            next(env_marks(raw), None)
            or has_secret_kind(raw)
            or has_token_kind(raw)
            or may_hide_letters(raw)
        ):
            return self._walked(raw, depth=depth)
        return []

    def _walked(
        self,
        raw: bytes,
        *,
        guarded: frozenset[str] | None = frozenset(),
        depth: int = 0,
    ) -> list[Edit]:
        def within(token: bytes) -> list[Edit]:
            return embedded_edits(
                token,
                search=lambda text: self._edits(text, depth=depth + 1),
                depth=depth,
            )

        walk = Walk(
            raw,
            matches=self._matches,
            digest=self._digest,
            search=within,
            guarded=guarded,
        )
        return walk.edits()
