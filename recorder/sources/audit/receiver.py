"""Receiving batches of audit records: each is committed before its response.

The API server forgets a batch that was accepted, repeats a rejected one for as
long as it is configured to, and then drops it silently. So there is no
response before the commit, nothing is kept in memory beyond a bound, and if
batches were rejected for longer than they are repeated, that is put as a loss.
`webhook` handles the network.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import NamedTuple

from recorder.facts.classify import record_made
from recorder.intake.ports import Known, Sink
from recorder.intake.progress import Received
from recorder.intake.receipts import NotCommittedError, Receipt
from recorder.model.moment import written
from recorder.model.observation import (
    AUDIT,
    AuditRecorded,
    Observation,
    PlaceReached,
    RecordsLost,
)
from recorder.sources.audit.batches import BatchError, read_batch
from recorder.sources.audit.proving import LOST, Proof

STREAM = "webhook"

BODY_BYTES_MAX = 32 << 20
"""Of one batch: 400 records, as the API server sends them by default, of 80 KB
each."""

HELD_BYTES_MAX = 64 << 20
"""Of all batches that are being received; beyond it the API server is asked to
retry later."""

REQUESTS_MAX = 64
"""At once: an API server sends ten a second, and none waits longer than
`COMMIT_SECONDS`."""

PORTION_BYTES = 1 << 20
"""Redacted and put at once, so that other tasks get their turn."""

COMMIT_SECONDS = 20.0
"""The API server's timeout of a request is 30 seconds."""

LISTENING_SECONDS = 15.0
"""How often it is recorded that nothing was missed, while nothing arrives."""

REFUSED = "audit records were refused for longer than API servers repeat them"
AWAY = "nobody received audit records for longer than API servers repeat them"
UNREADABLE = "a batch of audit records could not be read"
TOO_LARGE = f"a batch of audit records had more than {BODY_BYTES_MAX:,} bytes"


class Answer(NamedTuple):
    """The response to a sender."""

    status: HTTPStatus
    says: str = ""
    retry_after: int | None = None
    """Seconds; set if the same request may be accepted later."""


def _now() -> datetime:
    return datetime.now(UTC)


class AuditReceiver:
    """Takes batches while the recording that it is a source of runs.

    It outlives recordings: between two of them, as on a standby, every batch
    is rejected, to be repeated.
    """

    finite = False

    def __init__(
        self,
        *,
        repeated_for: timedelta,
        received: Received,
        now: Callable[[], datetime] = _now,
        commit_seconds: float = COMMIT_SECONDS,
        listening_seconds: float = LISTENING_SECONDS,
    ) -> None:
        """Prepare.

        Args:
            repeated_for: for how long API servers repeat a batch.
            received: where to count.
            now: the clock for observations.
            commit_seconds: how long a sender waits for the commit.
            listening_seconds: between two proofs that records are received.
        """
        self._repeated_for = repeated_for
        self._received = received
        self._now = now
        self._commit_seconds = commit_seconds
        self._listening_seconds = listening_seconds
        self._sink: Sink | None = None
        self.proof: Callable[[Known], Awaitable[Proof]] | None = None
        """Reads what was lost while no records were received; None if that is
        unknown."""
        self._refused_since: datetime | None = None
        self._too_large_at: datetime | None = None

    async def run(self, sink: Sink, known: Known) -> None:
        """Accept batches until cancelled."""
        place = known.resume_points().get(STREAM)
        if place is not None:
            at = datetime.fromisoformat(place)
            if self._now() - at > self._repeated_for:
                proof = await self._proof(known)
                lost = replace(
                    self._lost(AWAY),
                    proved=proof.proved,
                    possible=proof.possible,
                )
                await sink.put([lost, self._place()])
        self._refused_since = None
        self._sink = sink
        try:
            while True:
                if self._refused_since is None:
                    await sink.put([self._place()])
                await asyncio.sleep(self._listening_seconds)
        finally:
            self._sink = None

    async def _proof(self, known: Known) -> Proof:
        if self.proof is None:
            return Proof("nothing", LOST)
        return await self.proof(known)

    def room_for(self, size: int) -> Answer | None:
        """Return why a body of a size may not be read now; None if it may."""
        if self._sink is None:
            return Answer(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "this recorder does not write the log at the moment",
                2,
            )
        if size > BODY_BYTES_MAX:
            return Answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LARGE)
        received = self._received
        if (
            received.waiting > REQUESTS_MAX
            or received.held_bytes + size > HELD_BYTES_MAX
        ):
            self._refuse()
            return Answer(
                HTTPStatus.TOO_MANY_REQUESTS, "too much is waiting", 2
            )
        return None

    async def too_large(self) -> None:
        """Record that a batch can never be accepted.

        The sender repeats it a few times, which is one loss.
        """
        sink, now, last = self._sink, self._now(), self._too_large_at
        if sink is not None and (
            last is None or now - last >= 2 * self._repeated_for
        ):
            self._too_large_at = now
            await self._lose(sink, TOO_LARGE)

    async def _lose(self, sink: Sink, reason: str) -> Receipt:
        """Record that a batch was lost that is not repeated."""
        return await sink.put([self._lost(reason), self._place()])

    async def receive(self, body: bytes) -> Answer:
        """Put a batch; respond when it is committed, or may be repeated.

        A repeated batch adds only what was not put before it was rejected.
        Input that is not a batch is a loss: its sender forgets it.
        """
        refused = None
        try:
            records = await asyncio.to_thread(read_batch, body)
        except BatchError as exc:
            records, refused = [], str(exc)
        if self._sink is None:
            return self._unavailable("the recording has ended")
        try:
            async with asyncio.timeout(self._commit_seconds):
                if refused is None:
                    receipt = await self._put(self._sink, records)
                else:
                    receipt = await self._lose(self._sink, UNREADABLE)
                await receipt.committed()
        except TimeoutError:
            return self._unavailable("the log is too slow")
        except NotCommittedError as exc:
            return self._unavailable(str(exc))
        if refused is not None:
            return Answer(HTTPStatus.BAD_REQUEST, refused)
        self._received.records += len(records)
        self._refused_since = None
        return Answer(HTTPStatus.OK)

    async def _put(self, sink: Sink, items: Sequence[bytes]) -> Receipt:
        at = self._now()
        before: list[Observation] = []
        since = self._refused_since
        if since is not None and at - since > self._repeated_for:
            before.append(self._lost(REFUSED))
        if items:
            self._note_lag(items[-1], at)
        receipt = None
        for portion in _portions(items):
            records = [
                AuditRecorded(observed_at=at, event=one) for one in portion
            ]
            receipt = await sink.put([*before, *records, self._place()])
            before = []
            await asyncio.sleep(0)
        return receipt or await sink.put([*before, self._place()])

    def _note_lag(self, item: bytes, at: datetime) -> None:
        """Note the lag of the sender's clock, or of its batch."""
        stamp = record_made(item)
        if stamp is not None:
            self._received.lag_seconds = (at - stamp).total_seconds()

    def _unavailable(self, says: str) -> Answer:
        self._refuse()
        return Answer(HTTPStatus.SERVICE_UNAVAILABLE, says, 5)

    def _refuse(self) -> None:
        if self._refused_since is None:
            self._refused_since = self._now()

    def _lost(self, reason: str) -> RecordsLost:
        return RecordsLost(
            observed_at=self._now(), stream=STREAM, reason=reason
        )

    def _place(self) -> PlaceReached:
        """Return that nothing was missed until now, or until a rejection."""
        at = self._refused_since or self._now()
        return PlaceReached(
            observed_at=at, source=AUDIT, stream=STREAM, place=written(at)
        )


def _portions(
    items: Sequence[bytes],
) -> Iterator[Sequence[bytes]]:
    """Yield the records in order, about `PORTION_BYTES` at once."""
    portion: list[bytes] = []
    size = 0
    for item in items:
        portion.append(item)
        size += len(item)
        if size >= PORTION_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
