"""Entries removed before their day was dropped: their hashes remain.

The hashes of a batch that is not complete, and the digest over all that a run
of retention removed from a log, which an entry of the log repeats: without it,
removals by policy could not be distinguished from tampering.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec

VERSION = 1
HASH = 32

_encode = msgspec.msgpack.Encoder().encode


class Thinned(NamedTuple):
    """What was removed from a batch in one run."""

    batch: int
    offsets: Sequence[int]
    """Of their positions from the first of the batch, ascending."""

    hashes: bytes
    """Of their leaves, one after another."""

    def encoded(self) -> bytes:
        """Return it as it is hashed."""
        return _encode((VERSION, self.batch, self.offsets, self.hashes))


class Digest:
    """The digest over the removals of one run, in the order of batches."""

    def __init__(self) -> None:
        self._digest = sha256()

    def add(self, one: Thinned) -> None:
        """Add the removals from the next batch."""
        self._digest.update(one.encoded())

    def value(self) -> bytes:
        """Return the digest over all so far."""
        return self._digest.digest()


def leaves_of(
    found: Iterable[Thinned], first_position: int, entries: int
) -> Mapping[int, bytes] | None:
    """Return the hashes of the entries removed from a batch, by position.

    None if the stored hashes are inconsistent, for example if an entry was
    removed twice.
    """
    leaves: dict[int, bytes] = {}
    for one in found:
        if len(one.hashes) != HASH * len(one.offsets):
            return None
        for place, offset in enumerate(one.offsets):
            position = first_position + offset
            if position in leaves or not 0 <= offset < entries:
                return None
            start = place * HASH
            leaves[position] = one.hashes[start : start + HASH]
    return leaves
