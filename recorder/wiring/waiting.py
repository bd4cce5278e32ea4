"""Waiting for a database as long as it takes.

A process that ended instead would be started again and again, and its probes
could not say why.
"""

import asyncio
from collections.abc import Callable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    suppress,
)
from datetime import timedelta
from typing import TypeVar

from recorder.model.errors import LogError, RecorderError, Transient
from recorder.model.settings import Settings
from recorder.store.translate import LogAccessError, SchemaError

CONNECT_RETRY = timedelta(seconds=5)

Opened = TypeVar("Opened")


async def opened(
    opening: Callable[[], AbstractAsyncContextManager[Opened]],
    stack: AsyncExitStack,
    stop: asyncio.Event,
    *,
    settings: Settings,
    waits: Callable[[RecorderError], None],
    say: Callable[[str], None],
) -> Opened | None:
    """Open what needs the database; return None if a stop came first.

    Args:
        opening: makes what is entered, once for each attempt.
        stack: leaves it.
        stop: set when a stop is wanted.
        settings: which database; with the embedded one only errors that
            pass by themselves are waited for.
        waits: called with the reason of each failed attempt.
        say: gets a line when that changes.

    Raises:
        RecorderError: waiting would not help.
    """
    said = ""
    while not stop.is_set():
        try:
            return await stack.enter_async_context(opening())
        except (LogError, LogAccessError, SchemaError) as exc:
            if settings.database_url is None and not isinstance(
                exc, Transient
            ):
                raise
            if said != str(exc):
                said = str(exc)
                say(f"{exc}; trying again")
            waits(exc)
            await pause(stop, CONNECT_RETRY)
    return None


async def pause(stop: asyncio.Event, length: timedelta) -> None:
    """Wait for a time, or until a stop is wanted."""
    with suppress(TimeoutError):
        async with asyncio.timeout(length.total_seconds()):
            await stop.wait()
