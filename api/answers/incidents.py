"""Incidents, page by page, and one of them by its id."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import strawberry

from api.answers.paging import Page
from api.answers.windows import bounded
from api.context import RequestContext
from api.cursors import MomentCursor
from api.errors import PageSizeError
from api.remembering import Found, Stand
from api.types.coverage import Coverage
from api.types.incidents import (
    FacetCounts,
    Histogram,
    HistogramStep,
    IncidentConnection,
    IncidentEdge,
    Moment,
    Nearest,
    PlaceLabel,
)
from api.types.pages import PageInfo
from recorder.answers.around import ask_nearest
from recorder.answers.facets import facets_of
from recorder.answers.incident import NoIncidentError, ask_incident
from recorder.answers.incidents import (
    Incidents,
    JudgedIncident,
    ask_incidents,
    is_wanted,
    places_of,
)
from recorder.answers.node_questions import IncidentFilter, IncidentsQuestion
from recorder.answers.ports import Reading
from recorder.coverage.coverage import Coverage as Covered
from recorder.facts import says
from recorder.model.fact import StoredFact
from recorder.model.reference import EntryName
from recorder.model.window import Window

__all__ = [
    "Judged",
    "Shape",
    "check_steps",
    "facets",
    "histogram",
    "incident_page",
    "judge",
    "nearest",
    "one_incident",
    "page_of",
    "places_shown",
]

STEPS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a list is shown."""

    page: Page
    steps: int
    """Of the histogram."""

    fields: frozenset[str]
    """That are selected, at any depth."""


async def incident_page(
    asked: RequestContext,
    reading: Reading,
    wanted: IncidentFilter,
    span: tuple[datetime | None, datetime | None],
    shape: Shape,
) -> IncidentConnection:
    """Return one page of incidents; of each what the fields need.

    Raises:
        PageSizeError: too many steps.
        CursorError: a cursor that this log never gave.
    """
    check_steps(shape.steps)
    fields = shape.fields
    judged = await judge(asked, reading, wanted, span)
    shown, info = page_of(reading, judged.chosen, shape.page)
    cluster = reading.log.cluster_name
    coverage = judged.coverage
    return IncidentConnection(
        edges=[
            IncidentEdge(
                cursor=_cursor(reading, one), node=one, cluster=cluster
            )
            for one in shown
        ],
        nodes=[*shown],
        page_info=info,
        histogram=histogram(
            judged.chosen, judged.coverage.window, shape.steps, coverage
        ),
        count=len(judged.chosen),
        places=places_shown(reading, judged.places, shown),
        facets=facets([judged], fields),
        nearest=None
        if judged.chosen or "nearest" not in fields
        else await nearest(reading, judged.within, wanted.node),
        coverage=coverage,
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """What happened in one log, as far as it is wanted, oldest first."""

    within: Window
    chosen: Sequence[JudgedIncident]
    coverage: Covered
    places: Mapping[str, Mapping[str, str]]
    """The labels that say where the nodes of what was chosen stand."""


def facets(
    found: Iterable[Judged], fields: frozenset[str]
) -> list[FacetCounts]:
    """Return what to narrow by in some logs, if it is selected."""
    if "facets" not in fields:
        return []
    return FacetCounts.merged(facets_of(o.chosen, o.places) for o in found)


async def judge(
    asked: RequestContext,
    reading: Reading,
    wanted: IncidentFilter,
    span: tuple[datetime | None, datetime | None],
) -> Judged:
    """Find what happened in one log."""
    within = bounded(reading, *span)
    found = await _found(asked, reading, within)
    places, incidents = found.places, found.incidents
    chosen = [
        one for one in incidents.incidents if is_wanted(wanted, one, places)
    ]
    return Judged(within, chosen, incidents.coverage, places)


async def _found(
    asked: RequestContext, reading: Reading, within: Window
) -> Found:
    """Judge a window of a log, unless that was done as the log stands."""
    stand = await Stand.of(reading, asked.principal, within)
    known = None if stand is None else asked.judged.at(stand, asked.now)
    if known is not None:
        return known
    incidents = await ask_incidents(
        reading,
        IncidentsQuestion(window=within),
        asked.knowledge,
        now=asked.now,
    )
    places = await places_of(reading, incidents.incidents)
    found = Found(incidents, places)
    if stand is not None:
        asked.judged.keep(stand, found)
    return found


def check_steps(steps: int) -> None:
    """Check how finely is counted.

    Raises:
        PageSizeError: too many steps.
    """
    if not 0 < steps <= STEPS_MAX:
        msg = f"cannot use steps: {steps}: it is 1 to {STEPS_MAX}"
        raise PageSizeError(msg)


def places_shown(
    reading: Reading,
    places: Mapping[str, Mapping[str, str]],
    shown: Sequence[JudgedIncident],
) -> list[PlaceLabel]:
    """Return where the nodes of incidents stand."""
    cluster = reading.log.cluster_name
    return [
        PlaceLabel(node=node, key=key, value=value, cluster=cluster)
        for node in sorted({name for one in shown for name in one.nodes})
        for key, value in sorted(places.get(node, {}).items())
    ]


def _cursor(reading: Reading, one: JudgedIncident) -> str:
    return str(MomentCursor.at(reading.log.id, *one.place))


def page_of(
    reading: Reading, chosen: Sequence[JudgedIncident], page: Page
) -> tuple[Sequence[JudgedIncident], PageInfo]:
    """Return one page of what happened in a log.

    Raises:
        CursorError: a cursor that this log never gave.
    """
    log = reading.log
    within = list(chosen)
    if page.after is not None:
        after = MomentCursor.parse(page.after, log)
        within = [one for one in within if one.place > after.place]
    if page.before is not None:
        before = MomentCursor.parse(page.before, log)
        within = [one for one in within if one.place < before.place]
    shown = within[: page.size] if page.forward else within[-page.size :]
    more = len(within) > len(shown)
    return shown, PageInfo(
        has_next_page=more if page.forward else page.before is not None,
        has_previous_page=page.after is not None if page.forward else more,
        start_cursor=_cursor(reading, shown[0]) if shown else None,
        end_cursor=_cursor(reading, shown[-1]) if shown else page.after,
    )


def histogram(
    chosen: Sequence[JudgedIncident],
    within: Window,
    steps: int,
    coverage: Coverage,
) -> Histogram:
    """Count by when they began; what began before counts at the beginning."""
    began = sorted(one.since for one in chosen)
    since, until = within.since, within.until
    begin = since or (began[0] if began else None)
    end = until or (began[-1] if began else None)
    if begin is None or end is None or end <= begin:
        return Histogram(step_seconds=0.0, steps=[], gaps=[*coverage.gaps])
    step = (end - begin) / steps
    counts: dict[int, int] = {}
    for at in began:
        number = min(max(int((at - begin) / step), 0), steps - 1)
        counts[number] = counts.get(number, 0) + 1
    return Histogram(
        step_seconds=step.total_seconds(),
        steps=[
            HistogramStep(
                from_=begin + number * step,
                to=begin + (number + 1) * step,
                count=count,
            )
            for number, count in sorted(counts.items())
        ],
        gaps=[*coverage.gaps],
    )


async def nearest(reading: Reading, span: Window, node: str | None) -> Nearest:
    """Return what lies on both sides of a window without incidents."""
    found = await ask_nearest(reading, span, node=node)
    return Nearest(before=_moment(found.before), after=_moment(found.after))


def _moment(stored: StoredFact | None) -> Moment | None:
    if stored is None:
        return None
    return Moment(
        at=stored.at,
        node=stored.fact.node or "",
        entry=strawberry.ID(str(stored.entry)),
        says=says(stored.fact),
    )


async def one_incident(
    asked: RequestContext, name: str
) -> tuple[Reading, Incidents]:
    """Find one incident; return it alone.

    Raises:
        NotFoundError: there is no such incident.
    """
    try:
        entry = EntryName.parse(name)
    except ValueError as exc:
        msg = f'"{name[:60]}" is not an incident: use its ID, such as 1/48213'
        raise NoIncidentError(msg) from exc
    reading = await asked.reading(None, str(entry.log))
    found = await ask_incident(reading, entry, asked.knowledge, now=asked.now)
    return reading, found
