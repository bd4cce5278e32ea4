"""Recording: sources to a log, until stopped.

A task for each source observes, one puts the observations in order, one
commits. They meet in a bounded queue and in the ledger: while a batch is being
committed the next one fills, so a slow log makes batches larger and then makes
the sources wait. A lost lease, or a log that differs from our memory, ends the
recording, since only a restart reads the truth.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta

from recorder.intake.admission import admit
from recorder.intake.committing import Committer, Policy
from recorder.intake.endings import clock_jumped
from recorder.intake.knowledge import Knowledge, utc_now
from recorder.intake.known_events import EVER
from recorder.intake.ledger import Ledger
from recorder.intake.observing import observe
from recorder.intake.ports import Log, Source
from recorder.intake.progress import Progress
from recorder.intake.queue import Chunk, IntakeQueue
from recorder.intake.receipts import Receipt, Receipts
from recorder.intake.redact import Redaction
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.intake.state import WORKING, StreamState
from recorder.intake.tee import Tee, Tees
from recorder.model.errors import LogUnavailableError, RecorderError
from recorder.model.observation import (
    AUDIT,
    ClockJumped,
    ListPage,
    Observation,
)

CLOCKS_APART = timedelta(seconds=2)
"""How far the clock may jump without being reported while we compare."""


class Recording:
    """One recording of one log; it satisfies the port `Sink`."""

    def __init__(
        self,
        log: Log,
        redaction: Redaction,
        *,
        policy: Policy | None = None,
        progress: Progress | None = None,
        has_room: Callable[[], str | None] = lambda: None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """Prepare; nothing is read or written yet.

        Args:
            log: where to write; its lease is taken by `run`.
            redaction: every document passes it first.
            policy: bounds and choices; None for the defaults.
            progress: where to count.
            has_room: returns why nothing may be written now, None if it may.
            now: the clock for observations.
        """
        self._log = log
        self._redaction = redaction
        self._policy = policy or Policy()
        self.progress = progress or Progress()
        self._has_room = has_room
        self._now = now
        self._queue = IntakeQueue()
        self._receipts = Receipts()
        self._first_tees: list[Tee] = []
        self._tees: Tees | None = None
        self._commit: Callable[[], Awaitable[None]]

    async def put(self, observations: Sequence[Observation]) -> Receipt:
        """Redact observations and hand them over; wait while full."""
        admitted = admit(
            observations,
            self._redaction,
            served=self._policy.served,
            checked=self._policy.checked,
        )
        receipt = Receipt(self._receipts)
        await self._queue.put(Chunk(admitted, receipt))
        return receipt

    @property
    def is_recording(self) -> bool:
        """Whether this recording holds the lease."""
        return self._tees is not None

    def tee_from_start(self, tee: Tee) -> None:
        """Pass observations to a tee from the first one; before `run`."""
        self._first_tees.append(tee)

    async def tee(self, tee: Tee) -> None:
        """Pass observations to a tee, after a list of everything alive.

        Returns when the lists were written; until `untee` it gets what is
        observed.
        """
        joined = asyncio.Event()

        async def join() -> None:
            assert self._tees is not None, "the queue is served"
            if not self._tees.may_open():
                # A list is incomplete: try again after its other pages.
                await asyncio.sleep(0.05)
                await self._queue.ask(join)
                return
            try:
                await self._commit()
                at = self._now()
                ttl = self._policy.event_ttl
                async for page in self._tees.made_lists(at, ttl):
                    tee.write([page])
                self._tees.join(tee)
            finally:
                joined.set()

        await self._queue.ask(join)
        await joined.wait()

    def untee(self, tee: Tee) -> None:
        """Stop passing observations to a tee."""
        if self._tees is not None:
            self._tees.leave(tee)

    async def run(
        self,
        sources: Mapping[str, Source],
        stop: asyncio.Event,
    ) -> None:
        """Record until a stop is requested, or the finite sources have ended.

        Each source starts once the content of the log is known, and continues
        at its own resume points: those of the streams of its name. Pending
        data at the end is committed, within the limit for it. The lease is
        released in any case.

        Raises:
            StandingByError: another process writes the log.
            UnknownStateError: the log was written by others; start again.
            RecorderError: the failure of a source, after everything that was
                observed is committed.
        """
        try:
            recovered = await self._log.take_lease()
            self.progress.began(recovered)
            ledger = Ledger(
                recovered, full_fidelity=self._policy.full_fidelity
            )
            relisting = Relisting(ledger, event_ttl=self._policy.event_ttl)
            self._tees = Tees(ledger, relisting, self._log)
            for tee in self._first_tees:
                self._tees.join(tee)
            await self._record(sources, stop, ledger, relisting)
        finally:
            self._tees = None
            self._receipts.end()
            self.progress.state = "stopped"
            await self._log.close()

    async def _record(
        self,
        sources: Mapping[str, Source],
        stop: asyncio.Event,
        ledger: Ledger,
        relisting: Relisting,
    ) -> None:
        _starting(ledger)
        if self._policy.served:
            _compare_clocks(ledger, relisting, self._now())
        sequencer = Sequencer(ledger, relisting)
        committer = Committer(
            self._log,
            sequencer,
            policy=self._policy,
            progress=self.progress,
            receipts=self._receipts,
            has_room=self._has_room,
        )
        self._commit = committer.commit

        def known(source: str) -> Knowledge:
            return Knowledge(
                source=source,
                ledger=ledger,
                log=self._log,
                queue=self._queue,
                commit=committer.commit,
                event_ttl=self._policy.event_ttl,
                now=self._now,
            )

        try:
            async with asyncio.TaskGroup() as group:
                committing = group.create_task(committer.run())
                sequencing = group.create_task(
                    self._sequence(sequencer, relisting, committer)
                )
                failure = await observe(sources, self, known, stop)
                async with asyncio.timeout(self._policy.stop.total_seconds()):
                    await self._queue.close()
                    await sequencing
                    _stopped(ledger)
                    committer.close()
                    await committing
        except* RecorderError as group_of_errors:
            raise _first(group_of_errors) from None
        except* TimeoutError:
            raise self._not_committed() from None
        if failure is not None:
            raise failure

    def _not_committed(self) -> LogUnavailableError:
        seconds = self._policy.stop.total_seconds()
        why = self.progress.waiting_for or "the log is too slow"
        return LogUnavailableError(
            f"cannot commit pending data within {seconds:.0f} s: {why};"
            " the next start reads it again if the cluster still holds it"
        )

    async def _sequence(
        self, sequencer: Sequencer, relisting: Relisting, committer: Committer
    ) -> None:
        try:
            await self._take_all(sequencer, relisting, committer)
        finally:
            # Otherwise a task that waits for room would wait forever.
            await self._queue.close()

    async def _take_all(
        self, sequencer: Sequencer, relisting: Relisting, committer: Committer
    ) -> None:
        ledger = sequencer.ledger
        while (work := await self._queue.get()) is not None:
            self.progress.queue_bytes = self._queue.bytes
            if not isinstance(work, Chunk):
                await work()
                continue
            await self._recall(work.observations, sequencer)
            first = ledger.position
            for observation in work.observations:
                if isinstance(observation, ListPage):
                    await self._look_back(observation, relisting, committer)
                sequencer.take(observation)
                self.progress.note(observation)
                if committer.is_due() and work.may_end_behind(observation):
                    await committer.taken()
            work.receipt.take(range(first, ledger.position))
            self.progress.repeated = (
                sequencer.requests.repeated + sequencer.claims.repeated
            )
            if self._tees is not None:
                self._tees.write(work.observations)
            await committer.taken()
            # What waits for PostgreSQL continues as soon as it has responded.
            await asyncio.sleep(0)

    async def _recall(
        self, observations: Sequence[Observation], sequencer: Sequencer
    ) -> None:
        """Read from the log which records and claims it has already.

        Waits for the log for as long as a commit would.
        """
        moments = sequencer.requests.wanted(observations)
        keys = sequencer.claims.wanted(observations)
        while moments or keys:
            try:
                documents = await self._log.requests(moments)
                claims = await self._log.claims(keys)
            except LogUnavailableError as exc:
                self.progress.wait_for(str(exc))
                await asyncio.sleep(self._policy.retry_max.total_seconds())
            else:
                sequencer.requests.know(documents)
                sequencer.claims.know(claims)
                return

    async def _look_back(
        self,
        page: ListPage,
        relisting: Relisting,
        committer: Committer,
    ) -> None:
        """Read from the log what a list of Events is compared with."""
        events, resource = relisting.events, page.resource
        while (wanted := events.wanted(page)) is not None:
            await committer.commit()
            if isinstance(wanted, timedelta):
                since = page.observed_at - wanted
                events.know(await self._log.live_events(resource, since))
            else:
                lacking = self._log.lacking(
                    resource, wanted, epoch=events.epoch, since=EVER
                )
                events.lack(await lacking)


def _starting(ledger: Ledger) -> None:
    for key, point in ledger.streams.items():
        if key[0] == AUDIT:
            # Until it is read further, which may no longer be necessary.
            if point.state in WORKING:
                ledger.moved(key).state = StreamState.STOPPED
        elif point.state is StreamState.STOPPED:
            ledger.moved(key).state = StreamState.BACKING_OFF


def _compare_clocks(
    ledger: Ledger, relisting: Relisting, now: datetime
) -> None:
    """Log that our clock is behind that of the previous process."""
    proofs = [p.vouched_until for p in ledger.streams.values()]
    last = max((at for at in proofs if at is not None), default=now)
    if last - now > CLOCKS_APART:
        seconds = (now - last).total_seconds()
        jumped = ClockJumped(observed_at=now, seconds=seconds)
        clock_jumped(ledger, relisting, jumped)


def _stopped(ledger: Ledger) -> None:
    for key, point in ledger.streams.items():
        if point.state in WORKING:
            ledger.moved(key).state = StreamState.STOPPED


def _first(group: BaseExceptionGroup[RecorderError]) -> RecorderError:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, RecorderError), "the group holds no other"
    return error
