"""Receipts: when put observations are in the log.

A receipt is two numbers: the batch that holds the observations, and the newest
committed batch, which all receipts share. Only waiting tasks are woken, so a
source that does not wait pays for one object and no more. Nothing is stored
here: receipts are in the queue, and with their holders.
"""

import asyncio
from collections.abc import Callable

import msgspec

from recorder.model.errors import LogError


class NotCommittedError(LogError):
    """The recording ended before it could confirm the commit.

    A commit whose response was lost may hold it all the same: repeated
    observations must be recognized.
    """

    code = "log.not_committed"


class Receipts:
    """How much of what was put is committed; one for each recording."""

    def __init__(self) -> None:
        self.filling = 1
        """The number of the batch that is being filled."""

        self.newest = 0
        """The number of the newest batch that is committed."""

        self.on_wait: Callable[[], None] = lambda: None
        """Called when a task waits for an unsealed batch, so that a commit
        comes soon even if nothing else requests one."""

        self.waiting = 0
        """How many tasks wait."""

        self._over = False
        self._commits = asyncio.Event()

    def seal(self) -> int:
        """Begin the next batch; return the number of the previous one."""
        number, self.filling = self.filling, self.filling + 1
        return number

    def commit(self, number: int) -> None:
        """Note that this batch, and each before it, is committed."""
        self.newest = number
        self._wake()

    def end(self) -> None:
        """Note that nothing more is committed."""
        self._over = True
        self._wake()

    def _wake(self) -> None:
        # Every task that waits at this moment, and none that comes later.
        self._commits.set()
        self._commits.clear()

    async def wait(self, receipt: "Receipt") -> None:
        """Wait until the observations of a receipt are committed.

        Raises:
            NotCommittedError: the recording ended before.
        """
        self.waiting += 1
        try:
            while receipt.batch is None or receipt.batch > self.newest:
                if self._over:
                    msg = "the recording ended before this was in the log"
                    raise NotCommittedError(msg)
                if receipt.batch == self.filling:
                    self.on_wait()
                await self._commits.wait()
        finally:
            self.waiting -= 1


class Receipt(msgspec.Struct, eq=False):
    """The receipt of one call."""

    receipts: Receipts
    batch: int | None = None
    """The number of the batch with the last of its observations; None until
    taken."""

    positions: range = range(0)
    """Of their entries, once they are taken."""

    def take(self, positions: range) -> None:
        """Note that they are in the batch that is being filled."""
        self.batch = self.receipts.filling
        self.positions = positions

    async def committed(self) -> range:
        """Wait for the commit; return the positions of the entries.

        An empty range if nothing was new: entries that it repeats, or
        heartbeats, are committed too then.

        Raises:
            NotCommittedError: the recording ended before.
        """
        await self.receipts.wait(self)
        return self.positions
