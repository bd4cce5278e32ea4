"""PostgreSQL as a recorder sees it: unavailable, slow, full, or hung.

The rows are those of the log in memory, which passes the contract of the real
one. What is added is everything that lies between a writer and its rows: a
connection, a disk, a lease that runs out, and a commit that goes on when the
one who asked for it is dead.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from recorder.intake.state import Batch, Recovered
from recorder.model.errors import LogUnavailableError, UnknownStateError
from tests.support.memory_log import MemoryLog, MemoryWriter

__all__ = ["Commit", "Database", "Session"]

LEASE_SECONDS = 6.0


@dataclass(frozen=True)
class Commit:
    """A batch that took effect."""

    session: int
    sealed: float
    """When it was handed over for the first time."""

    at: float
    upto: int
    """The position of its last entry, or of the last before it."""


class Database:
    """The server, with its faults."""

    def __init__(
        self, *, steady: Callable[[], float], dice: random.Random
    ) -> None:
        self.steady = steady
        self.dice = dice
        self.log = MemoryLog()
        self.expires_at = 0.0
        self.commits: list[Commit] = []
        self.sessions = 0
        self.fenced = 0
        """Commits of writers that had lost their lease."""

        # Faults, to be set at any time.
        self.away: str | None = None
        """Why no client is answered."""
        self.seconds = 0.0
        """What a commit takes."""
        self.fates: list[str] = []
        """Of the commits to come: ``lost`` is not applied, ``unanswered``
        is applied, and neither is answered."""
        self.disk: str | None = None
        """Why the recorder should write nothing, as its guard says."""

    def session(self, holder: str) -> "Session":
        """Open one for a process."""
        self.sessions += 1
        return Session(self, holder, self.sessions)


class Session(MemoryWriter):
    """The port `Log`, for as long as one recording lasts."""

    def __init__(self, database: Database, holder: str, number: int) -> None:
        super().__init__(database.log, holder=holder)
        self.number = number
        self.is_cut_off = False
        """Whether this process alone cannot reach the server."""
        self.is_dead = False
        """Whether the process was killed: it sends nothing any more."""
        self.in_hand = 0
        """Commits that are under way."""
        self._database = database
        self._batch: Batch | None = None
        self._sealed = 0.0

    async def take_lease(self) -> Recovered:
        database = self._database
        self._reach()
        if database.expires_at < database.steady():
            database.log.holder = None
        recovered = await super().take_lease()
        database.expires_at = database.steady() + LEASE_SECONDS
        return recovered

    async def append(self, batch: Batch) -> None:
        database = self._database
        if batch is not self._batch:
            self._batch, self._sealed = batch, database.steady()
        self._reach()
        fate = database.fates.pop(0) if database.fates else ""
        goes_on = database.dice.random() < 1 / 2
        self.in_hand += 1
        try:
            await asyncio.sleep(database.seconds)
            self._reach()
        except asyncio.CancelledError:
            if goes_on:
                # The server had it before its client died, and may refuse it.
                with suppress(UnknownStateError):
                    await self._commit(batch)
            raise
        finally:
            self.in_hand -= 1
        if fate != "lost":
            await self._commit(batch)
        if fate:
            msg = "the server did not answer the commit"
            raise LogUnavailableError(msg)

    async def _commit(self, batch: Batch) -> None:
        database, before = self._database, len(self._database.log.entries)
        try:
            await super().append(batch)
        except UnknownStateError:
            database.fenced += 1
            raise
        now, after = database.steady(), len(database.log.entries)
        database.expires_at = now + LEASE_SECONDS
        if after > before or not batch.drafts:
            commit = Commit(self.number, self._sealed, now, after)
            database.commits.append(commit)

    async def close(self) -> None:
        if not (self.is_dead or self.is_cut_off or self._database.away):
            await super().close()

    def _reach(self) -> None:
        why = self._database.away
        if self.is_cut_off:
            why = "there is no way to it"
        if why is not None:
            msg = f"cannot reach the log: {why}"
            raise LogUnavailableError(msg)
