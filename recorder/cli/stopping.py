"""Stopping: SIGTERM and Ctrl-C ask first, and are heard once."""

import asyncio
import signal
from collections.abc import Awaitable, Callable

__all__ = ["run_until_stopped"]


def run_until_stopped(
    main: Callable[[asyncio.Event], Awaitable[object]],
    *,
    fast_loop: bool = False,
) -> None:
    """Run until done; the event tells when a stop is wanted.

    ``fast_loop`` is for who answers or hears many others; it takes a moment
    longer to begin.
    """

    async def with_signals() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        await main(stop)

    if not fast_loop:
        asyncio.run(with_signals())
        return
    from uvloop import new_event_loop

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(with_signals())
