"""Looking at one thing for so long and no longer."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import TypeVar

from recorder.errors import RecorderError

__all__ = ["TooLateError", "within"]

Found = TypeVar("Found")


class TooLateError(RecorderError):
    """Something did not answer in its time."""

    code = "too_late"


async def within(limit: timedelta, what: str, look: Awaitable[Found]) -> Found:
    """Wait for an answer.

    Args:
        limit: for how long.
        what: is done, for the message: ``reach the database``.
        look: gives the answer.

    Raises:
        TooLateError: it did not come in time.
        RecorderError: whatever the look itself raises.
    """
    try:
        async with asyncio.timeout(limit.total_seconds()):
            return await look
    except TimeoutError as exc:
        seconds = limit.total_seconds()
        msg = f"cannot {what}: not done within {seconds:g} s"
        raise TooLateError(msg) from exc
