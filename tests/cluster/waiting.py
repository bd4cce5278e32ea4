"""Waiting for something to become true, never for luck.

Everything the harness waits for has a name and a deadline, so that a test
that hangs says what it waited for.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable

__all__ = ["EVERY_SECONDS", "until"]

EVERY_SECONDS = 0.05


async def until(
    condition: Callable[[], bool] | Callable[[], Awaitable[bool]],
    what: str,
    *,
    seconds: float = 30,
    every: float = EVERY_SECONDS,
) -> None:
    """Return when the condition holds.

    Raises:
        TimeoutError: It did not in time; the message names what.
    """
    try:
        async with asyncio.timeout(seconds):
            while True:
                answer = condition()
                if inspect.isawaitable(answer):
                    answer = await answer
                if answer:
                    return
                await asyncio.sleep(every)
    except TimeoutError:
        message = f"waited {seconds:g} s in vain until {what}"
        raise TimeoutError(message) from None
