"""The memory of intake, and the batch in which it changes.

All of it is written in the transaction of the entries that it follows from, so
that after a crash the log and this memory agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from recorder.facts import Entered, KnownStates, WrittenFact
from recorder.model.entry import Draft
from recorder.model.reference import ObjectIdentity

HeadKey = tuple[str, str]
"""Collection (group/plural) and uid, or namespace and name."""


def head_key(collection: str, identity: ObjectIdentity) -> HeadKey:
    """Name an object within its collection: its uid, else its name."""
    if identity.uid:
        return (collection, identity.uid)
    return (collection, f"{identity.namespace}/{identity.name}")


class Head(msgspec.Struct, kw_only=True, gc=False):
    """The newest version of one live object."""

    resource: str
    identity: ObjectIdentity
    epoch: int
    resource_version: str
    position: int
    """Of its newest entry."""

    ready: bool | None = None
    """Of a Node: whether its Ready condition was True."""

    heartbeats: int = 0
    """Updates that were counted instead of stored."""

    heartbeat_at: datetime | None = None
    """When the last of them was observed."""

    substance: bytes | None = None
    """Digest of all except the heartbeat fields; None for kinds that have
    none."""

    renewal: bytes | None = None
    """Of a Lease: the last renewal that was folded."""


class StreamState(StrEnum):
    """The state of a source regarding a resource."""

    LISTING = "listing"
    LIVE = "live"
    BACKING_OFF = "backing-off"
    FORBIDDEN = "forbidden"
    ABSENT = "absent"
    STOPPED = "stopped"
    ENDED = "ended"


WORKING = frozenset(
    {StreamState.LISTING, StreamState.LIVE, StreamState.BACKING_OFF}
)
"""States in which only a running recorder can leave a stream."""

StreamKey = tuple[str, str]
"""Source and resource, in their written forms."""


@dataclass(slots=True, kw_only=True)
class OpenGap:
    """A gap that has been opened and not closed."""

    position: int
    reason: str
    since: datetime | None
    resource_version: str | None


@dataclass(slots=True, kw_only=True)
class ResumePoint:
    """Where a stream continues, and how far it vouches."""

    state: StreamState
    completed: str | None = None
    """The newest version below which nothing is missing, itself included; None
    when the resource must be listed first."""

    pending: str | None = None
    """The version of the last frame; more frames may share it."""

    seen: set[str] = field(default_factory=set)
    """What has been taken of version `pending`."""

    began_at: datetime | None = None
    """When the first list was complete."""

    began_version: str | None = None
    """The version of that list: the log starts with the state at it."""

    vouched_until: datetime | None = None
    """The last proof of any kind, while the server accepts our version."""

    settled_until: datetime | None = None
    """The last proof that remains valid when the history turns out to be gone:
    a list, or news of the watch."""

    last_frame_at: datetime | None = None
    entries: int = 0
    gap: OpenGap | None = None

    @property
    def doubtful_from(self) -> datetime | None:
        """Where a gap starts that opens now."""
        return self.settled_until or self.vouched_until


@dataclass(frozen=True, slots=True)
class Jump:
    """Our wall clock was set, as an entry records it."""

    position: int
    at: datetime
    """By the clock after it."""

    by: timedelta
    """Forward when positive."""


@dataclass(slots=True, kw_only=True)
class Batch:
    """Everything that one transaction writes."""

    first_position: int
    epoch: int
    """The epoch at the end of the batch."""

    drafts: list[tuple[int, Draft]] = field(default_factory=list)
    """Epoch and draft of each entry; positions follow `first_position`."""

    heads: dict[HeadKey, Head] = field(default_factory=dict)
    gone: dict[HeadKey, Head] = field(default_factory=dict)
    """Heads of deleted objects."""

    streams: dict[StreamKey, ResumePoint] = field(default_factory=dict)
    left: set[StreamKey] = field(default_factory=set)
    """Streams that need not be remembered any more."""

    previous: dict[int, int] = field(default_factory=dict)
    """By position: where the previous version of the same object is."""

    read: dict[int, Entered] = field(default_factory=dict)
    """By position: the facts of documents that came decoded, or what they are
    made of if the previous state was not at hand; taken by the component that
    derives them."""

    states: KnownStates = field(default_factory=KnownStates)
    """The known states of objects, the same from batch to batch of the
    component that enters them."""

    facts: list[tuple[int, Sequence[WrittenFact]]] | None = None
    """Position and facts of each entry that has some; None until they are
    derived."""

    def __len__(self) -> int:
        """Count the entries."""
        return len(self.drafts)

    def __bool__(self) -> bool:
        """Return whether there is anything to write."""
        parts = self.drafts, self.heads, self.gone, self.streams, self.left
        return any(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What the log returns to a writer that has just taken its lease."""

    log: int
    size: int
    epoch: int
    heads: Sequence[Head]
    streams: Mapping[StreamKey, ResumePoint]
    newest_request: datetime | None = None
    """The latest time of a request in an audit record."""

    jumps: Sequence[Jump] = ()
    """The newest jumps of our clock, in the order of the log."""
