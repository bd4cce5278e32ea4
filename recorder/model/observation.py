"""Observations: what a source handed us, in the order in which it came.

They correspond one to one to the frames of a tape, so that a recording played
back takes the same path as the live cluster and must give the same log. That
is why they carry no state of the connection that a tape would not hold.

Bytes are documents as they were received until redaction has run; nothing
before redaction may look at them except to split and to redact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import msgspec

from recorder.model.reference import Resource

WATCH = "watch"
AUDIT = "audit"
CLOUDEVENTS = "cloudevents"
SLURM = "slurm"
RECORDER = "recorder"
AUDITED = "audited"
"""Counts of each resource while audit is read; they belong to no stream."""

RETENTION = "retention"
"""The stream of the recorder's own notices: what became of days."""

EVENTS = "v1/events"
NODES = "v1/nodes"
PODS = "v1/pods"
LEASES = "coordination.k8s.io/v1/leases"
"""Resources that a log may lack, because it does not watch them."""

TAPE = "tape"
"""Source of a `PlaceReached` alone; frames keep the source they came from."""

EXPIRED = "410"
"""`StreamClosed.reason` when the server no longer holds our version."""

SETTLED = "settled"
"""`StreamClosed.reason` on a tape that was cut out of a log: up to here the
log knew that nothing was missing, and a gap may start."""

CLEAN_REASONS = frozenset({"eof", "timeout", SETTLED})
"""Reasons of `StreamClosed` after which everything sent was received."""

ABSENT = "404"
"""`StreamClosed.reason` when the cluster no longer serves the resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """One page of a complete list of a resource as of one version."""

    observed_at: datetime
    resource: Resource
    resource_version: str
    items: Sequence[bytes]
    more: bool
    """Whether another page of the same list follows."""

    kind: str | None = None
    """The kind of the items, which do not carry it themselves; None where
    the source does not say it."""

    made: bool = False
    """Whether the list was made from a log instead of received."""

    partial: bool = False
    """Whether it may lack objects, as a dump of one namespace does: it proves
    no absence, and its stream does not begin with it. Never on a tape."""

    source: str = WATCH


class WatchFrame(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One frame of a watch stream: ADDED, MODIFIED, DELETED or BOOKMARK.

    A frame of type ERROR with code 410 is a `StreamClosed`; every other
    frame of another type is an `InputRefused`.
    """

    observed_at: datetime
    resource: Resource
    type: str
    object: bytes
    source: str = WATCH

    renewed: bool = False
    """Whether it is the last renewal of a Lease before a silence, entered in
    a log after the silence. Only on tapes that were cut from a log."""

    late: bool = False
    """Whether more may have been made before it came: it was made while we
    were away, or the line was slow."""

    written_by: datetime | None = None
    """When a recovered version existed at the latest, according to the field
    managers of it and of later versions."""

    recovered: bool = False
    """Whether it was read afterwards, out of what the server still knew of
    its past. Before a list, in the order of versions; a DELETED then only
    names the object and the version at which it was gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamClosed:
    """A watch ended; nothing is known until the next frame or list."""

    observed_at: datetime
    resource: Resource
    reason: str
    """`EXPIRED`, `ABSENT`, one of `CLEAN_REASONS`, or free text."""

    source: str = WATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryWalked:
    """A span of a resource's past was read; what was found came before.

    A list as of ``until`` follows, or what happened behind it.
    """

    observed_at: datetime
    resource: Resource
    since: str
    until: str
    """Versions: the first exclusive, the second that of the list."""

    proved: str
    """What was read and found, in words."""

    possible: Sequence[str] | None
    """What may still be missing between the two, in words; None if only
    the list shows it, because nothing could be read."""

    resumes: bool = False
    """Whether nothing is missing up to ``until``, so that what happened
    behind it follows, and no list."""

    source: str = WATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamResumed:
    """A watch was accepted from the completed version: nothing was missed.

    Live only, never on a tape.
    """

    observed_at: datetime
    resource: Resource
    source: str = WATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFailed:
    """The cluster refused a request: 401, 403, 404, 5xx, or no answer (0)."""

    observed_at: datetime
    resource: Resource
    status: int
    reason: str
    source: str = WATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRefused:
    """Input that could not be taken as it was.

    ``head`` is a bounded beginning of the bytes, ``sha256`` and ``length``
    are of all of them.
    """

    observed_at: datetime
    resource: Resource | None
    head: bytes
    sha256: str
    length: int
    reason: str
    source: str = WATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochBegan:
    """The cluster's history was rewound; versions now belong to a new one."""

    observed_at: datetime
    reason: str
    source: str = WATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockJumped:
    """Our wall clock jumped relative to the monotonic clock. Live only."""

    observed_at: datetime
    seconds: float
    """How far the wall clock moved, positive forward."""

    source: str = WATCH


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecorded:
    """One ``audit.k8s.io/v1`` Event."""

    observed_at: datetime
    event: bytes
    source: str = AUDIT


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudEventPosted:
    """One CloudEvent in JSON structured mode: what a sender claims."""

    observed_at: datetime
    event: bytes
    source: str = CLOUDEVENTS

    key: str | None = None
    """The SHA-256 of its source and id before redaction, by which a repeated
    claim is recognized; None on tapes that do not have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled:
    """The answer of a source that is polled, ``slurm/jobs`` for example."""

    observed_at: datetime
    resource: str
    items: Sequence[bytes]
    source: str = SLURM


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """A notice of retention was read. Never on a tape."""

    observed_at: datetime
    document: bytes
    source: str = RECORDER


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsLost:
    """Records of a stream were lost before they were read. Live only.

    Between the last that was put, and the next, if it is not known better.
    """

    observed_at: datetime
    stream: str
    reason: str
    since: datetime | None = None
    """When the first of them may have been made, where that is known."""

    proved: str = "nothing"
    """What is known of them, in words."""

    possible: str | None = "audit records between the two"
    """What may be missing; None where it is proved that nothing is."""

    source: str = AUDIT


class PlaceReached(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A source has put all of a stream before a place, and goes on there.

    For streams that are no collections of an API server: the number of a
    frame on a tape, an offset in a file. Never written to a tape.

    A place is committed with the observations that it follows in the same
    call, back to the place before; a call that holds any ends with one.
    Pages of lists are looked up in the log first, with all before them
    committed, so they follow a place or begin a call.
    """

    observed_at: datetime
    source: str
    stream: str
    place: str
    """In the source's own form; the source gets it back unchanged."""

    state: Literal["live", "backing-off", "ended", "gone"] = "live"
    """Of the stream from now on: ``backing-off`` while what is read is not
    there, ``ended`` when nothing more comes, ``gone`` when its place need not
    be known any more."""


Observation = (
    ListPage
    | WatchFrame
    | HistoryWalked
    | StreamClosed
    | StreamResumed
    | RequestFailed
    | InputRefused
    | EpochBegan
    | ClockJumped
    | AuditRecorded
    | CloudEventPosted
    | Polled
    | Noticed
    | RecordsLost
    | PlaceReached
)
