"""One thing that was looked at, for so long and no longer, and its lines."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from recorder.answers.text.lines import plain
from recorder.errors import RecorderError

__all__ = [
    "Check",
    "TooLateError",
    "check_lines",
    "checks_document",
    "untried",
    "within",
]

Found = TypeVar("Found")


class TooLateError(RecorderError):
    """Something did not answer in its time."""

    code = "too_late"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    """What it is about. A name comes more than once where more than one
    thing of its kind is wrong."""

    ok: bool
    says: str
    remedy: str | None = None
    """What to do, where something is wrong."""

    tried: bool = True
    """False where an earlier failure left nothing to look at."""


def untried(name: str, because: str) -> Check:
    """Return what stands for a check that could not be made.

    Args:
        name: of the check.
        because: the name of the check that failed before it.
    """
    return Check(
        name=name,
        ok=False,
        says=f'skipped because "{because}" failed',
        remedy=f'fix "{because}" first',
        tried=False,
    )


def checks_document(checks: Sequence[Check]) -> dict[str, Any]:
    """Return checks as the public interface shows them.

    A remedy is given where something is wrong, and null otherwise.
    """
    return {
        "checks": [
            {
                "name": check.name,
                "ok": check.ok,
                "says": check.says,
                "remedy": None if check.ok else check.remedy,
            }
            for check in checks
        ]
    }


def check_lines(check: Check) -> list[str]:
    """Return a check as text."""
    if not check.tried:
        return [plain(f"-     {check.name}: {check.says}")]
    lines = [f"{'ok  ' if check.ok else 'FAIL'}  {check.name}: {check.says}"]
    if not check.ok and check.remedy:
        lines.append(f"      {check.remedy}")
    return [plain(line) for line in lines]


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
