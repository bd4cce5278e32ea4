"""Answers of `recorder why`: verdicts on what happened to a node."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from recorder.coverage.authorship import add_unaudited
from recorder.coverage.coverage import Coverage, covered, proven_of
from recorder.explain.missing import EVENTS, LEASES, NODES, PODS
from recorder.explain.verdict import Judged
from recorder.knowledge import Knowledge
from recorder.model.fact import FactKind, StoredFact
from recorder.model.moment import shifted
from recorder.model.window import TimeError, Window
from recorder.questions.arguments import INCIDENT_AT, WINDOW, Argument
from recorder.questions.beginning import reach_begun
from recorder.questions.loading.nodes import (
    LOOKBACK,
    is_authored,
    nodes_of,
    reads_nodes,
    verdicts_of,
)
from recorder.questions.ports import Reading
from recorder.questions.queries import LastSign
from recorder.questions.references import find_node, node_name

__all__ = ["Why", "WhyQuestion", "ask_why"]

MOMENT = timedelta(seconds=1)

SOON = timedelta(minutes=5)
"""How long after a time something may begin that is meant by it: people
remember when somebody called, not when it broke."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyQuestion:
    """Which node, and when."""

    node: Annotated[
        str,
        Argument(
            name="node",
            required=True,
            parse=node_name,
            graphql="`gpu-002` or `node/gpu-002`.",
            agents="Its name, as node/gpu-002.",
        ),
    ]
    at: Annotated[datetime | None, INCIDENT_AT] = None
    window: Annotated[Window, WINDOW]

    def __post_init__(self) -> None:
        """See that it fits together.

        Raises:
            TimeError: a moment and a window are named.
        """
        if self.at is not None and self.window != Window():
            msg = "give either a moment or a window, not both"
            raise TimeError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """What happened, and how sure that is."""

    cluster: str
    question: WhyQuestion
    verdicts: Sequence[Judged]
    coverage: Coverage


async def ask_why(
    reading: Reading,
    question: WhyQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Why:
    """Find what happened to a node in a window, or last of all.

    Raises:
        NotFoundError: the log has no such node.
    """
    judged = _judged_window(question)
    await reading.reach(judged.since, judged.until)
    await find_node(reading, question.node)
    coverage = await covered(
        reading,
        judged,
        now=now,
        reads=reads_nodes,
        facts=True,
    )
    found = await _verdicts(reading, question, knowledge, coverage)
    if await reach_begun(reading, judged, found):
        coverage = await covered(
            reading, judged, now=now, reads=reads_nodes, facts=True
        )
        found = await _verdicts(reading, question, knowledge, coverage)
    if question.at is not None:
        spoken = _window_of(question.at, found)
        coverage = await _covered(reading, question.at, spoken, now=now)
        coverage.rest_on(hole for one in found for hole in one.hiding)
    coverage.begin_with(verdict.began_at for verdict in found)
    if found:
        coverage.proven_until = _proven(reading, found)
    add_unaudited(coverage, reading.streams, is_authored)
    return Why(
        cluster=reading.log.cluster_name,
        question=question,
        verdicts=found,
        coverage=coverage,
    )


async def _covered(
    reading: Reading, at: datetime, spoken: Window, *, now: datetime
) -> Coverage:
    """Judge the window that an answer about a moment speaks of.

    It ends where the answer does, which nobody asked for; unless the moment
    is not recorded yet.
    """
    coverage = await covered(
        reading,
        Window(spoken.since, None),
        now=now,
        reads=reads_nodes,
        facts=True,
    )
    end = coverage.window.until
    if spoken.until is None or end is None or at > end:
        return await covered(
            reading, spoken, now=now, reads=reads_nodes, facts=True
        )
    coverage.end(spoken.until)
    return coverage


def _proven(reading: Reading, found: Sequence[Judged]) -> datetime | None:
    """Return how far the streams are proven that told what happened."""
    told = {_told_by(one.effect.stored) for one in found}
    return proven_of(
        stream
        for stream in reading.streams
        if reads_nodes(stream.source, stream.resource)
        and stream.resource in told
    )


def _told_by(stored: StoredFact) -> str:
    """Return the resource whose stream told a fact of a node."""
    fact = stored.fact
    if fact.kind is FactKind.EVENT:
        return EVENTS
    if fact.kind is FactKind.LEASE_SILENT:
        return LEASES
    of_pod = fact.object is not None and fact.object.kind == "Pod"
    return PODS if of_pod else NODES


def _judged_window(question: WhyQuestion) -> Window:
    """Return the window whose holes verdicts have to know."""
    if question.at is not None:
        return Window(
            shifted(question.at, -LOOKBACK), shifted(question.at, LOOKBACK)
        )
    return question.window


def _window_of(at: datetime, found: Sequence[Judged]) -> Window:
    """Return the window that an answer about a moment speaks of."""
    begun = [verdict.began_at for verdict in found]
    ended = [e.at for v in found for e in v.evidence]
    since, until = min([at, *begun]), max([at, *ended])
    return Window(since, max(until, shifted(since, MOMENT)))


async def _verdicts(
    reading: Reading,
    question: WhyQuestion,
    knowledge: Knowledge,
    coverage: Coverage,
) -> Sequence[Judged]:
    window = question.window
    if window.since is not None or window.until is not None:
        return await _within(
            reading, question.node, window, knowledge, coverage
        )
    until = question.at
    signs = await reading.states(LastSign(question.node))
    if not signs:
        return []
    last = signs[question.node]
    end = None if until is None else shifted(until, LOOKBACK)
    near = Window(shifted(until or last, -LOOKBACK), end)
    for wider in (near, Window(None, end)):
        found = await _within(
            reading, question.node, wider, knowledge, coverage
        )
        chosen = _at(found, until)
        if chosen:
            return chosen
    return []


def _at(found: Sequence[Judged], at: datetime | None) -> Sequence[Judged]:
    """Choose the latest, or what was going on at a time or just before."""
    if at is None:
        return found[-1:]
    going_on = [
        v
        for v in found
        if v.began_at <= at
        and (v.back_in_service_at is None or v.back_in_service_at >= at)
    ]
    before = [v for v in found if v.at <= at]
    soon = [v for v in found if v.began_at <= shifted(at, SOON)]
    return going_on or before[-1:] or soon[:1]


async def _within(
    reading: Reading,
    node: str,
    window: Window,
    knowledge: Knowledge,
    coverage: Coverage,
) -> Sequence[Judged]:
    since = window.since and shifted(window.since, -LOOKBACK)
    nodes = await nodes_of(
        reading,
        [node],
        since=since,
        until=window.until,
        knowledge=knowledge,
    )
    return await verdicts_of(reading, nodes, window, coverage, knowledge)
