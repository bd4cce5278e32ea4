"""Batches of audit records: an EventList, split into its records.

A record has the body of a patch as it was sent: nested a thousand deep, or
with half a character in it. No decoder accepts that, and one such request must
not make the batch fail with all other records in it. So records are never
decoded here, and where decoding the list fails, it is split by its brackets.
"""

import re
from collections.abc import Sequence

import msgspec

from recorder.model.errors import InputError

_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]', re.DOTALL)
_BETWEEN = re.compile(rb"\s*,?\s*")
IN_RECORDS = 2
"""The depth within the list of the records."""


class BatchError(InputError):
    """A body that is not an EventList of ``audit.k8s.io/v1``."""

    code = "input.batch"


class _Records(msgspec.Struct):
    kind: str
    api_version: str = msgspec.field(name="apiVersion")
    items: list[msgspec.Raw] = []


_decode = msgspec.json.Decoder(_Records).decode


def read_batch(body: bytes) -> Sequence[bytes]:
    """Return the records of a batch, each as it was sent.

    Takes some seconds for a body that can only be split by its brackets.

    Raises:
        BatchError: it is not a batch.
    """
    try:
        found = _decode(body)
    except (ValueError, RecursionError) as exc:
        return _by_brackets(body, exc)
    _check(found.kind, found.api_version)
    return [bytes(item) for item in found.items]


def _check(kind: str, version: str) -> None:
    if (kind, version) != ("EventList", "audit.k8s.io/v1"):
        msg = (
            f"this is {kind[:64]} of {version[:64]}, not EventList of"
            " audit.k8s.io/v1"
        )
        raise BatchError(msg)


def _by_brackets(body: bytes, why: Exception) -> Sequence[bytes]:
    """Return the records between the brackets of the list."""
    found = _Brackets(body)
    for token in _TOKEN.finditer(body):
        first = token[0][:1]
        if first in b"{[":
            found.open(token)
        elif first in b"}]":
            found.close(token)
        elif found.depth == 1:
            found.text(token)
    if found.depth or found.has_more or not found.items:
        msg = f"this is no EventList of audit.k8s.io/v1: {why}"
        raise BatchError(msg)
    _check(found.said.get(b"kind", ""), found.said.get(b"apiVersion", ""))
    return found.items


class _Brackets:
    """Finds by the brackets of a list where each record is."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._name = b""
        self._begin = self._end = 0
        self.depth = 0
        self.items: list[bytes] = []
        self.said: dict[bytes, str] = {}
        self.has_more = False
        """Whether there is anything between the records."""

    def open(self, token: re.Match[bytes]) -> None:
        if self.depth == IN_RECORDS and self._name == b"items":
            self._begin = token.start()
            self._scan(self._begin)
        self.depth += 1
        if self.depth == IN_RECORDS:
            self._end = token.end()

    def close(self, token: re.Match[bytes]) -> None:
        self.depth -= 1
        if self._name != b"items":
            return
        if self.depth == IN_RECORDS:
            self._end = token.end()
            self.items.append(self._body[self._begin : self._end])
        elif self.depth == 1:
            self._scan(token.start())

    def text(self, token: re.Match[bytes]) -> None:
        if token[2] is not None:
            self._name = token[1]
        else:
            self.said[self._name] = token[1].decode(errors="replace")

    def _scan(self, until: int) -> None:
        between = self._body[self._end : until]
        self.has_more |= _BETWEEN.fullmatch(between) is None
