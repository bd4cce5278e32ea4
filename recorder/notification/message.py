"""One message: a subject as it is told, and what was told of it before."""

from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import quote

import msgspec

from recorder.notification.subjects import Kind, Subject

__all__ = ["FOLLOWED", "Message", "Stage"]

FOLLOWED = timedelta(days=7)
"""For how long an incident that is not over is followed."""


class Stage(StrEnum):
    """What a message tells."""

    OPENED = "opened"
    CHANGED = "changed"
    RESOLVED = "resolved"
    WITHDRAWN = "withdrawn"


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What is posted by one rule, once."""

    rule: str
    name: str
    """The id under which the subject was told first; it stays."""

    number: int
    """How many messages there are of it, this one included."""

    now: Subject
    was: Subject | None
    first_at: datetime
    """When the first message of it was written."""

    @property
    def key(self) -> str:
        """The same for every attempt, and for no other message."""
        now = self.now
        # A tape may name its cluster in any way.
        cluster = quote(now.cluster_uid, safe="")
        return (
            f"{cluster}/{now.log}/{self.rule}/{now.kind}/"
            f"{self.name}/{self.number}"
        )

    @property
    def stage(self) -> Stage:
        """What it tells."""
        if self.now.withdrawn:
            return Stage.WITHDRAWN
        if self.was is None:
            return Stage.OPENED
        over = self.now.over_at is not None
        if over and self.was.over_at is None:
            return Stage.RESOLVED
        return Stage.CHANGED

    @property
    def is_of_gap(self) -> bool:
        """Whether it tells of a gap."""
        return self.now.kind is Kind.GAP
