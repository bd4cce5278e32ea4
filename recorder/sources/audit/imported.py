"""The result of an import for each file: counts, and refusals by reason."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from recorder.sources.files import Document

RANGES_MAX = 20
REASONS_MAX = 20
OTHERS = "other reasons"


class Refusal(msgspec.Struct):
    """Lines of a file that were refused, for one reason."""

    reason: str
    count: int = 0
    ranges: list[tuple[int, int]] = []
    """First and last lines, in order; the first `RANGES_MAX` of them."""

    def note(self, first: int, last: int) -> None:
        """Count a document on these lines."""
        self.count += 1
        if self.ranges and first <= self.ranges[-1][1] + 1:
            self.ranges[-1] = self.ranges[-1][0], max(last, self.ranges[-1][1])
        elif len(self.ranges) < RANGES_MAX:
            self.ranges.append((first, last))

    def lines(self) -> str:
        """Return the lines as text."""
        if self.ranges == [(0, 0)]:
            return "at the end"
        numbers = [f"{a}" if a == b else f"{a}-{b}" for a, b in self.ranges]
        more = len(numbers) == RANGES_MAX
        word = (
            "line"
            if numbers and numbers == [str(self.ranges[0][0])]
            else "lines"
        )
        return f"{word} {', '.join(numbers)}{' and more' * more}"


class ImportedFile(msgspec.Struct, kw_only=True):
    """One file, as far as it was read."""

    path: str
    records: int = 0
    """Audit records, including those that the log has already."""

    objects: int = 0
    """Objects of a cluster, each as it was at one time."""

    events: int = 0
    """Events, each with a time of its own."""

    left_out: dict[str, int] = {}
    """Objects of kinds that are not recorded, by kind."""

    refused: int = 0
    """Documents that are nothing of that."""

    cut: int = 0
    """Documents that end too early."""

    other: int = 0
    """Lines of other logs in the same file."""

    first_at: datetime | None = None
    last_at: datetime | None = None
    """The times of the records."""

    undated: int = 0
    """Records without a time of their own."""

    read_before: bool = False
    """Whether all of it was imported or followed before."""

    trouble: str | None = None
    """Why nothing of it was taken, or no more."""

    refusals: list[Refusal] = []

    @property
    def taken(self) -> int:
        """How many records, objects and Events it has."""
        return self.records + self.objects + self.events

    @property
    def is_whole(self) -> bool:
        """Whether everything in it was taken."""
        return not (self.refused or self.cut or self.trouble)

    def take(self, at: datetime | None) -> None:
        """Count a record."""
        self.records += 1
        self.date(at)

    def date(self, at: datetime | None) -> None:
        """Note the time of a record or an Event."""
        if at is None:
            self.undated += 1
            return
        self.first_at = min(at, self.first_at or at)
        self.last_at = max(at, self.last_at or at)

    def leave_out(self, kind: str) -> None:
        """Count an object of a kind that is not recorded."""
        if kind not in self.left_out and len(self.left_out) >= REASONS_MAX:
            kind = "other kinds"
        self.left_out[kind] = self.left_out.get(kind, 0) + 1

    def refuse(
        self, reason: str, document: Document, *, cut: bool = False
    ) -> None:
        """Count a document that is refused, or ends too early."""
        if cut:
            self.cut += 1
        else:
            self.refused += 1
        found = next((r for r in self.refusals if r.reason == reason), None)
        if found is None and len(self.refusals) >= REASONS_MAX:
            reason = OTHERS
            found = next(
                (r for r in self.refusals if r.reason == reason), None
            )
        if found is None:
            found = Refusal(reason)
            self.refusals.append(found)
        found.note(document.line, document.last_line)

    def says(self) -> Sequence[str]:
        """Return what was refused and why, one line each."""
        return [f"{r.lines()}: {r.reason}" for r in self.refusals]
