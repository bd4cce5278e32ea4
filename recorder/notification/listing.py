"""Notifications as JSON and as rows of a table."""

from collections.abc import Sequence
from datetime import datetime

from recorder.answers.text.table import Cell, Column, Kind
from recorder.model.document import Document
from recorder.notification.message import Kind as SubjectKind
from recorder.notification.message import Stage
from recorder.notification.ports import State

COLUMNS = (
    Column("ID"),
    Column("AGE", Kind.AGE),
    Column("RULE"),
    Column("STATE"),
    Column("STAGE"),
    Column("CLUSTER", wide=True),
    Column("INCIDENT"),
    Column("NODES", rank=1),
    Column("ATTEMPTS", rank=2),
    Column("NEXT", Kind.TIME, wide=True),
    Column("SUMMARY"),
    Column("WHY", wide=True),
)

NODES_SHOWN = 3


class Notification(Document, frozen=True, kw_only=True):
    """One message of the outbox."""

    id: int
    rule: str
    state: State
    stage: Stage
    kind: SubjectKind
    incident: str
    """The id under which the incident or the gap was reported first."""

    number: int
    cluster: str
    log: int
    nodes: Sequence[str]
    sentence: str
    created_at: datetime
    settled_at: datetime | None
    due_at: datetime | None
    """When it is posted next; null once it is posted or failed."""

    attempts: int
    why: str | None
    """Why it is not posted yet, or failed."""


class Notifications(Document, frozen=True, kw_only=True):
    """Messages, newest first."""

    notifications: Sequence[Notification]


def notification_cells(shown: Notification) -> Sequence[Cell]:
    """Return a message as the cells of a table.

    The summary of one that is not posted is the reason.
    """
    more = len(shown.nodes) - NODES_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return (
        shown.id,
        shown.created_at,
        shown.rule,
        shown.state,
        shown.stage,
        shown.cluster,
        shown.incident,
        ",".join(shown.nodes[:NODES_SHOWN]) + rest,
        shown.attempts,
        shown.due_at,
        shown.why or shown.sentence,
        shown.why or "",
    )
