"""Committing: batches to the log, one at a time, for as long as it takes.

If the log is unavailable, read-only or full, the committer keeps the batch and
retries; the queue fills, the sources wait, and nothing is lost while the
cluster still holds its history.
"""

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recorder.intake.deriving import Deriver
from recorder.intake.ports import Log
from recorder.intake.progress import Progress
from recorder.intake.receipts import Receipts
from recorder.intake.relisting import EVENT_TTL
from recorder.intake.sequencer import Sequencer
from recorder.intake.state import Batch
from recorder.model.errors import LogUnavailableError


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Bounds and choices of a recording, each with its reason."""

    batch_entries: int = 2000
    """Entries with which a batch is due."""

    batch_bytes: int = 8 << 20
    """The same in bytes, which bounds a list of large objects."""

    batches_ahead: int = 2
    """Batches that may be taken while one is being committed, and are then
    committed as one: with a single one the sequencer would wait for
    PostgreSQL, with more they would only hold memory."""

    linger: timedelta = timedelta(milliseconds=100)
    """How long a first entry waits for others: at 500 changes a second this
    makes ten transactions instead of hundreds."""

    idle: timedelta = timedelta(seconds=2)
    """How often proofs and the lease are written in quiet times; a third of
    the lease."""

    stop: timedelta = timedelta(seconds=8)
    """How long a stop may take to commit the pending batch."""

    retry_min: timedelta = timedelta(milliseconds=200)
    """The first wait for an unavailable log: most outages are short."""

    retry_max: timedelta = timedelta(seconds=5)
    """The longest wait, so that recording resumes soon."""

    event_ttl: timedelta = EVENT_TTL
    """How long the API server keeps Events; it does not report it."""

    served: bool = False
    """Whether documents come directly from an API server."""

    checked: bool = False
    """Whether the source has verified that objects are JSON, as a tape's
    reader does."""

    full_fidelity: bool = False
    """Whether heartbeats become entries too."""


class Committer:
    """Commits what the sequencer has taken."""

    def __init__(
        self,
        log: Log,
        sequencer: Sequencer,
        *,
        policy: Policy,
        progress: Progress,
        receipts: Receipts,
        has_room: Callable[[], str | None],
    ) -> None:
        self._log = log
        self._sequencer = sequencer
        self._ledger = sequencer.ledger
        self._policy = policy
        self._progress = progress
        self._has_room = has_room
        self._deriver = Deriver(log)
        # One batch is in flight at a time: positions are assigned in order.
        self._turn = asyncio.Lock()
        self._work = asyncio.Event()
        self._receipts = receipts
        self._work_at = 0.0
        """When the oldest work came that is not in a batch, by the loop."""

        receipts.on_wait = self._wake
        self._due = asyncio.Event()
        self._room = asyncio.Event()
        self._closing = False

    def is_due(self) -> bool:
        """Return whether the ledger holds a batch."""
        return self._holds(1)

    def is_full(self) -> bool:
        """Return whether the ledger must be committed before it takes more."""
        return self._holds(self._policy.batches_ahead)

    def _holds(self, batches: int) -> bool:
        policy, ledger = self._policy, self._ledger
        return (
            ledger.entries >= batches * policy.batch_entries
            or ledger.bytes >= batches * policy.batch_bytes
        )

    async def taken(self) -> None:
        """Note that the ledger grew; wait while it is full."""
        ledger = self._ledger
        if ledger.entries or ledger.turned or self._receipts.waiting:
            # A restart is over when its streams are live, so that is written
            # as soon as an entry would be.
            self._wake()
        if self.is_due():
            self._due.set()
        while self.is_full():
            self._room.clear()
            await self._room.wait()

    def close(self) -> None:
        """Note that the ledger is complete: `run` commits it and ends."""
        self._closing = True
        self._wake()
        self._due.set()

    async def run(self) -> None:
        """Commit until closed."""
        try:
            while not self._closing:
                await self._wait_for_work()
                await self.commit()
            await self.commit()
        finally:
            # Waiting tasks are woken at once: the source that the recording
            # waits for may be among them.
            self._receipts.end()

    async def commit(self) -> None:
        """Commit everything that was taken."""
        async with self._turn:
            self._work.clear()
            self._due.clear()
            batch = self._sequencer.seal()
            number = self._receipts.seal()
            self._room.set()
            await self._append(batch)
            self._receipts.commit(number)

    def _wake(self) -> None:
        if not self._work.is_set():
            self._work_at = asyncio.get_running_loop().time()
            self._work.set()

    async def _wait_for_work(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._policy.idle.total_seconds()):
                await self._work.wait()
        if self._work.is_set() and not self.is_due():
            # Not from the end of the commit before: what came during it has
            # waited as long.
            until = self._work_at + self._policy.linger.total_seconds()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._due.wait()

    async def _append(self, batch: Batch) -> None:
        delay = self._policy.retry_min.total_seconds()
        while True:
            began = time.monotonic()
            reason = self._has_room() if batch.drafts else None
            if reason is None:
                try:
                    await self._deriver.derive(batch)
                    await self._log.append(batch)
                except LogUnavailableError as exc:
                    self._progress.failed_commits += 1
                    reason = str(exc)
                else:
                    self._note(batch, time.monotonic() - began)
                    return
            self._progress.wait_for(reason)
            await asyncio.sleep(random.uniform(delay / 2, delay))  # noqa: S311 - jitter
            delay = min(delay * 2, self._policy.retry_max.total_seconds())

    def _note(self, batch: Batch, seconds: float) -> None:
        progress = self._progress
        progress.state, progress.waiting_for = "recording", None
        progress.note_commit(seconds)
        progress.entries += len(batch)
        progress.size = batch.first_position - 1 + len(batch)
        progress.streams.update(batch.streams)
        for key in batch.left:
            progress.streams.pop(key, None)
        progress.committed_at = datetime.now(UTC)
        progress.note_drafts(draft for _, draft in batch.drafts)
