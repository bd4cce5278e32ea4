"""Following every log of a database at once, each in a task of its own."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from recorder.facts.coverage.ports import Log
from recorder.model.errors import RecorderError
from recorder.wiring.waiting import pause

CHECK_EVERY = timedelta(seconds=10)
"""How often new logs are searched for."""


async def follow_each(
    meant: Callable[[], Awaitable[Sequence[Log]]],
    follow: Callable[[Log], Awaitable[None]],
    stop: asyncio.Event,
    *,
    say: Callable[[str], None],
    log: logging.Logger,
    meanwhile: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Follow logs until a stop is wanted.

    A log that cannot be followed is tried again with the others.

    Args:
        meant: returns the logs to follow.
        follow: follows one until it is cancelled.
        stop: is set when a stop is wanted.
        say: prints a line for people.
        log: where failures are written.
        meanwhile: what else to do each time that logs are searched for.
    """
    followed: set[int] = set()

    async def search(group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        new = [one for one in await meant() if one.id not in followed]
        followed.update(one.id for one in new)
        for one in new:
            say(f"following {one.cluster_name}")
        return [
            group.create_task(_attended(one, follow, followed, log))
            for one in new
        ]

    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[None]] = []
        while not stop.is_set():
            try:
                tasks += await search(group)
                if meanwhile is not None:
                    await meanwhile()
            except RecorderError as exc:
                log.warning("cannot search for logs: %s", exc)
            await pause(stop, CHECK_EVERY)
        for task in tasks:
            task.cancel()


async def _attended(
    one: Log,
    follow: Callable[[Log], Awaitable[None]],
    followed: set[int],
    log: logging.Logger,
) -> None:
    try:
        await follow(one)
    except RecorderError as exc:
        log.warning("cannot follow log %s: %s", one.id, exc)
    finally:
        followed.discard(one.id)
