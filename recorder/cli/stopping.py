"""Stopping: SIGTERM and Ctrl-C ask first, and are heard once."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

Result = TypeVar("Result")


def run_until_stopped(
    main: Callable[[asyncio.Event], Awaitable[Result]],
    *,
    fast_loop: bool = False,
) -> Result:
    """Run until done, and return the result.

    The event is set when a stop is wanted.

    ``fast_loop`` is for servers with many clients; it takes a moment longer
    to start.
    """

    async def with_signals() -> Result:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        return await main(stop)

    if not fast_loop:
        return asyncio.run(with_signals())
    from uvloop import new_event_loop

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(with_signals())


def stop_at_end_of_input(stop: asyncio.Event) -> None:
    """Stop when the process that started this one ends, which closes it."""
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), stop.set)
