"""Workloads and disruptions of them, page by page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from api.resolvers.answers.fleet import Each, ask_each
from api.resolvers.answers.paging import (
    Bounds,
    Item,
    Page,
    Part,
    Turn,
    cut,
    merged,
)
from api.resolvers.answers.windows import bounded
from api.resolvers.context import RequestContext
from api.resolvers.cursors import Order
from api.resolvers.types.workloads import (
    DisruptionConnection,
    DisruptionEdge,
    WorkloadConnection,
    WorkloadEdge,
    WorkloadFacetCounts,
)
from recorder.answers.facets import (
    WorkloadFacets,
    place_facets,
    workload_facets,
)
from recorder.answers.families import Candidate, Family
from recorder.answers.job_order import JobOrder
from recorder.answers.job_questions import JobsQuestion
from recorder.answers.jobs import (
    JUDGED_MAX,
    Disruption,
    JobTotals,
    ListedWorkload,
    Span,
    Survey,
    covered,
    totals_of,
)
from recorder.answers.ports import Reading
from recorder.facts.coverage.coverage import Coverage
from recorder.model.window import Window

Node = TypeVar("Node")


@dataclass(frozen=True, slots=True)
class _OfLog(Generic[Node]):
    """The part of one log in a list."""

    part: Part[Node]
    facets: WorkloadFacets
    totals: JobTotals
    coverage: Coverage


async def workloads(
    asked: RequestContext,
    logs: Reading | Sequence[str],
    question: JobsQuestion,
    page: Page,
) -> WorkloadConnection:
    """Return one page of the workloads of a log, or of several clusters.

    Raises:
        CursorError: these logs did not issue a cursor.
        ConfigError: too many workloads must be judged to sort them.
    """
    turn = _turn(question.order, JobOrder.BEGAN, logs, page)
    ask = partial(_workloads_of, asked, question, turn)
    each = await ask_each(asked, logs, ask)
    read = merged(turn, _parts(each))
    return WorkloadConnection(
        edges=[
            WorkloadEdge(cursor=at, node=one) for at, _, one in read.rows()
        ],
        nodes=read.nodes,
        page_info=read.info,
        facets=WorkloadFacetCounts.merged(o.facets for _, o in each.answers),
        totals=_sums(one.totals for _, one in each.answers),
        coverage=_coverage(each, question, asked),
    )


async def disruptions(
    asked: RequestContext,
    logs: Reading | Sequence[str],
    question: JobsQuestion,
    page: Page,
) -> DisruptionConnection:
    """Return one page of what ended workloads of a log or several clusters.

    Raises:
        CursorError: these logs did not issue a cursor.
    """
    turn = _turn(question.order, JobOrder.LAST_ENDING, logs, page)
    ask = partial(_disruptions_of, asked, question, turn)
    each = await ask_each(asked, logs, ask)
    read = merged(turn, _parts(each))
    return DisruptionConnection(
        edges=[
            DisruptionEdge(cursor=at, node=one) for at, _, one in read.rows()
        ],
        nodes=read.nodes,
        page_info=read.info,
        facets=WorkloadFacetCounts.merged(o.facets for _, o in each.answers),
        totals=_sums(one.totals for _, one in each.answers),
        coverage=_coverage(each, question, asked),
    )


def _turn(
    order: JobOrder | None,
    natural: JobOrder,
    logs: Reading | Sequence[str],
    page: Page,
) -> Turn:
    """Return the page of a list, which has an order of its own."""
    found = Order.INCIDENTS
    if order not in {None, natural}:
        found = Order(str(order))
    return Turn(found, page, fleet=isinstance(logs, Sequence))


def _parts(each: Each[_OfLog[Node]]) -> dict[str, Part[Node]]:
    return {str(reading.log.id): one.part for reading, one in each.answers}


def _coverage(
    each: Each[_OfLog[Node]], question: JobsQuestion, asked: RequestContext
) -> Coverage:
    window = question.window
    return each.coverage(
        [one.coverage for _, one in each.answers],
        (window.since, window.until),
        now=asked.now,
    )


def _survey(
    asked: RequestContext, question: JobsQuestion, reading: Reading
) -> Survey:
    """Return how a question is asked of one log."""
    window = question.window
    if question.at is None:
        window = bounded(reading, window.since, window.until)
    return Survey(
        reading=reading,
        wanted=question.wanted,
        span=Span(window, question.at),
        knowledge=asked.knowledge,
        now=asked.now,
        order=question.order,
    )


async def _reach(reading: Reading, window: Window) -> None:
    await reading.reach(window.since, window.until)


async def _workloads_of(
    asked: RequestContext, question: JobsQuestion, turn: Turn, reading: Reading
) -> _OfLog[ListedWorkload]:
    """Return the part of one log; up to `JUDGED_MAX` are judged as a whole.

    Of more, only those that the page needs.
    """
    bounds, page = turn.checked(reading), turn.page
    survey = _survey(asked, question, reading)
    await _reach(reading, survey.span.seen)
    account = await survey.account()
    candidates = await survey.candidates()
    facets: WorkloadFacets
    if survey.judges_all(candidates) or len(candidates) <= JUDGED_MAX:
        families = [
            one async for some in survey.judged(candidates) for one in some
        ]
        items = [
            Item(one.candidate.began_at, (rank, one.candidate.position), one)
            for rank, one in survey.in_order(families)
        ]
        part = cut(bounds, items, page)
        facets = workload_facets(
            ((o, (ending.ended_by for ending in o.endings)) for o in families),
            await survey.creators(families),
        )
        totals = totals_of(families, None, exhausted=True)
    else:
        part = await _page_of(survey, candidates, bounds, page)
        judges = question.wanted.judges
        facets = {} if judges else place_facets(candidates)
        totals = totals_of(
            (), None if judges else len(candidates), exhausted=False
        )
    shown = [item.node for item in part.items]
    rows = [
        Item(one.at, one.spot, await survey.row(one.node, account))
        for one in part.items
    ]
    return _OfLog(
        Part(rows, part.more), facets, totals, covered(account, shown)
    )


async def _page_of(
    survey: Survey, candidates: Sequence[Candidate], bounds: Bounds, page: Page
) -> Part[Family]:
    """Judge the workloads from one end until a page is complete."""
    within = [one for one in candidates if bounds.has(survey.place_of(one))]
    at_once = JUDGED_MAX if survey.wanted.judges else page.size + 1
    found: list[Family] = []
    parts = survey.judged(
        within, at_once=at_once, newest_first=not page.forward
    )
    async for some in parts:
        found = [*found, *some] if page.forward else [*some, *found]
        if len(found) > page.size:
            break
    items = [
        Item(o.candidate.began_at, survey.place_of(o.candidate), o)
        for o in found
    ]
    return cut(bounds, sorted(items, key=lambda one: one.spot), page)


async def _disruptions_of(
    asked: RequestContext, question: JobsQuestion, turn: Turn, reading: Reading
) -> _OfLog[Disruption]:
    """Return the part of one log; all of the window are judged."""
    bounds = turn.checked(reading)
    survey = _survey(asked, question, reading)
    await _reach(reading, survey.span.seen)
    account = await survey.account()
    found = await survey.disruptions()
    items = [
        Item(ending.at, (rank, ending.id.position), (family, ending))
        for rank, family, ending in found
    ]
    part = cut(bounds, items, turn.page)
    families = [*{id(family): family for _, family, _ in found}.values()]
    shown = [
        Item(item.at, item.spot, await survey.disruption(*item.node))
        for item in part.items
    ]
    return _OfLog(
        Part(shown, part.more),
        workload_facets(
            ((family, [one.ended_by]) for _, family, one in found),
            await survey.creators(families),
        ),
        totals_of(
            families,
            None,
            exhausted=True,
            endings=[ending for _, _, ending in found],
        ),
        covered(account, families),
    )


def _sums(each: Iterable[JobTotals]) -> JobTotals:
    """Add up the totals of several logs; null if one of them is."""
    found = [*each]

    def summed(values: Iterable[float | None]) -> float | None:
        known = [*values]
        if any(one is None for one in known):
            return None
        return sum(one for one in known if one is not None)

    def whole(values: Iterable[int | None]) -> int | None:
        total = summed(values)
        return None if total is None else int(total)

    hours = summed(one.gpu_hours_lost for one in found)
    return JobTotals(
        workloads=whole(one.workloads for one in found),
        gpus=whole(one.gpus for one in found),
        endings=whole(one.endings for one in found),
        gpu_hours_lost=None if hours is None else round(hours, 4),
    )
