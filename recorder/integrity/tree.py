"""Merkle trees as RFC 6962 defines them, over hashes in bounded memory.

A tree over a million leaves is never held: a `CompactRange` keeps the hashes
of the largest complete subtrees that cover a span of leaves, at most two for
each power of two. Adjacent spans can be joined, so dropped days remain part of
the tree by a few hashes each.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Self

HASH_BYTES = 32
EMPTY = sha256().digest()
"""The hash of a tree without leaves."""

LEAF = b"\0"
NODE = b"\1"

Subtree = Callable[[int, int], bytes]
"""Returns the hash of the leaves from a first to before a last one."""


class ProofError(ValueError):
    """A proof does not lead to the hash that it claims."""


def leaf_hash(leaf: bytes) -> bytes:
    """Return the hash of a leaf."""
    return sha256(LEAF + leaf).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(NODE + left + right).digest()


def tree_hash(hashes: Sequence[bytes]) -> bytes:
    """Return the hash of a tree over the hashes of its leaves."""
    if not hashes:
        return EMPTY
    level = list(hashes)
    while len(level) > 1:
        # The last of an odd number moves up one level unchanged, which gives
        # the same tree as splitting at powers of two.
        odd = level.pop() if len(level) % 2 else None
        pairs = iter(level)
        level = [
            sha256(NODE + left + right).digest()
            for left, right in zip(pairs, pairs, strict=True)
        ]
        if odd is not None:
            level.append(odd)
    return level[0]


@dataclass(slots=True)
class CompactRange:
    """The leaves from ``begin`` to before ``end``, as hashes of subtrees."""

    begin: int = 0
    end: int = 0
    hashes: list[bytes] = field(default_factory=list)
    """From left to right, of the subtrees of `_levels`."""

    @classmethod
    def of(cls, begin: int, hashes: Iterable[bytes]) -> Self:
        """Return the range of leaves from a first one on."""
        made = cls(begin, begin)
        for one in hashes:
            made.append(one)
        return made

    @classmethod
    def unpack(cls, begin: int, end: int, packed: bytes) -> Self:
        """Return the range that `pack` wrote.

        Raises:
            ProofError: the hashes are not as many as the span needs.
        """
        hashes = [
            packed[at : at + HASH_BYTES]
            for at in range(0, len(packed), HASH_BYTES)
        ]
        needed = sum(1 for _ in _levels(begin, end))
        if len(packed) != needed * HASH_BYTES:
            msg = (
                f"the span from {begin} to {end} takes {needed} hashes of"
                f" {HASH_BYTES} bytes, not {len(packed)} bytes"
            )
            raise ProofError(msg)
        return cls(begin, end, hashes)

    def pack(self) -> bytes:
        """Return the hashes as bytes; the span is kept beside them."""
        return b"".join(self.hashes)

    def copy(self) -> Self:
        """Return a range of its own, to be appended to."""
        return type(self)(self.begin, self.end, list(self.hashes))

    def append(self, one: bytes, level: int = 0) -> None:
        """Append the hash of a leaf, or of a complete subtree."""
        self.hashes.append(one)
        self.end += 1 << level
        # Two subtrees of one size are one of the next, if the tree has its
        # node: at a multiple of its size.
        while (
            self.end % (2 << level) == 0
            and self.end - (2 << level) >= self.begin
        ):
            right = self.hashes.pop()
            self.hashes[-1] = _node(self.hashes[-1], right)
            level += 1

    def join(self, other: "CompactRange") -> None:
        """Append the leaves of the range that begins where this one ends.

        Raises:
            ProofError: it begins elsewhere.
        """
        if other.begin != self.end:
            msg = f"leaves {self.end} to {other.begin} are missing"
            raise ProofError(msg)
        levels = _levels(other.begin, other.end)
        for level, one in zip(levels, other.hashes, strict=True):
            self.append(one, level)

    def root(self) -> bytes:
        """Return the hash of the tree over all leaves so far."""
        assert self.begin == 0, "a tree begins with its first leaf"
        if not self.hashes:
            return EMPTY
        return self.fold()

    def fold(self) -> bytes:
        """Return the hash of a span that is one node of a tree."""
        *before, found = self.hashes
        for left in reversed(before):
            found = _node(left, found)
        return found


def _levels(begin: int, end: int) -> Iterator[int]:
    """Yield the sizes of the largest subtrees of a span, as powers of two."""
    while begin < end:
        level = (end - begin).bit_length() - 1
        if begin:
            level = min(level, (begin & -begin).bit_length() - 1)
        yield level
        begin += 1 << level


def _split(size: int) -> int:
    """Return the largest power of two below a size of two or more."""
    return int(1 << ((size - 1).bit_length() - 1))


def inclusion_proof(index: int, size: int, subtree: Subtree) -> list[bytes]:
    """Return the proof that a leaf is in a tree of a size, from below."""
    return [subtree(*beside) for _, beside in reversed(_way(index, size))]


def check_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes]
) -> bytes:
    """Return the hash of the tree that a proof leads to, from a leaf's.

    Raises:
        ProofError: it has too few or too many hashes, or none is possible.
    """
    if not 0 <= index < size:
        msg = f"there is no leaf {index} in a tree of {size}"
        raise ProofError(msg)
    way = _way(index, size)
    _check_length(proof, len(way))
    found = leaf
    for (is_left, _), one in zip(reversed(way), proof, strict=True):
        found = _node(found, one) if is_left else _node(one, found)
    return found


def consistency_proof(old: int, size: int, subtree: Subtree) -> list[bytes]:
    """Return the proof that a tree of a size begins with an older one."""
    if not 0 < old < size:
        return []
    way, (begin, end) = _way_to_end(old, size)
    path = [subtree(*beside) for _, beside in way]
    if begin:
        path.append(subtree(begin, end))
    return path[::-1]


def check_consistency(
    old: int, old_hash: bytes, size: int, proof: Sequence[bytes]
) -> bytes:
    """Return the hash of the larger tree that a proof leads to.

    Raises:
        ProofError: the proof does not lead from the older tree.
    """
    if not 0 < old < size:
        msg = f"nothing leads from a tree of {old} to one of {size}"
        raise ProofError(msg)
    way, (begin, _) = _way_to_end(old, size)
    _check_length(proof, len(way) + bool(begin))
    # The subtree in which the older tree ends, unless that is all of it.
    rest = list(proof)
    before = after = rest.pop(0) if begin else old_hash
    for (is_left, _), one in zip(reversed(way), rest, strict=True):
        if is_left:
            after = _node(after, one)
        else:
            before, after = _node(one, before), _node(one, after)
    if before != old_hash:
        msg = f"the tree of {old} leaves is not a beginning of this one"
        raise ProofError(msg)
    return after


Step = tuple[bool, tuple[int, int]]
"""Whether the path goes left, and the span of the subtree beside it."""


def _way(index: int, size: int) -> list[Step]:
    """Return the path from the root to a leaf."""
    way: list[Step] = []
    begin, end = 0, size
    while end - begin > 1:
        begin, end = _step(
            way, begin, end, is_left=index < _middle(begin, end)
        )
    return way


def _way_to_end(old: int, size: int) -> tuple[list[Step], tuple[int, int]]:
    """Return the path to the subtree in which an older tree ends, and that."""
    way: list[Step] = []
    begin, end = 0, size
    while old != end:
        begin, end = _step(way, begin, end, is_left=old <= _middle(begin, end))
    return way, (begin, end)


def _middle(begin: int, end: int) -> int:
    """Return where a span of two leaves or more is split."""
    return begin + (1 << ((end - begin - 1).bit_length() - 1))


def _step(
    way: list[Step], begin: int, end: int, *, is_left: bool
) -> tuple[int, int]:
    middle = _middle(begin, end)
    left, right = (begin, middle), (middle, end)
    way.append((is_left, right if is_left else left))
    return left if is_left else right


def _check_length(proof: Sequence[bytes], needed: int) -> None:
    if len(proof) != needed:
        msg = f"the proof has {len(proof)} hashes, and {needed} are needed"
        raise ProofError(msg)
