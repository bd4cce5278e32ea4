"""Searching a document for secrets: the quick way if it can be, else the walk.

The quick way looks only at environments, which are by far the most frequent
secrets, and at the copy that kubectl keeps; it is certain, because it asks
before whether there may be anything else, and gives up where it meets what
it does not know.
"""

import re
from functools import partial

from recorder.redact.digest import KeyedDigest
from recorder.redact.edits import Edit
from recorder.redact.embedded import redacted_string
from recorder.redact.environment import Environments
from recorder.redact.gates import has_secret_kind, may_hide_letters, next_env
from recorder.redact.rules import NameMatcher
from recorder.redact.tokens import string_at
from recorder.redact.validity import check_document
from recorder.redact.walk import Walk

__all__ = ["SecretSearch"]

APPLIED = b'"kubectl.kubernetes.io/last-applied-configuration":"'

COPY_SIZE_BYTES_MAX = 65_536
"""Larger copies are left to the walk. Kubernetes allows four times as much
for all annotations together; without a bound, a list of copies would cost the
square of its length."""


class SecretSearch:
    """Finds what to change in documents.

    Its methods raise `UnreadableError` for bytes that they would have to
    read closely and that are not JSON.
    """

    def __init__(self, matches: NameMatcher, digest: KeyedDigest) -> None:
        self._matches = matches
        self._digest = digest
        self._environments = Environments(matches, digest)

    def everything(self, raw: bytes, depth: int = 0) -> list[Edit]:
        """Find every secret of a document that may be anything.

        ``depth`` tells how often JSON was packed into a string to get here.
        """
        if may_hide_letters(raw) or has_secret_kind(raw):
            return self._walk(raw, depth=depth)
        return self.environments(raw, depth)

    def guarded(
        self, raw: bytes, members: frozenset[str] | None
    ) -> list[Edit]:
        """Find the secrets of a document that is itself secret, or part of it.

        That is what these members of it hold; None means all of it.
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
