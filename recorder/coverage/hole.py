"""Holes: spans of time for which a log does not vouch; some are entries.

A gap is a hole that entries open and close, with what the first complete list
after it proved. The other holes follow from what the log says of its streams.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Any, Self

import orjson

from recorder.model.moment import FIRST
from recorder.model.observation import WATCH
from recorder.model.reference import EntryName

__all__ = ["Gap", "Hole"]

STILL_OPEN = "nothing yet: the gap is open"
ANYTHING = "any change since then"


@dataclass(frozen=True, slots=True)
class Hole:
    """A span of time for which the log does not vouch."""

    since: datetime | None
    until: datetime | None
    """None while it is open."""

    _: KW_ONLY
    source: str = WATCH
    resource: str | None = None
    """None where it concerns everything."""

    reason: str = ""
    opened: EntryName | None = None
    """The entry that opened it, where there is one, names it."""

    @property
    def begin(self) -> datetime:
        """Where it begins; the first time there is where nobody knows."""
        return FIRST if self.since is None else self.since


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap(Hole):
    """A hole that an entry opened, open or closed."""

    resource: str
    opened: EntryName
    version_before: str | None
    version_after: str | None
    proved: str
    possible: tuple[str, ...]
    """What may be missing; empty when a resume proved that nothing is."""

    @property
    def healed(self) -> bool:
        """Whether it is closed and nothing can have been missed."""
        return self.until is not None and not self.possible

    @classmethod
    def from_closed(
        cls, document: bytes, *, source: str, resource: str
    ) -> Self:
        """Read the document of the entry that closed a gap."""
        said = orjson.loads(document)
        return cls(
            opened=EntryName.parse(said["opened"]),
            source=source,
            resource=resource,
            since=_moment(said, "from"),
            until=_moment(said, "to"),
            reason=said["reason"],
            version_before=said["resource_version_before"],
            version_after=said["resource_version_after"],
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
        """Make a gap that nothing has closed yet."""
        return cls(
            opened=opened,
            source=stream[0],
            resource=stream[1],
            since=since,
            until=None,
            reason=reason,
            version_before=version,
            version_after=None,
            proved=STILL_OPEN,
            possible=(ANYTHING,),
        )

    def overlaps(self, since: datetime | None, until: datetime | None) -> bool:
        """Return whether it reaches into a window.

        Both ends of a gap are proven states, so it lies between them. A gap
        of one moment is of something that came at that moment.
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
