"""Authors: who made a version of an object, and what says so."""

from datetime import datetime
from enum import StrEnum

from recorder.model.document import Document
from recorder.model.reference import EntryName


class KnownBy(StrEnum):
    """What names an author. The words are part of the JSON output."""

    AUDIT = "audit"
    """The audit record of the request."""

    MANAGED_FIELDS = "managed-fields"
    """The object's own ``managedFields``: a program, never a person."""

    UNKNOWN = "unknown"


class Author(Document, frozen=True, kw_only=True):
    """Who made a change, and what says so."""

    known_by: KnownBy

    name: str | None = None
    """A user of the API server, or a field manager."""

    # Or whose login at the API server is shared with others.
    on_behalf_of: str | None = None
    """Whom the user impersonated."""

    client: str | None = None
    """The program, as it named itself: `kubectl drain`."""

    user_agent: str | None = None

    # Those before it are the client's to choose.
    address: str | None = None
    """The last address that the API server saw."""

    pod: str | None = None
    """The Pod that the token of a service account was issued to."""

    verb: str | None = None
    """With the subresource: `create/eviction`."""

    entry: EntryName | None = None
    """The audit record."""

    at: datetime | None = None
    """When the request was received, or the time in managedFields."""


UNKNOWN = Author(known_by=KnownBy.UNKNOWN)
