"""A log derived anew, by a process for each core.

Each process tells after every window how far it is. What one of them
committed is committed, so whoever begins again goes on from there.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from recorder.admin.workers import Tell, in_processes
from recorder.store.long_work import connect_to
from recorder.store.rederivation import LAST_MAX, Builder, Part, Rederivation
from recorder.store.translate import translate_errors

__all__ = ["Rederived", "Rederiving", "rederive"]

MANY = 50_000
"""Entries that are worth another process, which takes a second to begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rederiving:
    """How the work is to be done."""

    again: bool = False
    """Even where every entry has its facts by our rules."""

    processes: int = 0
    """0 for one for each core."""

    many: int = MANY
    on_progress: Callable[[int, int], None] | None = None
    """Gets how many entries are done, and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rederived:
    """What became of it."""

    derivation: int | None
    """The derivation that answers are made from now; None if nothing was to
    be done, or it was stopped."""

    entries: int
    stopped: bool = False


async def rederive(
    dsn: str, log: int, how: Rederiving, stop: asyncio.Event
) -> Rederived:
    """Derive a log anew beside its facts, and answer from that at once.

    A recorder may write the log meanwhile. Whatever ends this, what it did
    is gone on with by who begins again; answers do not change before the
    last step.

    Raises:
        LogError: another process does it already, or PostgreSQL refused.
        LogUnavailableError: PostgreSQL is away; begin again.
    """
    with translate_errors("rebuild the facts"):
        connection = await connect_to(dsn)
        try:
            work = _Work(dsn, log, how, Rederivation(connection, log))
            return await work.run(stop)
        finally:
            connection.terminate()


class _Work:
    """One run, from wherever the last one was."""

    def __init__(
        self, dsn: str, log: int, how: Rederiving, building: Rederivation
    ) -> None:
        self._dsn = dsn
        self._log = log
        self._how = how
        self._building = building
        self._processes = how.processes or os.cpu_count() or 1

    async def run(self, stop: asyncio.Event) -> Rederived:
        building = self._building
        state = await building.state()
        if state.is_current and state.building is None and not self._how.again:
            return Rederived(derivation=None, entries=state.size)
        await building.begin()
        place, heads = await self._in_parts(stop)
        if stop.is_set():
            return Rederived(derivation=None, entries=place, stopped=True)
        return await self._to_the_end(place, heads, stop)

    async def _in_parts(
        self, stop: asyncio.Event
    ) -> tuple[int, dict[int, int] | None]:
        """Build until little is left; return how far, and the heads there."""
        building = self._building
        heads: dict[int, int] | None = None
        while not stop.is_set():
            parts = await building.parts()
            pruned = (await building.state()).pruned
            covered = max((part.until for part in parts), default=pruned)
            todo = [part for part in parts if part.left]
            if not todo:
                size = (await building.state()).size
                if size - covered <= self._how.many:
                    return covered, heads
                covered, heads = await building.present()
                await building.add_parts(covered, self._processes)
                parts = await building.parts()
                todo = [part for part in parts if part.left]
            else:
                heads = None
            await self._build(todo, stop, covered)
        return sum(p.built_to - p.after for p in await building.parts()), None

    async def _to_the_end(
        self,
        covered: int,
        heads: dict[int, int] | None,
        stop: asyncio.Event,
    ) -> Rederived:
        building = self._building
        if not await building.parts():
            await building.add_parts(covered, 1)
        *_, last = await building.parts()
        builder = await building.builder(last, heads)
        while not stop.is_set():
            size = (await building.state()).size
            self._tell(builder.built_to, size)
            if size - builder.built_to > LAST_MAX:
                await builder.step(size)
            elif await building.finish(builder):
                return Rederived(
                    derivation=building.number, entries=builder.built_to
                )
        return Rederived(
            derivation=None, entries=builder.built_to, stopped=True
        )

    async def _build(
        self, todo: Sequence[Part], stop: asyncio.Event, size: int
    ) -> None:
        """Let processes build parts, no more at once than there are cores."""
        done = size - sum(part.left for part in todo)
        at = [part.built_to for part in todo]
        began = sum(at)
        number = self._building.number
        jobs = [(self._dsn, self._log, number, part) for part in todo]
        work = in_processes(build_part, jobs, stop, most=self._processes)
        async with aclosing(work) as reports:
            async for job, built_to in reports:
                at[job] = max(at[job], built_to)
                self._tell(done + sum(at) - began, size)

    def _tell(self, done: int, size: int) -> None:
        if self._how.on_progress is not None:
            self._how.on_progress(done, size)


async def build_part(
    dsn: str, log: int, number: int, part: Part, *, tell: Tell
) -> None:
    """Build one part, in a process of its own; tell how far it is."""
    with translate_errors("rebuild a part of the facts"):
        connection = await connect_to(dsn)
    try:
        with translate_errors("rebuild a part of the facts"):
            builder = await Builder.opened(connection, log, (number, part))
        while builder.built_to < part.until:
            with translate_errors("rebuild a part of the facts"):
                await builder.step(part.until)
            tell(builder.built_to)
    finally:
        connection.terminate()
