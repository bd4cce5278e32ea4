"""The ledger: the batch being filled, and the streams that it moves.

Positions are assigned here, in the order of the log, since the one writer of a
log knows its size. A sealed batch is a copy: later changes must not reach a
transaction that is already in flight.
"""

from copy import copy
from datetime import datetime, timedelta

from recorder.facts import Entered, KnownStates
from recorder.facts.classify import Wire
from recorder.facts.classify.audit_record import AuditRecord
from recorder.intake import document as documents
from recorder.intake import gaps
from recorder.intake.state import (
    Batch,
    Jump,
    OpenGap,
    Recovered,
    ResumePoint,
    StreamKey,
    StreamState,
)
from recorder.intake.versions import Renewal, Versions
from recorder.model.entry import Draft, Operation
from recorder.model.observation import WATCH
from recorder.model.reference import EntryName, Resource


class Ledger:
    """What has been taken and is not yet sealed into a batch."""

    def __init__(
        self, recovered: Recovered, *, full_fidelity: bool = False
    ) -> None:
        self.log = recovered.log
        self.epoch = recovered.epoch
        self.newest_request = recovered.newest_request
        self.versions = Versions(recovered.heads, full_fidelity=full_fidelity)
        self._known = KnownStates()
        self.streams: dict[StreamKey, ResumePoint] = dict(recovered.streams)
        self._jumps = list(recovered.jumps)
        self._moved: set[StreamKey] = set()
        self._left: set[StreamKey] = set()
        self._states = {key: p.state for key, p in self.streams.items()}
        self._drafts: list[tuple[int, Draft]] = []
        self._first = recovered.size + 1
        self.bytes = 0
        """How many bytes the batch holds so far, approximately."""

        self._previous: dict[int, int] = {}
        self._read: dict[int, Entered] = {}

    @property
    def position(self) -> int:
        """The position that the next entry will have."""
        return self._first + len(self._drafts)

    @property
    def entries(self) -> int:
        """How many entries the batch holds so far."""
        return len(self._drafts)

    @property
    def turned(self) -> bool:
        """Whether a stream is in another state than in the last batch."""
        return any(
            self.streams[key].state is not self._states.get(key)
            for key in self._moved
        )

    def enter(
        self,
        key: StreamKey | None,
        draft: Draft,
        *,
        previous: int | None = None,
        wire: Wire | AuditRecord | None = None,
    ) -> None:
        """Add an entry, of a stream or of the recorder as a whole.

        ``previous`` is the position of the previous version of its object,
        ``wire`` the document as it was decoded, which is not kept.
        """
        position = self.position
        if previous is not None:
            self._previous[position] = previous
        if wire is not None:
            self._read[position] = self._known.enter(
                position, draft, wire, previous
            )
        self._drafts.append((self.epoch, draft))
        self.bytes += len(draft.raw)
        if previous is None and isinstance(wire, Wire):
            # The facts of a new object repeat all of its content.
            self.bytes += len(draft.raw)
        if key is not None:
            self.moved(key).entries += 1

    def enter_renewal(self, renewal: Renewal) -> None:
        """Add the late entry of a Lease's last renewal."""
        head = renewal.head
        document = documents.read(
            renewal.raw,
            resource=Resource.parse(head.resource),
            kind=head.identity.kind,
        )
        self.enter(
            (WATCH, head.resource),
            document.draft(
                Operation.RENEWED,
                observed_at=renewal.observed_at,
                source=WATCH,
            ),
        )

    def moved(self, key: StreamKey) -> ResumePoint:
        """Return the resume point of a stream, to be moved."""
        self._moved.add(key)
        self._left.discard(key)
        point = self.streams.get(key)
        if point is None:
            point = ResumePoint(state=StreamState.LISTING)
            self.streams[key] = point
        return point

    def leave(self, key: StreamKey) -> None:
        """Remove a stream, and where it resumes."""
        self._moved.discard(key)
        if self.streams.pop(key, None) is not None:
            self._left.add(key)

    def jumped(self, at: datetime, by: timedelta) -> None:
        """Note that our clock was set; its entry comes next."""
        self._jumps.append(Jump(self.position, at, by))
        for key, point in sorted(self.streams.items()):
            vouched, settled = point.vouched_until, point.settled_until
            if vouched is None or vouched <= at:
                continue
            # A proof by a clock that was ahead would hide, until that time
            # comes, that nothing is proven any more. Earlier news is by that
            # clock too, and must not seem younger than it is.
            self.moved(key).vouched_until = min(vouched + by, at)
            if settled is not None:
                point.settled_until = min(settled + by, at)

    def reach(self, until: datetime, span: timedelta) -> datetime:
        """Return the least time that our clock showed within a span.

        ``until`` is when the span ends, by the current clock.
        """
        least = until - span
        for jump in reversed(self._jumps):
            span -= max(until - jump.at, timedelta())
            if span <= timedelta():
                break
            until = jump.at - jump.by
            least = min(least, until - span)
        return least

    def age(
        self, position: int, observed_at: datetime, now: datetime
    ) -> timedelta:
        """Return the age of an entry, independent of clock jumps."""
        after = (j.by for j in self._jumps if j.position > position)
        return now - observed_at - sum(after, timedelta())

    def open_gap(
        self,
        key: StreamKey,
        reason: str,
        at: datetime,
        *,
        since: datetime | None = None,
    ) -> None:
        """Open a gap at the last proof that cannot be withdrawn.

        Or since another time, if it is known. An open gap stays unchanged.
        """
        point = self.moved(key)
        if point.gap is not None:
            return
        gap = OpenGap(
            position=self.position,
            reason=reason,
            since=since or point.doubtful_from or at,
            resource_version=point.completed,
        )
        point.gap = gap
        source, resource = key
        self.enter(
            key, gaps.opened(gap, at=at, source=source, resource=resource)
        )

    def close_gap(
        self,
        key: StreamKey,
        at: datetime,
        *,
        version: str | None,
        outcome: gaps.Outcome,
    ) -> None:
        """Close the gap of a stream, if one is open."""
        point = self.moved(key)
        gap = point.gap
        if gap is None:
            return
        point.gap = None
        self.enter(
            key,
            gaps.closed(
                gap,
                at=at,
                name=EntryName(self.log, gap.position),
                key=key,
                version=version,
                outcome=outcome,
            ),
        )

    def seal(self) -> Batch:
        """Seal the entries into a batch, and start the next one."""
        batch = Batch(
            first_position=self._first,
            epoch=self.epoch,
            drafts=self._drafts,
            heads={k: copy(h) for k, h in self.versions.changed.items()},
            gone=dict(self.versions.gone),
            streams={key: _copied(self.streams[key]) for key in self._moved},
            previous=self._previous,
            read=self._read,
            states=self._known,
            left=self._left,
        )
        self._left = set()
        self._states.update({k: p.state for k, p in batch.streams.items()})
        self._first += len(self._drafts)
        self._drafts = []
        self._previous = {}
        self._read = {}
        self.bytes = 0
        self._moved = set()
        self.versions.changed.clear()
        self.versions.gone.clear()
        return batch


def _copied(point: ResumePoint) -> ResumePoint:
    twin = copy(point)
    twin.seen = set(point.seen)
    twin.gap = copy(point.gap)
    return twin
