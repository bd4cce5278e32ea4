"""Notifications as the public interface shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from recorder.model.document import Document

__all__ = ["NotificationDocument", "NotificationsDocument"]


class NotificationDocument(Document, frozen=True, kw_only=True):
    """One message of the outbox."""

    id: int
    rule: str
    state: str
    """``waiting``, ``posted`` or ``failed``."""

    stage: str
    """``opened``, ``changed``, ``resolved`` or ``withdrawn``."""

    kind: str
    incident: str
    """The id under which the incident or the gap was told first."""

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


class NotificationsDocument(Document, frozen=True, kw_only=True):
    """Messages, newest first."""

    notifications: Sequence[NotificationDocument]

    @classmethod
    def of(cls, shown: Sequence[NotificationDocument]) -> Self:
        """Return the document of messages."""
        return cls(notifications=shown)
