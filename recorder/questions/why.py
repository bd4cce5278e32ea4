"""Answers of `recorder why`: verdicts on what happened to a node."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from msgspec import UNSET, UnsetType

from recorder.coverage.account import Account, read_account
from recorder.coverage.coverage import Coverage, cover
from recorder.explain.missing import EVENTS, LEASES, NODES, PODS
from recorder.explain.verdict import Judged, Verdict
from recorder.knowledge import Knowledge
from recorder.model.document import Document
from recorder.model.fact import FactKind, StoredFact
from recorder.model.moment import shifted
from recorder.model.window import TimeError, Window
from recorder.questions.arguments import INCIDENT_AT, WINDOW, Argument
from recorder.questions.beginning import reach_begun
from recorder.questions.loading.nodes import (
    LOOKBACK,
    hiding,
    is_authored,
    judge_nodes,
    reads_nodes,
)
from recorder.questions.ports import Reading
from recorder.questions.queries import LastSign
from recorder.questions.references import find_node, node_name

__all__ = ["Why", "WhyFound", "WhyQuestion", "WhySubject", "ask_why"]

MOMENT = timedelta(seconds=1)

SOON = timedelta(minutes=5)
"""How long after a time something may begin that is meant by it: people
remember when they were called, not when it broke."""


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

    @property
    def reached(self) -> Window:
        """The time whose holes verdicts have to know."""
        at = self.at
        if at is None:
            return self.window
        return Window(shifted(at, -LOOKBACK), shifted(at, LOOKBACK))


class WhySubject(Document, frozen=True, kw_only=True):
    """Which node, and when."""

    cluster: str
    node: str
    since: datetime | None
    until: datetime | None
    at: datetime | UnsetType = UNSET


class Why(Document, frozen=True, kw_only=True):
    """What happened to a node, with confidence."""

    question: WhySubject

    verdicts: Sequence[Verdict]
    """In order; empty if no incident is recorded."""

    coverage: Coverage


class WhyFound(Why, frozen=True, kw_only=True):
    """An answer with its verdicts as they were judged."""

    verdicts: Sequence[Judged]


async def ask_why(
    reading: Reading,
    question: WhyQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> WhyFound:
    """Find what happened to a node in a window, or last of all.

    Raises:
        NotFoundError: the log has no such node.
    """
    reached = question.reached
    await reading.reach(reached.since, reached.until)
    await find_node(reading, question.node)
    account, found = await _judge(reading, question, knowledge, now=now)
    if await reach_begun(reading, reached, found):
        account, found = await _judge(reading, question, knowledge, now=now)
    end = None
    if question.at is not None:
        spoken, end = _spoken(question.at, found, account.end)
        account = await _account(reading, spoken, now=now)
    return WhyFound(
        question=WhySubject(
            cluster=reading.log.cluster_name,
            node=question.node,
            since=question.window.since,
            until=question.window.until,
            at=question.at or UNSET,
        ),
        verdicts=found,
        coverage=cover(
            account,
            end=end,
            times=[verdict.began_at for verdict in found],
            hiding=hiding(found),
            proven_by={_shown_by(one.effect.stored) for one in found} or None,
            authored=is_authored,
        ),
    )


async def _account(
    reading: Reading, window: Window, *, now: datetime
) -> Account:
    return await read_account(
        reading, window, now=now, reads=reads_nodes, facts=True
    )


def _spoken(
    at: datetime, found: Sequence[Judged], end: datetime | None
) -> tuple[Window, datetime | None]:
    """Return the window that an answer about a moment speaks of, and its end.

    The question does not name where the answer ends, unless the moment is not
    recorded yet: then it is the end of the window.
    """
    begun = [verdict.began_at for verdict in found]
    ended = [e.at for v in found for e in v.evidence]
    since, until = min([at, *begun]), max([at, *ended])
    until = max(until, shifted(since, MOMENT))
    if end is None or at > end:
        return Window(since, until), None
    return Window(since, None), until


def _shown_by(stored: StoredFact) -> str:
    """Return the resource whose stream showed a fact of a node."""
    fact = stored.fact
    if fact.kind is FactKind.EVENT:
        return EVENTS
    if fact.kind is FactKind.LEASE_SILENT:
        return LEASES
    of_pod = fact.object is not None and fact.object.kind == "Pod"
    return PODS if of_pod else NODES


async def _judge(
    reading: Reading,
    question: WhyQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> tuple[Account, Sequence[Judged]]:
    """Return what the log says of itself, and the verdicts asked for."""
    account = await _account(reading, question.reached, now=now)
    windows: Sequence[Window] = [question.window]
    names = [question.node]
    is_last = question.window == Window()
    if is_last:
        signs = await reading.states(LastSign(question.node))
        windows = _windows(question.at, signs.get(question.node))
    for window in windows:
        found = await judge_nodes(reading, names, window, account, knowledge)
        chosen = _at(found, question.at) if is_last else found
        if chosen:
            return account, chosen
    return account, []


def _windows(at: datetime | None, last: datetime | None) -> Sequence[Window]:
    """Return where to look for what happened last, the nearest first."""
    if last is None:
        return []
    end = None if at is None else shifted(at, LOOKBACK)
    return Window(shifted(at or last, -LOOKBACK), end), Window(None, end)


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
