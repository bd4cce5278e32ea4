"""Authors: who made a change, and what says so."""

from datetime import datetime
from typing import Self

import strawberry

from api.describing import described
from recorder.model.author import Author as KnownAuthor
from recorder.model.author import KnownBy

__all__ = ["Author"]


@described
class Author:
    """Who made a change, and what says so."""

    known_by: KnownBy

    name: str | None
    """A user of the API server, or a field manager."""

    on_behalf_of: str | None
    """Whom the user impersonated."""

    client: str | None
    """The program, as it named itself: `kubectl drain`."""

    user_agent: str | None

    address: str | None
    """The last address that the API server saw."""

    pod: str | None
    """The Pod that the token of a service account was issued to."""

    verb: str | None
    """With the subresource: `create/eviction`."""

    entry: strawberry.ID | None
    """The audit record."""

    at: datetime | None
    """When the request was received, or the time in managedFields."""

    @classmethod
    def of(cls, author: KnownAuthor) -> Self:
        """Take it from an answer."""
        return cls(
            known_by=author.known_by,
            name=author.name,
            on_behalf_of=author.on_behalf_of,
            client=author.client,
            user_agent=author.user_agent,
            address=author.address,
            pod=author.pod,
            verb=author.verb,
            entry=None
            if author.entry is None
            else strawberry.ID(str(author.entry)),
            at=author.at,
        )
