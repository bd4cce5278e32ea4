"""Incidents and entries of several clusters, page by page in order of time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from api.answers.fleet import Each, ask_each, merged_coverage
from api.answers.fleet_pages import Item, Part, Turn, merged
from api.answers.incidents import (
    Judged,
    Shape,
    check_steps,
    facets,
    histogram,
    judge,
    nearest,
    page_of,
    places_shown,
)
from api.answers.paging import UNASKED, Page, entries
from api.context import RequestContext
from api.cursors import EPOCH, MICROSECOND, Cursor, MomentCursor
from api.fleet_cursors import Spot
from api.types.coverage import Coverage
from api.types.entries import EntryConnection, EntryEdge
from api.types.incidents import (
    IncidentConnection,
    IncidentEdge,
    Nearest,
    PlaceLabel,
)
from recorder.answers.incidents import JudgedIncident
from recorder.answers.log_questions import EntryQuestion
from recorder.answers.node_questions import IncidentFilter
from recorder.answers.nouns import Line
from recorder.answers.ports import Reading
from recorder.model.window import Window

__all__ = ["fleet_entries", "fleet_incidents"]

Span = tuple[datetime | None, datetime | None]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _OfLog:
    """What one log has of a page of incidents."""

    judged: Judged
    part: Part[JudgedIncident]
    places: Sequence[PlaceLabel]
    nearest: Nearest | None


async def fleet_incidents(
    asked: RequestContext,
    clusters: Sequence[str],
    wanted: IncidentFilter,
    span: Span,
    shape: Shape,
) -> IncidentConnection:
    """Return one page of the incidents of several clusters.

    Of each it has what the fields need.

    Raises:
        PageSizeError: too many steps.
        CursorError: a cursor that these clusters never gave.
    """
    check_steps(shape.steps)
    fields = shape.fields
    turn = Turn("incidents", shape.page)

    async def ask(reading: Reading) -> _OfLog:
        judged = await judge(asked, reading, wanted, span)
        beside = None
        if not judged.chosen and "nearest" in fields:
            beside = await nearest(reading, judged.within, wanted.node)
        return _of_log(reading, judged, turn, beside)

    found = await ask_each(asked, clusters, ask)
    clusters_of = {str(r.log.id): r.log.cluster_name for r, _ in found.answers}
    merge = merged(turn, {str(r.log.id): one.part for r, one in found.answers})
    edges = [
        IncidentEdge(
            cursor=cursor,
            node=item.node,
            cluster=clusters_of[log],
        )
        for cursor, (log, item) in zip(merge.cursors, merge.items, strict=True)
    ]
    chosen = [one for _, of in found.answers for one in of.judged.chosen]
    coverage = _coverage(
        asked,
        found,
        [of.judged.coverage for _, of in found.answers],
        span,
    )
    within = Window(coverage.since, coverage.until)
    struck = {
        (edge.cluster, node) for edge in edges for node in edge.node.nodes
    }
    return IncidentConnection(
        edges=edges,
        nodes=[edge.node for edge in edges],
        page_info=merge.info,
        histogram=histogram(chosen, within, shape.steps, coverage),
        count=len(chosen),
        places=[
            place
            for _, of in found.answers
            for place in of.places
            if (place.cluster, place.node) in struck
        ],
        facets=facets((of.judged for _, of in found.answers), fields),
        nearest=None if chosen else _nearest(found),
        coverage=coverage,
    )


def _of_log(
    reading: Reading, judged: Judged, turn: Turn, beside: Nearest | None
) -> _OfLog:
    page = _moments(turn, reading)
    shown, info = page_of(reading, judged.chosen, page)
    part = Part(
        [Item(one.place[0], _spot(one), one) for one in shown],
        info.has_next_page if page.forward else info.has_previous_page,
    )
    places = places_shown(reading, judged.places, shown)
    return _OfLog(judged, part, places, beside)


async def fleet_entries(
    asked: RequestContext,
    clusters: Sequence[str],
    wanted: EntryQuestion,
    page: Page,
    fields: frozenset[str],
) -> EntryConnection:
    """Return one page of the entries of several clusters.

    Raises:
        CursorError: a cursor that these clusters never gave.
    """
    turn = Turn("entries", page)

    async def ask(reading: Reading) -> EntryConnection:
        of_log = _positions(turn, reading)
        return await entries(asked, reading, wanted, of_log, fields)

    found = await ask_each(asked, clusters, ask)
    parts: dict[str, Part[Line]] = {}
    for reading, answer in found.answers:
        info = answer.page_info
        parts[str(reading.log.id)] = Part(
            [
                Item(one.observed_at, _position(one), one)
                for one in answer.nodes
            ],
            info.has_next_page if page.forward else info.has_previous_page,
        )
    clusters_of = {str(r.log.id): r.log.cluster_name for r, _ in found.answers}
    merge = merged(turn, parts)
    edges = [
        EntryEdge(cursor=cursor, node=item.node, cluster=clusters_of[log])
        for cursor, (log, item) in zip(merge.cursors, merge.items, strict=True)
    ]
    window = wanted.window
    return EntryConnection(
        edges=edges,
        nodes=[edge.node for edge in edges],
        page_info=merge.info,
        coverage=_coverage(
            asked,
            found,
            [answer.coverage for _, answer in found.answers],
            (window.since, window.until),
        )
        if "coverage" in fields
        else UNASKED,
    )


def _coverage(
    asked: RequestContext,
    found: Each[Answer],
    parts: Sequence[Coverage],
    span: Span,
) -> Coverage:
    names = [reading.log.cluster_name for reading, _ in found.answers]
    return merged_coverage(
        list(zip(names, parts, strict=True)),
        found.away,
        now=asked.now,
        since=span[0],
        until=span[1],
    )


def _moments(turn: Turn, reading: Reading) -> Page:
    """Return the page that a log is asked for, of incidents."""
    log, bounds = reading.log, turn.bounds(str(reading.log.id))
    after, before = bounds.after, bounds.before
    if before is not None and before[1] > log.size:
        # Behind all of the same moment.
        before = before[0] + 1, 0
    return replace(
        turn.page,
        after=after and str(MomentCursor(log.id, *after)),
        before=before and str(MomentCursor(log.id, *before)),
    )


def _positions(turn: Turn, reading: Reading) -> Page:
    """Return the page that a log is asked for, of entries."""
    log, bounds = reading.log, turn.bounds(str(reading.log.id))
    after, before = bounds.after, bounds.before
    if before is not None and before[1] == log.size + 1:
        before = None
    return replace(
        turn.page,
        after=after and str(Cursor(log.id, after[1])),
        before=before and str(Cursor(log.id, before[1])),
    )


def _spot(one: JudgedIncident) -> Spot:
    at, position = one.place
    return (at - EPOCH) // MICROSECOND, position


def _position(one: Line) -> Spot:
    return 0, one.entry.position


def _nearest(found: Each[_OfLog]) -> Nearest:
    known = [of.nearest for _, of in found.answers if of.nearest is not None]
    before = [one.before for one in known if one.before is not None]
    after = [one.after for one in known if one.after is not None]
    return Nearest(
        before=max(before, key=lambda one: one.at, default=None),
        after=min(after, key=lambda one: one.at, default=None),
    )
