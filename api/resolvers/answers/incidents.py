"""Incidents, page by page, and one of them by its id."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import strawberry

from api.resolvers.answers.fleet import ask_each
from api.resolvers.answers.paging import Item, Page, Part, Turn, cut, merged
from api.resolvers.answers.windows import bounded
from api.resolvers.context import RequestContext
from api.resolvers.cursors import Order, spot_at
from api.resolvers.remembering import Found, LogState
from api.resolvers.types.coverage import Coverage
from api.resolvers.types.incidents import (
    FacetCounts,
    Histogram,
    HistogramStep,
    IncidentConnection,
    IncidentEdge,
    Moment,
    Nearest,
    PlaceLabel,
)
from recorder.answers.around import ask_nearest
from recorder.answers.facets import facets_of
from recorder.answers.incident import NoIncidentError, ask_incident
from recorder.answers.incidents import (
    Incident,
    Incidents,
    ask_incidents,
    is_wanted,
    whereabouts,
)
from recorder.answers.loading.places import Whereabouts
from recorder.answers.node_questions import IncidentFilter, IncidentsQuestion
from recorder.answers.ports import Reading
from recorder.facts import says
from recorder.facts.coverage.coverage import Coverage as Covered
from recorder.model.errors import ConfigError
from recorder.model.fact import StoredFact
from recorder.model.reference import EntryName
from recorder.model.window import Window

STEPS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Shape:
    """The page, histogram and fields of a list."""

    page: Page
    steps: int
    """Steps of the histogram."""

    fields: frozenset[str]
    """The selected fields, at any depth."""


@dataclass(frozen=True, slots=True)
class _OfLog:
    """The part of one log in a list of incidents."""

    judged: "Judged"
    part: Part[Incident]
    places: Sequence[PlaceLabel]
    nearest: Nearest | None


async def incidents(
    asked: RequestContext,
    logs: Reading | Sequence[str],
    wanted: IncidentFilter,
    span: tuple[datetime | None, datetime | None],
    shape: Shape,
) -> IncidentConnection:
    """Return one page of the incidents of a log, or of several clusters.

    Only what the selected fields need is read.

    Raises:
        ConfigError: too many steps.
        CursorError: these logs did not issue a cursor.
    """
    check_steps(shape.steps)
    fields, page = shape.fields, shape.page
    turn = Turn(Order.INCIDENTS, page, fleet=isinstance(logs, Sequence))

    async def ask(reading: Reading) -> _OfLog:
        judged = await judge(asked, reading, wanted, span)
        part = cut(turn.checked(reading), map(_item, judged.chosen), page)
        beside = None
        if not judged.chosen and "nearest" in fields:
            beside = await nearest(reading, judged.within, wanted.node)
        places = places_shown(reading, judged.places, part)
        return _OfLog(judged, part, places, beside)

    each = await ask_each(asked, logs, ask)
    found = [one for _, one in each.answers]
    clusters = each.clusters
    read = merged(turn, {str(r.log.id): one.part for r, one in each.answers})
    edges = [
        IncidentEdge(cursor=at, node=one, cluster=clusters[log])
        for at, log, one in read.rows()
    ]
    chosen = [one for of in found for one in of.judged.chosen]
    coverage = each.coverage(
        [of.judged.coverage for of in found], span, now=asked.now
    )
    struck = {
        (edge.cluster, node) for edge in edges for node in edge.node.nodes
    }
    return IncidentConnection(
        edges=edges,
        nodes=[*read.nodes],
        page_info=read.info,
        histogram=histogram(chosen, coverage, shape.steps),
        count=len(chosen),
        places=[
            place
            for of in found
            for place in of.places
            if (place.cluster, place.node) in struck
        ],
        facets=facets((of.judged for of in found), fields),
        nearest=None if chosen else _nearest(of.nearest for of in found),
        coverage=coverage,
    )


def _item(one: Incident) -> Item[Incident]:
    at, position = one.place
    return Item(at, spot_at(at, position), one)


@dataclass(frozen=True, slots=True)
class Judged:
    """The incidents of one log that match a filter, oldest first."""

    within: Window
    chosen: Sequence[Incident]
    coverage: Covered
    places: Whereabouts
    """Labels that show where the nodes of the incidents are."""


def facets(
    found: Iterable[Judged], fields: frozenset[str]
) -> list[FacetCounts]:
    """Return the facets of some logs, if the field is selected."""
    if "facets" not in fields:
        return []
    return FacetCounts.merged(facets_of(o.chosen, o.places) for o in found)


async def judge(
    asked: RequestContext,
    reading: Reading,
    wanted: IncidentFilter,
    span: tuple[datetime | None, datetime | None],
) -> Judged:
    """Return the incidents of one log that match a filter."""
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
    """Judge a window of a log, unless its current state was judged before."""
    state = await LogState.of(reading, asked.principal, within)
    known = None if state is None else asked.judged.at(state, asked.now)
    if known is not None:
        return known
    incidents = await ask_incidents(
        reading,
        IncidentsQuestion(window=within),
        asked.knowledge,
        now=asked.now,
    )
    places = await whereabouts(reading, incidents.incidents, asked.knowledge)
    found = Found(incidents, places)
    if state is not None:
        asked.judged.keep(state, found)
    return found


def check_steps(steps: int) -> None:
    """Check the number of steps of a histogram.

    Raises:
        ConfigError: too many steps.
    """
    if not 0 < steps <= STEPS_MAX:
        msg = f"cannot use steps: {steps}: it is 1 to {STEPS_MAX}"
        raise ConfigError(msg, code="question.first")


def places_shown(
    reading: Reading,
    places: Whereabouts,
    part: Part[Incident],
) -> list[PlaceLabel]:
    """Return the labels that show where the nodes of incidents are."""
    cluster = reading.log.cluster_name
    shown = {
        name: item.node.since
        for item in part.items
        for name in item.node.nodes
    }
    return [
        PlaceLabel(node=node, key=key, value=value, cluster=cluster)
        for node in sorted(shown)
        for key, value in sorted(places.labels(node, shown[node]).items())
    ]


def histogram(
    chosen: Sequence[Incident], coverage: Coverage, steps: int
) -> Histogram:
    """Count incidents by start; earlier ones count in the first step."""
    began = sorted(one.since for one in chosen)
    since, until = coverage.since, coverage.until
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
    """Return what is nearest before and after a window without incidents."""
    found = await ask_nearest(reading, span, node=node)
    return Nearest(before=_moment(found.before), after=_moment(found.after))


def _nearest(found: Iterable[Nearest | None]) -> Nearest:
    known = [one for one in found if one is not None]
    before = [one.before for one in known if one.before is not None]
    after = [one.after for one in known if one.after is not None]
    return Nearest(
        before=max(before, key=lambda one: one.at, default=None),
        after=min(after, key=lambda one: one.at, default=None),
    )


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
    """Return the log and one incident, by the ID of a verdict.

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
