"""Observations to entries: what is new, in which order.

A deterministic function of what came before, with no clock and no I/O: the
same observations give the same entries, whether they come from a cluster or
from a tape of it. Heartbeats are decided in `versions`, what a list proves in
`relisting`, what the end of a stream means in `endings`.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from recorder.facts.classify import claim_draft, read_record, request_draft
from recorder.facts.metrics import lost_of
from recorder.intake import endings
from recorder.intake.authorship import Authorship
from recorder.intake.document import Document, read
from recorder.intake.known_claims import KnownClaims
from recorder.intake.known_requests import KnownRequests
from recorder.intake.ledger import Ledger
from recorder.intake.refusals import input_refused, refusal
from recorder.intake.relisting import Ended, Relisting
from recorder.intake.state import (
    Batch,
    Head,
    ResumePoint,
    StreamKey,
    StreamState,
)
from recorder.intake.streams import (
    advance,
    complete,
    is_half_read,
    is_lower,
    marked,
    settle,
    vouch,
)
from recorder.intake.versions import Renewal, is_known
from recorder.model.entry import Draft, Operation
from recorder.model.errors import InputError
from recorder.model.observation import (
    AUDIT,
    RETENTION,
    AuditRecorded,
    ClockJumped,
    CloudEventPosted,
    EpochBegan,
    HistoryWalked,
    InputRefused,
    ListPage,
    Noticed,
    Observation,
    PlaceReached,
    Polled,
    RecordsLost,
    RequestFailed,
    StreamClosed,
    StreamResumed,
    WatchFrame,
)

OPERATIONS = {
    "ADDED": Operation.ADDED,
    "MODIFIED": Operation.MODIFIED,
    "DELETED": Operation.DELETED,
}


class Sequencer:
    """Takes observations in order and fills the ledger with entries."""

    def __init__(self, ledger: Ledger, relisting: Relisting) -> None:
        self.ledger = ledger
        self._relisting = relisting
        self.requests = KnownRequests(ledger.newest_request)
        self.claims = KnownClaims()
        self._authorship = Authorship(ledger)

    def take(self, observation: Observation) -> None:
        """Take one observation."""
        match observation:
            case WatchFrame():
                self._frame(observation)
            case ListPage():
                self._relisting.page(observation)
            case AuditRecorded():
                self._request(observation)
            case CloudEventPosted() | Polled() | Noticed():
                self._document(observation)
            case HistoryWalked():
                self._relisting.walking.take(observation)
            case RecordsLost():
                endings.records_lost(self.ledger, observation)
            case PlaceReached():
                self._placed(observation)
            case _:
                self._ending(observation)

    def seal(self) -> Batch:
        """Return what was taken as a batch."""
        self._authorship.settle()
        return self.ledger.seal()

    def _ending(
        self,
        observation: StreamClosed
        | StreamResumed
        | RequestFailed
        | InputRefused
        | EpochBegan
        | ClockJumped,
    ) -> None:
        ledger, relisting = self.ledger, self._relisting
        match observation:
            case StreamClosed():
                endings.stream_closed(ledger, relisting, observation)
            case StreamResumed():
                endings.stream_resumed(ledger, observation)
            case RequestFailed():
                endings.request_failed(ledger, relisting, observation)
            case InputRefused():
                input_refused(ledger, observation)
            case EpochBegan():
                endings.epoch_began(ledger, observation)
            case ClockJumped():
                endings.clock_jumped(ledger, relisting, observation)

    def _frame(self, frame: WatchFrame) -> None:
        key = (frame.source, str(frame.resource))
        try:
            document = read(frame.object, resource=frame.resource)
        except InputError as exc:
            input_refused(self.ledger, refusal(frame, frame.object, str(exc)))
            return
        if frame.renewed:
            self.ledger.enter(key, _renewed(document, frame))
            return
        if frame.recovered:
            self._recovered(key, document, frame)
            return
        point = self.ledger.moved(key)
        point.last_frame_at = frame.observed_at
        before, state = point.pending, StreamState.LIVE
        heals = point.gap is not None and not is_half_read(point)
        if frame.type == "BOOKMARK":
            marked(point, document.resource_version)
            if point.state is StreamState.ABSENT:
                # The version from which a removed kind may return.
                state = StreamState.ABSENT
        else:
            self._change(key, point, document, frame)
        if heals:
            endings.heal(self.ledger, key, frame.observed_at)
        if point.pending != before and not frame.late:
            settle(point, frame.observed_at)
        vouch(point, frame.observed_at, state)

    def _change(
        self,
        key: StreamKey,
        point: ResumePoint,
        document: Document,
        frame: WatchFrame,
    ) -> None:
        operation = OPERATIONS[frame.type]
        name = document.key[1]
        token = f"-{name}" if operation is Operation.DELETED else name
        if not advance(point, document.resource_version, token):
            return
        draft = document.draft(
            operation, observed_at=frame.observed_at, source=frame.source
        )
        head = self.ledger.versions.get(document.key)
        previous = None if head is None else head.position
        if not document.is_event:
            if operation is Operation.DELETED:
                self._removed(document, frame)
            elif not self._stored(head, document, draft):
                return
            self._authorship.version(key[1], frame.observed_at)
        self.ledger.enter(key, draft, previous=previous, wire=document.wire)

    def _recovered(
        self, key: StreamKey, document: Document, frame: WatchFrame
    ) -> None:
        """Enter a version that was read of the past, unless it was before.

        Versions come in order. A gap that is open meanwhile is closed by the
        result of the whole walk, or by the list that follows; a frame that
        was damaged in transit opens none.
        """
        point, version = self.ledger.moved(key), document.resource_version
        self._relisting.walking.recovering(key, frame.observed_at)
        gone = OPERATIONS[frame.type] is Operation.DELETED
        name = document.key[1]
        if is_lower(version, point.pending) or not advance(
            point, version, f"-{name}" if gone else name
        ):
            return
        head = self.ledger.versions.get(document.key)
        if gone:
            if head is not None:
                self._relisting.absent(
                    key,
                    document.key,
                    frame.observed_at,
                    ended=Ended(version, frame.written_by),
                )
            return
        draft = replace(
            document.draft(
                Operation.RECOVERED,
                observed_at=frame.observed_at,
                source=frame.source,
            ),
            occurred_at=frame.written_by,
        )
        if document.is_event or self._stored(head, document, draft):
            previous = None if head is None else head.position
            self.ledger.enter(
                key, draft, previous=previous, wire=document.wire
            )

    def _removed(self, document: Document, frame: WatchFrame) -> None:
        self._renewal(self.ledger.versions.remove(document.key))
        if document.key[0] == "namespaces":
            self._relisting.namespace_went(frame.observed_at)

    def _stored(
        self, head: Head | None, document: Document, draft: Draft
    ) -> bool:
        """Note a version; return whether it needs an entry."""
        ledger, versions = self.ledger, self.ledger.versions
        epoch = ledger.epoch
        if head is not None:
            if is_known(head, document.resource_version, epoch):
                return False
            folded, silence = versions.fold(
                head, document, draft.observed_at, epoch
            )
            self._renewal(silence)
            if folded:
                return False
            self._renewal(versions.silenced(head, document))
        versions.store(head, document, draft.identity, epoch, ledger.position)
        return True

    def _renewal(self, renewal: Renewal | None) -> None:
        if renewal is not None:
            self.ledger.enter_renewal(renewal)

    def _request(self, recorded: AuditRecorded) -> None:
        if not self.requests.is_new(recorded.event):
            return
        record = read_record(recorded.event)
        if record is None:
            why = "no audit record of audit.k8s.io"
            input_refused(self.ledger, refusal(recorded, recorded.event, why))
            return
        draft = request_draft(
            recorded.event,
            observed_at=recorded.observed_at,
            source=recorded.source,
            record=record,
        )
        key = (recorded.source, AUDIT)
        self.ledger.enter(key, draft, wire=record)
        point = self.ledger.moved(key)
        point.state = StreamState.LIVE
        point.last_frame_at = recorded.observed_at
        at = draft.occurred_at or recorded.observed_at
        self._authorship.request(record, at)

    def _placed(self, reached: PlaceReached) -> None:
        key = (reached.source, reached.stream)
        if reached.state == "gone":
            self.ledger.leave(key)
            return
        point = self.ledger.moved(key)
        point.state = StreamState(reached.state)
        complete(point, reached.place)
        settle(point, reached.observed_at)

    def _claim(self, posted: CloudEventPosted) -> None:
        if not self.claims.is_new(posted.key):
            return
        draft = claim_draft(
            posted.event,
            key=posted.key,
            source=posted.source,
            observed_at=posted.observed_at,
        )
        self.ledger.enter((draft.source, draft.resource or ""), draft)
        lost = lost_of(posted.event, posted.observed_at)
        if lost is not None:
            endings.metrics_lost(self.ledger, lost, posted.observed_at)

    def _document(
        self, observation: CloudEventPosted | Polled | Noticed
    ) -> None:
        if isinstance(observation, CloudEventPosted):
            self._claim(observation)
            return
        name, operation, documents = _posted(observation)
        for raw in documents:
            draft = Draft(
                source=observation.source,
                operation=operation,
                observed_at=observation.observed_at,
                raw=raw,
                resource=name,
            )
            self.ledger.enter((observation.source, name), draft)


def _renewed(document: Document, frame: WatchFrame) -> Draft:
    """Make the entry that a log had before a tape was cut out of it.

    It came late there, so it proves nothing about its stream.
    """
    return document.draft(
        Operation.RENEWED, observed_at=frame.observed_at, source=frame.source
    )


def _posted(
    observation: Polled | Noticed,
) -> tuple[str, Operation, Sequence[bytes]]:
    match observation:
        case Noticed():
            return RETENTION, Operation.RETENTION, [observation.document]
        case Polled():
            return observation.resource, Operation.POLLED, observation.items
