"""Authors: who made a version of an object, and what says so."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recorder.model.reference import EntryName

__all__ = ["UNKNOWN", "Author", "KnownBy"]


class KnownBy(StrEnum):
    """What names an author. The words are part of the JSON output."""

    AUDIT = "audit"
    """The audit record of the request."""

    MANAGED_FIELDS = "managed-fields"
    """The object's own ``managedFields``: a program, never a person."""

    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who made a change."""

    known_by: KnownBy
    name: str | None = None
    """A user of the API server, or a field manager."""

    on_behalf_of: str | None = None
    """Whom the user impersonated, or the user of the API server whom the
    login behind it shares with others."""

    client: str | None = None
    """The program, as it named itself: ``kubectl drain``."""

    user_agent: str | None = None
    address: str | None = None
    """The last address that the API server saw: those before it are the
    client's to choose."""

    pod: str | None = None
    """The Pod that the token of a service account was issued to."""

    verb: str | None = None
    """As RBAC writes it, with the subresource."""

    entry: EntryName | None = None
    """Of the audit record."""

    at: datetime | None = None
    """When the request was received, or the time that ``managedFields``
    give, in whole seconds."""


UNKNOWN = Author(known_by=KnownBy.UNKNOWN)
