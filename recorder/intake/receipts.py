"""Receipts: when what was put is in the log.

A receipt is two numbers: the batch that holds what was put, and the newest
batch that is committed, which all receipts share. Nobody is woken but whoever
waits, so a source that does not ask pays for an object and no more. Nothing
is kept here: receipts live in the queue, and with whoever holds them.
"""

import asyncio
from collections.abc import Callable

import msgspec

from recorder.errors import LogError

__all__ = ["NotCommittedError", "Receipt", "Receipts"]


class NotCommittedError(LogError):
    """The recording ended before it could say that this is in the log.

    A commit whose answer was lost may hold it all the same: what is told
    again must be known again.
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
        """Called when somebody waits for what is not sealed, so that a commit
        comes soon even where nothing else asks for one."""

        self.waiting = 0
        """How many wait."""

        self._over = False
        self._commits = asyncio.Event()

    def seal(self) -> int:
        """Begin the next batch; return the number of the one before."""
        number, self.filling = self.filling, self.filling + 1
        return number

    def commit(self, number: int) -> None:
        """Take note that this batch, and each before it, is committed."""
        self.newest = number
        self._wake()

    def end(self) -> None:
        """Take note that nothing more is committed."""
        self._over = True
        self._wake()

    def _wake(self) -> None:
        # Everybody who waits at this moment, and nobody who comes later.
        self._commits.set()
        self._commits.clear()

    async def wait(self, receipt: "Receipt") -> None:
        """Wait until what a receipt stands for is committed.

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
    """Of what was put in one call."""

    receipts: Receipts
    batch: int | None = None
    """The number of the batch with the last of it; None until taken."""

    positions: range = range(0)
    """Of the entries that were made of it, once it is taken."""

    def take(self, positions: range) -> None:
        """Take note that it is in the batch that is being filled."""
        self.batch = self.receipts.filling
        self.positions = positions

    async def committed(self) -> range:
        """Wait for the commit; return the positions of the entries.

        Without any where nothing was new: what it repeats, or is counted
        with, is committed too then.

        Raises:
            NotCommittedError: the recording ended before.
        """
        await self.receipts.wait(self)
        return self.positions
