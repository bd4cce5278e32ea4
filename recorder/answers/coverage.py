"""Coverage and gaps as lines for people."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec.structs import replace

from recorder.answers.text.table import Cell, Column, Kind
from recorder.facts.coverage.coverage import Coverage
from recorder.facts.coverage.hole import Gap, Hole
from recorder.facts.coverage.outages import Outage, outages_of
from recorder.model.moment import FIRST, written

SHOWN_MAX = 5
"""Gaps named in an answer; `recorder gaps` lists all."""

NAMED_MAX = 3
"""Resources named in one line."""


def missing_lines(coverage: Coverage, named: Iterable[Gap]) -> list[str]:
    """Return the lines of coverage, and of gaps that affect verdicts."""
    lines = coverage_lines(coverage)
    return [
        *lines,
        *(
            f"a verdict is affected by a gap: {said}"
            for said in map(_gap, named)
            if f"INCOMPLETE: {said}" not in lines
        ),
    ]


def coverage_lines(coverage: Coverage) -> list[str]:
    """Return whether something may be missing, and what."""
    if coverage.complete:
        return [
            f"complete{_begin(coverage)}{_end(coverage)}",
            *archive_lines(coverage),
        ]
    parts = [
        *(
            _span(few(resources), hole.since, hole.until, hole.reason)
            for hole, resources in grouped(coverage.holes)
        ),
        *map(outage_line, outages_of(coverage.opened)),
    ]
    shown = parts[:SHOWN_MAX]
    left = len(parts) + (coverage.more_gaps or 0) - len(shown)
    if left:
        shown.append(f"and {left} more: see `recorder gaps`")
    return [
        *(f"INCOMPLETE: {part}" for part in shown),
        *archive_lines(coverage),
    ]


def archive_lines(coverage: Coverage) -> list[str]:
    """Return what was read from which archive, and what was not read."""
    begins = coverage.begins
    earlier = (
        []
        if begins is None
        else [f"not read: dropped days before {written(begins)}; use --since"]
    )
    return [
        *earlier,
        *(
            f"from the archive: {written(one.since)} to {written(one.until)},"
            f" in {one.place}"
            for one in coverage.archived or ()
        ),
    ]


def _begin(coverage: Coverage) -> str:
    begins = coverage.begins
    return "" if begins is None else f" from {written(begins)}"


def _end(coverage: Coverage) -> str:
    until, proven = coverage.window.until, coverage.proven_until
    if until is None:
        return ""
    said = f" until {written(until)}"
    if proven is not None and proven < until:
        said += f", proven until {written(proven)}"
    return said


def outage_line(outage: Outage) -> str:
    """Return an outage in one line, with the gaps that record it."""
    said = _span(
        few(outage.resources), outage.since, outage.until, outage.reason
    )
    gaps = [str(gap) for gap in outage.gaps]
    word = "gap" if len(gaps) == 1 else "gaps"
    return f"{said} ({word} {few(gaps)})"


def _gap(gap: Gap) -> str:
    said = _span(gap.resource, gap.since, gap.until, gap.reason)
    return f"{said} (gap {gap.opened})"


def _span(
    resource: str, since: datetime | None, until: datetime | None, reason: str
) -> str:
    begin = f" from {written(since)}" if since and since > FIRST else ""
    end = "" if until is None else f" to {written(until)}"
    return f"{resource}{begin}{end}: {reason}"


def grouped(holes: Iterable[Hole]) -> Sequence[tuple[Hole, Sequence[str]]]:
    """Group holes of one source and reason, with their resources.

    When a recorder fails, each resource has a hole that begins at its own
    last proof; the hole of a group spans all of them.
    """
    found: dict[tuple[str, str], list[Hole]] = {}
    for hole in holes:
        found.setdefault((hole.source, hole.reason), []).append(hole)
    return [
        (
            replace(group[0], since=_earliest(group), until=_latest(group)),
            [hole.resource for hole in group if hole.resource is not None],
        )
        for group in found.values()
    ]


def few(resources: Sequence[str]) -> str:
    """Return the names of resources, shortened if there are many."""
    if not resources:
        return "everything"
    left = len(resources) - NAMED_MAX
    named = ", ".join(resources[:NAMED_MAX])
    return f"{named} and {left} more" if left > 0 else named


def _earliest(holes: Sequence[Hole]) -> datetime | None:
    begins = [hole.since for hole in holes if hole.since is not None]
    return min(begins) if len(begins) == len(holes) else None


def _latest(holes: Sequence[Hole]) -> datetime | None:
    ends = [hole.until for hole in holes if hole.until is not None]
    return max(ends) if len(ends) == len(holes) else None


GAP_COLUMNS = (
    Column("ID"),
    Column("SOURCE", rank=3),
    Column("RESOURCE"),
    Column("FROM", Kind.TIME),
    Column("AGE", Kind.AGE, rank=1),
    Column("TO", Kind.TIME, rank=2),
    Column("REASON"),
)


def gap_cells(gap: Gap) -> Sequence[Cell]:
    """Return a gap as a row of the table."""
    return (
        str(gap.opened),
        gap.source,
        gap.resource,
        gap.since or "",
        gap.since or "",
        gap.until or "open",
        gap.reason,
    )


def hole_cells(coverage: Coverage) -> list[Sequence[Cell]]:
    """Return the holes without an entry as rows of the table."""
    return [
        (
            None,
            hole.source,
            f"{len(resources)} resources"
            if len(resources) > 1
            else few(resources),
            hole.since or "",
            hole.since or "",
            hole.until or "open",
            hole.reason,
        )
        for hole, resources in grouped(coverage.holes)
    ]


def detail_lines(gap: Gap) -> list[str]:
    """Return what was proved about a gap, and what may be missing."""
    lines = [f"gap {gap.opened}: {gap.proved}"]
    if not gap.healed:
        lines.extend(f"  may be missing: {one}" for one in gap.possible or ())
    return lines
