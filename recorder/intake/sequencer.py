"""Observations to entries: what is new, in which order.

A deterministic function of what came before, with no clock and no I/O: the
same observations give the same entries, whether they come from a cluster or
from a tape of it. What is a heartbeat is decided in `versions`, what a list
proves in `relisting`, what the end of a stream means in `endings`.
"""

from recorder.classify import Document, read
from recorder.errors import InputError
from recorder.intake import endings
from recorder.intake.ledger import Ledger
from recorder.intake.refusals import input_refused, refusal
from recorder.intake.relisting import Relisting
from recorder.intake.state import (
    Batch,
    HeadKey,
    StreamKey,
    StreamState,
    head_key,
)
from recorder.intake.streams import advance, complete, vouch
from recorder.intake.versions import Renewal, collection_of
from recorder.model.entry import Draft, Operation
from recorder.model.observation import (
    TAPE,
    AuditRecorded,
    ClockJumped,
    CloudEventPosted,
    EpochBegan,
    InputRefused,
    ListPage,
    Observation,
    Polled,
    RequestFailed,
    StreamClosed,
    StreamResumed,
    TapePosition,
    WatchFrame,
)

__all__ = ["TAPE_STREAM", "Sequencer"]

TAPE_STREAM = (TAPE, "tape")
"""Whose completed version is the number of the next frame to play."""

OPERATIONS = {
    "ADDED": Operation.ADDED,
    "MODIFIED": Operation.MODIFIED,
    "DELETED": Operation.DELETED,
}


class Sequencer:
    """Takes observations in order and fills the ledger with entries."""

    def __init__(self, ledger: Ledger, relisting: Relisting) -> None:
        self._ledger = ledger
        self._relisting = relisting
        self._tape_frame: int | None = None

    def take(self, observation: Observation) -> None:
        """Take one observation."""
        match observation:
            case WatchFrame():
                self._frame(observation)
            case ListPage():
                self._relisting.page(observation)
            case AuditRecorded() | CloudEventPosted() | Polled():
                self._document(observation)
            case TapePosition():
                self._tape_frame = observation.frame
                return
            case _:
                self._ending(observation)
        if self._tape_frame is not None:
            self._tape_frame += 1

    def seal(self) -> Batch:
        """Give what was taken as a batch, with the place on the tape."""
        if self._tape_frame is not None:
            point = self._ledger.moved(TAPE_STREAM)
            complete(point, str(self._tape_frame))
        return self._ledger.seal()

    def _ending(
        self,
        observation: StreamClosed
        | StreamResumed
        | RequestFailed
        | InputRefused
        | EpochBegan
        | ClockJumped,
    ) -> None:
        ledger, relisting = self._ledger, self._relisting
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
                endings.clock_jumped(ledger, observation)

    def _frame(self, frame: WatchFrame) -> None:
        key = (frame.source, str(frame.resource))
        try:
            document = read(frame.object, resource=frame.resource)
        except InputError as exc:
            input_refused(self._ledger, refusal(frame, frame.object, str(exc)))
            return
        point = self._ledger.moved(key)
        point.last_frame_at = frame.observed_at
        if frame.type == "BOOKMARK":
            complete(point, document.resource_version or "")
        else:
            self._change(key, frame, document)
        endings.heal(self._ledger, key, frame.observed_at)
        vouch(point, frame.observed_at, StreamState.LIVE)

    def _change(
        self, key: StreamKey, frame: WatchFrame, document: Document
    ) -> None:
        operation = OPERATIONS[frame.type]
        deleted = operation is Operation.DELETED
        thing = head_key(collection_of(frame.resource), document.identity)
        version = document.resource_version or ""
        token = f"-{thing[1]}" if deleted else thing[1]
        if not advance(self._ledger.moved(key), version, token):
            return
        if document.is_event:
            self._enter(key, document, operation, frame)
            return
        self._versioned(key, thing, document, operation, frame)

    def _versioned(
        self,
        key: StreamKey,
        thing: HeadKey,
        document: Document,
        operation: Operation,
        frame: WatchFrame,
    ) -> None:
        ledger, versions = self._ledger, self._ledger.versions
        if operation is Operation.DELETED:
            self._renewal(versions.remove(thing))
            if thing[0] == "namespaces":
                self._relisting.namespace_went(frame.observed_at)
            self._enter(key, document, operation, frame)
            return
        version = document.resource_version or ""
        if version and versions.is_known(thing, version, ledger.epoch):
            return
        folded, silence = versions.fold(
            thing, document, frame.observed_at, ledger.epoch
        )
        self._renewal(silence)
        if folded:
            return
        self._renewal(versions.silenced(thing, document))
        versions.store(thing, document, ledger.epoch, ledger.position)
        self._enter(key, document, operation, frame)

    def _enter(
        self,
        key: StreamKey,
        document: Document,
        operation: Operation,
        frame: WatchFrame,
    ) -> None:
        self._ledger.enter(
            key,
            document.draft(
                operation,
                observed_at=frame.observed_at,
                source=frame.source,
            ),
        )

    def _renewal(self, renewal: Renewal | None) -> None:
        if renewal is not None:
            self._ledger.enter_renewal(renewal)

    def _document(
        self, observation: AuditRecorded | CloudEventPosted | Polled
    ) -> None:
        match observation:
            case AuditRecorded():
                name, operation = "audit", Operation.AUDIT
                documents = [observation.event]
            case CloudEventPosted():
                name, operation = "cloudevents", Operation.CLOUDEVENT
                documents = [observation.event]
            case Polled():
                name, operation = observation.resource, Operation.POLLED
                documents = list(observation.items)
        for raw in documents:
            draft = Draft(
                source=observation.source,
                operation=operation,
                observed_at=observation.observed_at,
                raw=raw,
                resource=name,
            )
            self._ledger.enter((observation.source, name), draft)
