"""Answers of `recorder stats`: what happened in a window, counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import field

from recorder.coverage.coverage import Coverage
from recorder.coverage.share import vouched_share
from recorder.knowledge import Knowledge
from recorder.model.document import Document
from recorder.model.window import Window
from recorder.questions.arguments import WINDOW, Argument, Option
from recorder.questions.counting import (
    Count,
    GroupBy,
    GroupedCounts,
    count,
    counted_by,
)
from recorder.questions.incidents import (
    IncidentsQuestion,
    ask_incidents,
    places_of,
)
from recorder.questions.loading.nodes import reads_nodes
from recorder.questions.places import rack_of
from recorder.questions.ports import Reading

__all__ = ["Stats", "StatsQuestion", "StatsSubject", "ask_stats"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsQuestion:
    """When, and counted by what."""

    by: Annotated[
        Sequence[GroupBy],
        Argument(
            name="by",
            takes=GroupBy,
            many=True,
            option=Option(
                "What to count by.",
                ("--by",),
                default=GroupBy.CAUSE.value,
                once=True,
            ),
            graphql="What to count by. Default: the cause.",
        ),
    ] = (GroupBy.CAUSE,)
    window: Annotated[Window, WINDOW]


class StatsSubject(Document, frozen=True, kw_only=True):
    """Of which log, when, and counted by what."""

    cluster: str
    log: int | None
    """Null where the log is not known."""

    since: datetime | None
    until: datetime | None
    by: GroupBy | None


class Stats(Document, frozen=True, kw_only=True):
    """What happened in one log, counted."""

    question: StatsSubject
    totals: Count
    counts: Sequence[GroupedCounts] = field(name="_counts")
    """One for each value of `by`."""

    vouched: float | None
    """The share of the window for which nothing may be missing; null if it is
    not known."""

    groups: Sequence[Count]
    coverage: Coverage


async def ask_stats(
    reading: Reading,
    question: StatsQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Stats:
    """Count what happened to all nodes in a window."""
    found = await ask_incidents(
        reading,
        IncidentsQuestion(window=question.window),
        knowledge,
        now=now,
    )
    racks: Mapping[str, str] = {}
    if GroupBy.RACK in question.by:
        places = await places_of(reading, found.incidents)
        racks = {
            node: rack
            for node, labels in places.items()
            if (rack := rack_of(labels)) is not None
        }
    window = question.window
    counts = [counted_by(found.incidents, by, racks) for by in question.by]
    return Stats(
        question=StatsSubject(
            cluster=reading.log.cluster_name,
            log=reading.log.id,
            since=window.since,
            until=window.until,
            by=question.by[0] if question.by else None,
        ),
        totals=count(found.incidents),
        counts=counts,
        vouched=vouched_share(
            found.coverage,
            (
                stream.began_at
                for stream in reading.streams
                if reads_nodes(stream.source, stream.resource)
            ),
        ),
        groups=counts[0].groups if counts else (),
        coverage=found.coverage,
    )
