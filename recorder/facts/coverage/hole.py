"""Holes: spans of time for which a log does not vouch; some are entries.

A gap is a hole that entries open and close, with what the first complete list
after it proved. The other holes follow from what the log records about its
streams.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

import orjson
from msgspec import UNSET, UnsetType, field

from recorder.model.document import Document
from recorder.model.moment import FIRST
from recorder.model.observation import WATCH
from recorder.model.reference import EntryName

STILL_OPEN = "nothing yet: the gap is open"
ANYTHING = "any change since then"


class Hole(Document, frozen=True, kw_only=True):
    """A time span in which the log may be incomplete.

    A gap with an ID is an entry of the log. One without an ID was not
    recorded, or is not confirmed complete yet.
    """

    opened: EntryName | None = field(default=None, name="id")
    """The entry that opened it, `LOG/POSITION`."""

    source: str = WATCH
    resource: str | None = None
    """For example `v1/pods`; null for all resources."""

    since: datetime | None = field(default=None, name="from")
    """The last proof before it."""

    until: datetime | None = field(default=None, name="to")
    """The first proof after it; null while it is open."""

    reason: str = ""
    resource_version_before: str | UnsetType | None = UNSET
    resource_version_after: str | UnsetType | None = UNSET
    proved: str = "nothing"
    """What the list that closed it showed."""

    possible: tuple[str, ...] | UnsetType = UNSET
    """What may be missing; empty if nothing can be."""

    @property
    def begin(self) -> datetime:
        """Its beginning; the first possible time if that is unknown."""
        return FIRST if self.since is None else self.since

    @property
    def healed(self) -> bool:
        """Whether it is closed and nothing is missing."""
        is_closed = self.opened is not None and self.until is not None
        return is_closed and not self.possible


class Gap(Hole, frozen=True, kw_only=True):
    """A hole that an entry opened, open or closed."""

    opened: EntryName = field(name="id")
    source: str
    resource: str
    resource_version_before: str | None
    resource_version_after: str | None
    possible: tuple[str, ...]

    @classmethod
    def from_closed(
        cls, document: bytes, *, source: str, resource: str
    ) -> Self:
        """Parse the document of the entry that closed a gap."""
        said = orjson.loads(document)
        return cls(
            opened=EntryName.parse(said["opened"]),
            source=source,
            resource=resource,
            since=_moment(said, "from"),
            until=_moment(said, "to"),
            reason=said["reason"],
            resource_version_before=said["resource_version_before"],
            resource_version_after=said["resource_version_after"],
            proved=said["proved"],
            possible=tuple(said["possible"]),
        )

    @classmethod
    def still_open(
        cls,
        *,
        opened: EntryName,
        stream: tuple[str, str],
        since: datetime | None,
        reason: str,
        version: str | None,
    ) -> Self:
        """Make a gap that is still open."""
        return cls(
            opened=opened,
            source=stream[0],
            resource=stream[1],
            since=since,
            until=None,
            reason=reason,
            resource_version_before=version,
            resource_version_after=None,
            proved=STILL_OPEN,
            possible=(ANYTHING,),
        )

    def overlaps(self, since: datetime | None, until: datetime | None) -> bool:
        """Return whether it reaches into a window.

        Both ends of a gap are proven states, so it is between them. A gap of
        one moment is of something that came at that moment.
        """
        begin = self.since
        if until is not None and begin is not None and begin >= until:
            return False
        if since is None or self.until is None:
            return True
        return self.until > since or begin == self.until == since


def _moment(said: Mapping[str, Any], name: str) -> datetime | None:
    text = said[name]
    return None if text is None else datetime.fromisoformat(text)
