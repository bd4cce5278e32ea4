"""One stream of a log, while it is being cut out onto a tape.

Makes the frames that a tape needs and a log does not hold, from what the log
keeps of them: of a bookmark, until when a stream was vouched for; of a request
that failed, the gap that it opened; of a list, the versions that were new,
which list it was, and which objects were missing from it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from recorder.answers.nouns import is_about_events
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import Stream
from recorder.intake.state import ResumePoint, StreamState
from recorder.intake.streams import advance, complete, marked
from recorder.model.entry import Entry
from recorder.model.observation import (
    ABSENT,
    EXPIRED,
    SETTLED,
    ListPage,
    Observation,
    RequestFailed,
    StreamClosed,
    WatchFrame,
)
from recorder.model.reference import Resource

REWOUND = "history rewound"
VANISHED = "kind no longer served (404)"
UNDECODABLE = "undecodable input"

_CLOSED = {
    "watch expired (410)": EXPIRED,
    "reconcile mismatch": "reconcile-mismatch",
}
"""Reasons of gaps that the end of a watch opened, and how it ended."""

_REFUSED = {"unauthorized (401)": 401, "forbidden (403)": 403}
RELISTED = "relisted"

UNKNOWN_VERSION = "0"
"""Of an empty list, whose version is unknown."""


def moment_of(text: str | None) -> datetime | None:
    """Parse a time that the recorder wrote."""
    return None if text is None else datetime.fromisoformat(text)


@dataclass(slots=True, kw_only=True)
class CutStream:
    """The state of a stream on the tape so far."""

    stream: Stream
    resource: Resource
    gaps: list[Gap] = field(default_factory=list)
    """Those that reach into the window or come after it, in log order."""

    begun: bool = False
    """Whether it has a complete list on the tape."""

    listing: str | None = None
    """The version of the incomplete list."""

    gap: Gap | None = None
    """The gap that is open on the tape."""

    version: str = ""
    """The newest version on the tape."""

    point: ResumePoint = field(
        default_factory=lambda: ResumePoint(state=StreamState.LISTING)
    )
    """Where intake will be after these frames."""

    vanished: bool = False
    """Whether the cluster no longer serves it."""

    kind: str | None = None
    alive: dict[str, int] = field(default_factory=dict)
    """Positions of the newest versions of live objects, by UID."""

    listed: set[str] = field(default_factory=set)
    """The objects shown by the incomplete list."""

    absent: set[str] = field(default_factory=set)
    list_at: datetime | None = None
    """When its newest page came."""

    @property
    def key(self) -> tuple[str, str]:
        """Its source and resource."""
        return self.stream.source, self.stream.resource

    @property
    def is_events(self) -> bool:
        """Whether it is the stream of Kubernetes Events."""
        return is_about_events(self.stream.resource)

    def gap_opened_at(self, position: int) -> Gap | None:
        """Return the gap that an entry opened."""
        for gap in self.gaps:
            if gap.opened.position == position:
                return gap
        return None

    def list_version(self, position: int) -> str:
        """Return the version of the list that an entry is part of."""
        if not self.begun:
            return self.stream.began_version or UNKNOWN_VERSION
        gap = self._list_gap(position)
        after = None if gap is None else gap.resource_version_after
        return after or self.version or UNKNOWN_VERSION

    def _list_gap(self, position: int) -> Gap | None:
        """Return the gap that a list ends, by an entry that is part of it."""
        if self.gap is not None or not self.begun:
            return self.gap
        later = (g for g in self.gaps if g.opened.position > position)
        return next((gap for gap in later if not gap.healed), None)

    def begin_list(self, line: Entry) -> list[Observation]:
        """Begin the list that an entry is part of.

        Its first page came when its gap ended, and showed nothing new if the
        first entry came later.
        """
        position = line.entry.position
        self.listing = self.list_version(position)
        gap = self._list_gap(position)
        if gap is None or gap.until is None or gap.until >= line.observed_at:
            return []
        return [self.page(gap.until)]

    def was_listed(self, line: Entry) -> bool:
        """Return whether a gap began after an incomplete first list.

        No entry records that this list was complete; a gap that begins at the
        last proof shows it.
        """
        began = self.stream.began_at
        if self.begun or self.listing is None or began is None:
            return False
        said = document_of(line.raw)
        since = moment_of(said["from"])
        if since is None or since < began:
            return False
        return said["reason"] != UNDECODABLE or since < line.observed_at

    def is_relisted(self, line: Entry) -> bool:
        """Return whether an entry is of the list after the first, of Events.

        Between two such lists there may be no entry. The gap that the second
        one closed is entered after it, and ended when the list began.
        """
        if self.begun or self.listing is None or not self.is_events:
            return False
        position = line.entry.position
        later = (g for g in self.gaps if g.opened.position > position)
        gap = next((gap for gap in later if not gap.healed), None)
        began = self.stream.began_at
        if gap is None or gap.until is None or began is None:
            return False
        return began < gap.until <= line.observed_at

    def page(
        self,
        at: datetime,
        items: Sequence[bytes] = (),
        *,
        more: bool = True,
        made: bool = False,
        kind: str | None = None,
    ) -> ListPage:
        """Make a page of the incomplete list."""
        assert self.listing is not None, "a page is of a list"
        self.list_at = at
        return ListPage(
            observed_at=at,
            resource=self.resource,
            resource_version=self.listing,
            items=items,
            more=more,
            kind=kind or self.kind,
            made=made,
            source=self.stream.source,
        )

    def listed_whole(self) -> None:
        """Note that the list is complete."""
        self.begun = True
        self.version = self.listing or self.version
        complete(self.point, self.version)
        self.listing = None
        self.vanished = False
        self.gap = None
        for thing in self.absent:
            self.alive.pop(thing, None)
        self.listed.clear()
        self.absent.clear()

    def forget(self) -> None:
        """Note that earlier versions are no longer valid."""
        self.point.completed = self.point.pending = None

    def bookmark(self, at: datetime, version: str) -> WatchFrame:
        """Make the proof that nothing was missed up to a version."""
        self.version = version
        marked(self.point, version)
        document = {
            "apiVersion": self.resource.api_version,
            "metadata": {"resourceVersion": version},
        }
        return WatchFrame(
            observed_at=at,
            resource=self.resource,
            type="BOOKMARK",
            object=msgspec.json.encode(document),
            source=self.stream.source,
        )

    def vanish(self, at: datetime) -> StreamClosed:
        """Make the observation that the cluster no longer serves it."""
        self.forget()
        self.vanished = True
        self.alive.clear()
        return self.closed(at, ABSENT)

    def closed(self, at: datetime, reason: str = "timeout") -> StreamClosed:
        """Make the end of a watch; a clean one is a proof as well."""
        return StreamClosed(
            observed_at=at,
            resource=self.resource,
            reason=reason,
            source=self.stream.source,
        )

    def failed(self, at: datetime, status: int, reason: str) -> RequestFailed:
        """Make a request that the cluster rejected."""
        return RequestFailed(
            observed_at=at,
            resource=self.resource,
            status=status,
            reason=reason,
            source=self.stream.source,
        )

    def change(
        self, at: datetime, type_: str, document: bytes, version: str
    ) -> WatchFrame:
        """Make the frame of an entry; it heals a gap."""
        self.gap = None
        # Which object it is matters only for frames of one version.
        advance(self.point, version, "")
        return WatchFrame(
            observed_at=at,
            resource=self.resource,
            type=type_,
            object=document,
            source=self.stream.source,
        )

    def resume(
        self, at: datetime, said: Mapping[str, Any], walked: Observation | None
    ) -> Iterator[Observation]:
        """Make what healed a gap without a list."""
        if self.gap is not None:
            self.gap = None
            version = said["resource_version_after"] or ""
            bookmark = self.bookmark(at, version)
            yield walked or bookmark

    def relist(
        self, at: datetime, said: Mapping[str, Any]
    ) -> Iterator[Observation]:
        """Begin the list that ended a gap, unless an entry of it did."""
        if self.listing is None:
            self.listing = said["resource_version_after"] or ""
            absent_at = self.list_at
            yield self.page(at)
            if self.absent:
                self.list_at = absent_at

    def renewal(self, at: datetime, document: bytes) -> WatchFrame:
        """Make the frame of a late renewal."""
        return WatchFrame(
            observed_at=at,
            resource=self.resource,
            type="MODIFIED",
            object=document,
            source=self.stream.source,
            renewed=True,
        )

    def proofs(self, said: Mapping[str, Any]) -> list[Observation]:
        """Make the proofs for the stream until a gap began."""
        at = moment_of(said["from"])
        if not self.begun or at is None:
            return []
        version = said["resource_version_before"]
        proof = self.closed(at, SETTLED)
        if version in {None, self.point.completed}:
            return [proof]
        return [self.bookmark(at, version), proof]

    def opening(self, gap: Gap, at: datetime) -> list[Observation]:
        """Make the observation that opened a gap, unless made elsewhere."""
        reason = gap.reason
        self.gap = gap
        if reason in _REFUSED:
            return [self.failed(at, _REFUSED[reason], reason)]
        if reason in _CLOSED:
            return [self.closed(at, _CLOSED[reason])]
        if reason == RELISTED and not self.is_events:
            self.listing = gap.resource_version_after or self.version
            return [self.page(at)]
        return []

    def is_opened_alone(self, gap: Gap) -> bool:
        """Return whether one frame opens such a gap, and nothing closes it."""
        if self.is_events:
            return gap.reason in _REFUSED
        return gap.reason in {*_REFUSED, *_CLOSED, RELISTED}


def document_of(raw: bytes | None) -> dict[str, Any]:
    """Parse a document of the recorder itself."""
    found: dict[str, Any] = json.loads(raw or b"{}")
    return found
