"""The status of what is recorded, and rows for dashboards."""

from collections.abc import Sequence
from datetime import datetime

from api.resolvers.answers.windows import bounded
from api.resolvers.context import RequestContext
from api.resolvers.types.series import (
    Annotation,
    Annotations,
)
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import IncidentsQuestion
from recorder.answers.ports import Reading
from recorder.answers.status import ClusterStatus, ShownStatus
from recorder.model.errors import ConfigError

NODES_MAX = 50
"""Lanes that a dashboard can show."""


async def status(asked: RequestContext) -> ShownStatus:
    """Return the status of all logs."""
    return (await asked.status()).shown(by_each=True)


async def clusters(asked: RequestContext) -> list[ClusterStatus]:
    """Return all clusters that respond.

    Raises:
        LogUnavailableError: none does, so that no list is no answer.
    """
    found = await status(asked)
    if found.away and not found.clusters:
        # It has no place for those that are away.
        await asked.logs.read(None)
    return [*found.clusters]


def check_nodes(nodes: Sequence[str]) -> None:
    """Check the number of nodes of a dashboard.

    Raises:
        ConfigError: there are too many.
    """
    if len(nodes) > NODES_MAX:
        msg = f"cannot show {len(nodes)} nodes: name {NODES_MAX} at most"
        raise ConfigError(msg, code="question.first")


async def annotations(
    asked: RequestContext,
    reading: Reading,
    span: tuple[datetime | None, datetime | None],
) -> Annotations:
    """Return incidents as annotations of a dashboard."""
    question = IncidentsQuestion(window=bounded(reading, *span))
    found = await ask_incidents(
        reading, question, asked.knowledge, now=asked.now
    )
    return Annotations(
        annotations=[
            Annotation(
                time=one.since,
                time_end=one.until,
                title=f"{one.first.node}: {one.happened}",
                text=one.sentence,
                tags=[one.happened, one.cause, one.group],
                id=one.id,
            )
            for one in found.incidents
        ],
        coverage=found.coverage,
    )
