"""Following a log batch by batch, and comparing it with its checkpoints.

Takes headers in their order, in bounded memory. The entries of batches are
compared elsewhere; here a header only names a root.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from recorder.integrity.leaves import BatchHeader
from recorder.integrity.notes import Checkpoint
from recorder.integrity.tree import CompactRange, ProofError
from recorder.model.document import Document
from recorder.model.reference import EntryName


class Problem(Document, frozen=True, kw_only=True):
    """A difference from what was written."""

    kind: str
    """A stable word: see ``docs/integrity.md``."""

    batch: int | None = None
    entry: EntryName | None = None
    """The entry at the position, once its log is known."""

    says: str
    position: int | None = msgspec.field(default=None, name="_position")


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A checkpoint, and where it was found."""

    checkpoint: Checkpoint
    place: str


@dataclass(slots=True)
class Chain:
    """The tree of a log, as far as its headers were followed."""

    tree: CompactRange = field(default_factory=CompactRange)
    """Of all batches before the first header; empty at the beginning."""

    next_position: int = 1
    checkpoints: Mapping[int, Sequence[Witnessed]] = field(
        default_factory=dict
    )
    """By the number of batches that they commit to."""

    agreed: int = 0
    """The newest number of batches on which a checkpoint agrees."""

    broken: bool = False
    """Whether a batch is missing, so that no tree can be computed."""

    forked: bool = False
    """Whether a stored tree differed: then all after it do."""

    @classmethod
    def against(cls, checkpoints: Iterable[Witnessed]) -> "Chain":
        """Return the chain of a log from its first batch on."""
        by_size = defaultdict(list)
        for one in checkpoints:
            by_size[one.checkpoint.batches].append(one)
        return cls(checkpoints=by_size)

    def follow(
        self, header: BatchHeader, tree: bytes | None
    ) -> Iterator[Problem]:
        """Take the next header; yield what is wrong with it.

        ``tree`` is the hash of the log's tree that is stored with it.
        """
        number = self.tree.end + 1
        if header.batch != number:
            self.broken = True
            yield Problem(
                kind="batch-missing",
                batch=number,
                says=f"batch {number} is missing; {header.batch} comes next",
            )
            self.tree.end = header.batch - 1
        if header.first_position != self.next_position:
            yield Problem(
                kind="batch-altered",
                batch=header.batch,
                says=f"batch {header.batch} begins at position"
                f" {header.first_position}, and the one before ends at"
                f" {self.next_position - 1}",
            )
        self.next_position = header.last_position + 1
        if self.broken:
            self.tree.end += 1
            return
        self.tree.append(header.hash())
        root = self.tree.root()
        if tree is not None and tree != root and not self.forked:
            self.forked = True
            yield Problem(
                kind="tree-altered",
                batch=header.batch,
                says=f"the header of batch {header.batch} or of one before"
                " it is not the one that was written: the tree of the log"
                " up to it has another hash",
            )
        yield from self._compare(root)

    def skip(
        self, days: CompactRange, last_position: int
    ) -> Iterator[Problem]:
        """Take the batches of a day that has only hashes left."""
        number = self.tree.end + 1
        if self.broken and days.begin == self.tree.end:
            self.leave_out(days.end, last_position)
            return
        try:
            self.tree.join(days)
        except ProofError as exc:
            self.broken = True
            yield Problem(
                kind="batch-missing",
                batch=number,
                says=f"the hashes of dropped batches are not all there: {exc}",
            )
            self.tree.end = days.end
        self.next_position = last_position + 1
        if not self.broken:
            yield from self._compare(self.tree.root())

    def leave_out(self, last_batch: int, last_position: int) -> None:
        """Continue after batches that cannot be followed."""
        self.broken = True
        self.tree.end, self.next_position = last_batch, last_position + 1

    def _compare(self, root: bytes) -> Iterator[Problem]:
        size = self.tree.end
        wrong = [
            one
            for one in self.checkpoints.get(size, ())
            if one.checkpoint.root != root
        ]
        if wrong:
            yield Problem(
                kind="checkpoint-mismatch",
                batch=size,
                says=f"{_places(wrong)} commits to another history: one of"
                f" the batches {self.agreed + 1} to {size} was replaced",
            )
        elif size in self.checkpoints:
            self.agreed = size

    def end(self) -> Iterator[Problem]:
        """Yield what is missing after the last header."""
        beyond = [size for size in self.checkpoints if size > self.tree.end]
        if beyond:
            size = max(beyond)
            yield Problem(
                kind="truncated",
                batch=self.tree.end + 1,
                says=f"{_places(self.checkpoints[size])} commits to"
                f" {size} batches and the log ends with batch"
                f" {self.tree.end}: its end was removed",
            )


def _places(found: Sequence[Witnessed]) -> str:
    names = sorted({one.place for one in found})
    return f"the checkpoint in {' and '.join(names)}"
