"""Answers of `recorder gaps`: spans in which entries may be missing."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime

from msgspec import field
from msgspec.structs import replace

from recorder.answers.coverage import (
    GAP_COLUMNS,
    coverage_lines,
    detail_lines,
    gap_cells,
    grouped,
    hole_cells,
)
from recorder.answers.outages import (
    OUTAGE_COLUMNS,
    outage_cells,
    outage_lines,
    read_changes,
    unrecorded_cells,
)
from recorder.answers.ports import Reading
from recorder.answers.text.shown import Brief, Item, Listing
from recorder.facts.coverage.account import everything
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.outages import Outage, outages_of
from recorder.facts.coverage.ports import Reads
from recorder.model.document import Document
from recorder.model.window import Window

GAPS_MAX = 10_000
"""Gaps in an answer, the newest; 600 bytes each."""


class Gaps(Document, frozen=True, kw_only=True):
    """The gaps of a window, oldest first, healed ones included."""

    gaps: Sequence[Gap]
    outages: Sequence[Outage]
    """Gaps of one reason whose times overlap, and what is known to have
    changed meanwhile."""

    more: int = field(default=0, name="_more")
    """How many older ones are not shown."""

    coverage: Coverage


async def ask_gaps(
    reading: Reading,
    window: Window,
    *,
    now: datetime,
    reads: Reads = everything,
) -> Gaps:
    """Find the gaps that overlap a window."""
    await reading.reach(window.since, window.until)
    found: deque[Gap] = deque(maxlen=GAPS_MAX)
    count = 0
    async for gap in reading.gaps(window.since):
        if gap.overlaps(window.since, window.until) and reads(
            gap.source, gap.resource
        ):
            found.append(gap)
            count += 1
    still_open = [
        stream.gap
        for stream in reading.streams
        if stream.gap is not None
        and stream.gap.overlaps(window.since, window.until)
        and reads(stream.source, stream.resource)
    ]
    gaps = sorted([*found, *still_open], key=lambda gap: gap.opened)
    return Gaps(
        gaps=gaps,
        outages=await read_changes(reading, outages_of(gaps)),
        more=count - len(found),
        coverage=await covered(reading, window, now=now, reads=reads),
    )


def shown(answer: Gaps, question: Window, *, verbose: bool) -> Listing:
    """Return an answer as `recorder gaps` prints it.

    People are shown outages, and the holes without an entry too; with every
    column, the gaps that outages are made of.
    """
    del question, verbose
    gaps, more, coverage = answer.gaps, answer.more, answer.coverage
    return Listing(
        columns=GAP_COLUMNS,
        items=[
            *(
                Item(str(gap.opened), gap_cells(gap), gap)
                for gap in answer.gaps
            ),
            *(Item("-", row, None) for row in hole_cells(coverage)),
        ],
        whole=lambda shown: replace(answer, gaps=shown),
        nothing=f"no gaps: {coverage_lines(coverage)[0]}",
        notes=[f"{more} older gaps not shown: use --since"] if more else [],
        brief=Brief(
            columns=OUTAGE_COLUMNS,
            rows=[
                *map(outage_cells, answer.outages),
                *map(unrecorded_cells, grouped(coverage.holes)),
            ],
            after=[
                line for one in answer.outages for line in outage_lines(one)
            ],
        ),
        after=[line for gap in gaps for line in detail_lines(gap)],
        says_missing=True,
    )
