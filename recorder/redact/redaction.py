"""The one entrance to redaction: which way a document has to take."""

from recorder.errors import ConfigError
from recorder.redact.audit import GUARDED_MEMBERS, is_about_secrets
from recorder.redact.bodiless import (
    bodies,
    commands,
    is_bodiless,
    messages,
    patches,
    truncated_addresses,
)
from recorder.redact.claims import claims
from recorder.redact.digest import KeyedDigest
from recorder.redact.edits import splice
from recorder.redact.gates import has_token_kind, patches_env
from recorder.redact.refused import masked_head
from recorder.redact.rules import NameMatcher, RedactionRules
from recorder.redact.search import SecretSearch
from recorder.redact.validity import check_document, is_plain

__all__ = ["Redaction"]

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
"""Nearly all of the traffic. The API server keeps only what the schema of
these knows, which is no Secret, and escapes no letter of it."""


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
        """Redact an object as it came in a list or a watch frame.

        The resource, in its written form, tells what the items of a list do
        not say of themselves. ``served`` is the caller's word that an API
        server sent exactly these bytes and that they are JSON: then that is
        not asked again, and what cannot be in an object of the resource is
        not looked for. It is never to be said of a tape. ``checked`` is only
        the caller's word that they are JSON in UTF-8, as a tape's reader has
        seen.

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

        Bodies that nobody could read are not kept, those with half a
        character or nested too deeply: who asked for what is.

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

    def any_json(self, raw: bytes) -> bytes:
        """Redact a document of no known kind, a CloudEvent or an answer.

        Raises:
            UnreadableError: the bytes are not a JSON document.
        """
        check_document(raw)
        return splice(raw, self._search.everything(raw))

    def refused(self, head: bytes) -> bytes:
        """Mask a piece of bytes that could not be read as a document.

        Never raises. It keeps what tells people what they look at, names
        and structure, and no value that it does not know to be harmless. The
        result may be up to five times as long.
        """
        return masked_head(head)


def _without_bodies(raw: bytes) -> bytes:
    try:
        return splice(raw, bodies(raw))
    except ValueError:
        # No record, and for whoever asks next to refuse.
        return raw
