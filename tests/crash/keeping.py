"""Keeping a recorder alive while it is killed, and looking at what it left.

Each life is a child with at most one place to die at. After each death the
log is verified as it was left, and the next life begins.
"""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import asyncpg

from tests.crash.checking import find_log, verified
from tests.crash.child import Job
from tests.crash.failpoints import Kill
from tests.crash.nursery import Nursery

__all__ = ["Keeper"]


@dataclass(slots=True, kw_only=True)
class Keeper:
    """Keeps one recorder."""

    nursery: Nursery
    reader: asyncpg.Connection
    """With which to look at what a life left."""

    job: Job
    kills: Sequence[Kill]
    """At most one for each life; the lives after them are not killed."""

    died: list[Kill] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    _child: int | None = None
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def keep(self) -> None:
        """Start it again until a life ends by itself."""
        for kill in [*self.kills, None]:
            job = replace(self.job, kill=kill)
            self._child = await self.nursery.start(job)
            status, said = await self._ended(self._child)
            self._child = None
            self.wrong += [
                f"{problem}, after {kill}"
                for problem in await self._verified()
            ]
            if status == -signal.SIGKILL and kill is not None:
                self.died.append(kill)
                continue
            if status != 0:
                self.wrong.append(f"a life ended with {status}: {said}")
            return

    async def ask(self, question: str, *arguments: Any) -> Sequence[Any]:
        """Look at the log while a life goes on."""
        async with self._looking:
            rows: Sequence[Any] = await self.reader.fetch(question, *arguments)
            return rows

    async def _ended(self, child: int) -> tuple[int, str]:
        try:
            return await self.nursery.ended()
        except asyncio.CancelledError:
            # The nursery must be free for the next recording.
            _send(child, signal.SIGKILL)
            await self.nursery.ended()
            raise

    def stop(self) -> None:
        """Ask the child that lives now to end."""
        if self._child is not None:
            _send(self._child, signal.SIGTERM)

    async def _verified(self) -> list[str]:
        async with self._looking:
            log = await find_log(self.reader, self.job.cluster_uid)
            return await verified(self.reader, log)


def _send(child: int, number: signal.Signals) -> None:
    # Its nursery may have seen its end before it was reported.
    with suppress(ProcessLookupError):
        os.kill(child, number)
