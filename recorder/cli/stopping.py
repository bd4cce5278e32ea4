"""Stopping: SIGTERM and Ctrl-C ask first, and are heard once."""

import asyncio
import signal
from collections.abc import Awaitable, Callable

__all__ = ["run_until_stopped"]


def run_until_stopped(
    main: Callable[[asyncio.Event], Awaitable[object]],
) -> None:
    """Run until done; the event tells when a stop is wanted."""

    async def with_signals() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        await main(stop)

    asyncio.run(with_signals())
