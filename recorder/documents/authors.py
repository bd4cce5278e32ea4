"""Authors as the public interface shows them."""

from datetime import datetime
from typing import Self

from recorder.model.author import Author
from recorder.model.document import Document

__all__ = ["AuthorDocument"]


class AuthorDocument(Document, frozen=True, kw_only=True):
    """Who made a change, and what says so; null of what is not known."""

    known_by: str
    """``audit``, ``managed-fields`` or ``unknown``."""

    name: str | None
    on_behalf_of: str | None
    client: str | None
    user_agent: str | None
    address: str | None
    pod: str | None
    verb: str | None
    entry: str | None
    """Of the audit record."""

    at: datetime | None

    @classmethod
    def of(cls, author: Author) -> Self:
        """Return the document of an author."""
        return cls(
            known_by=author.known_by,
            name=author.name,
            on_behalf_of=author.on_behalf_of,
            client=author.client,
            user_agent=author.user_agent,
            address=author.address,
            pod=author.pod,
            verb=author.verb,
            entry=None if author.entry is None else str(author.entry),
            at=author.at,
        )
