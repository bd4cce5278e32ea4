"""Gaps as entries tell them: spans that the log cannot vouch for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

import orjson

from recorder.model.moment import written
from recorder.model.reference import EntryName

__all__ = ["Gap"]

STILL_OPEN = "nothing yet: the gap is open"
ANYTHING = "any change since then"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One gap, open or closed."""

    opened: EntryName
    """The entry that opened it names it."""

    source: str
    resource: str
    since: datetime | None
    to: datetime | None
    """None while it is open."""

    reason: str
    version_before: str | None
    version_after: str | None
    proved: str
    possible: tuple[str, ...]
    """What may be missing; empty when a resume proved that nothing is."""

    @property
    def healed(self) -> bool:
        """Whether it is closed and nothing can have been missed."""
        return self.to is not None and not self.possible

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
            to=_moment(said, "to"),
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
            to=None,
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
        if since is None or self.to is None:
            return True
        return self.to > since or begin == self.to == since

    def document(self) -> dict[str, Any]:
        """Return it as the public interface shows it."""
        return {
            "id": str(self.opened),
            "source": self.source,
            "resource": self.resource,
            "from": self.since and written(self.since),
            "to": self.to and written(self.to),
            "reason": self.reason,
            "resource_version_before": self.version_before,
            "resource_version_after": self.version_after,
            "proved": self.proved,
            "possible": list(self.possible),
        }


def _moment(said: Mapping[str, Any], name: str) -> datetime | None:
    text = said[name]
    return None if text is None else datetime.fromisoformat(text)
