"""The result of one check, which has a time limit, and its lines."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from recorder.answers.text.lines import plain
from recorder.model.errors import RecorderError

Found = TypeVar("Found")


class TooLateError(RecorderError):
    """A check took longer than its limit."""

    code = "too_late"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check."""

    name: str
    """The subject of the check. A name occurs several times if several things
    of its kind are wrong."""

    ok: bool
    says: str
    remedy: str | None = None
    """What to do, if something is wrong."""

    tried: bool = True
    """False if an earlier failure left nothing to check."""


def untried(name: str, because: str) -> Check:
    """Return the result of a check that could not be made."""
    return Check(
        name=name,
        ok=False,
        says=f'skipped because "{because}" failed',
        remedy=f'fix "{because}" first',
        tried=False,
    )


def checks_document(checks: Sequence[Check]) -> dict[str, Any]:
    """Return checks as the public interface shows them.

    A remedy is present if something is wrong, and null otherwise.
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
    """Wait for a result.

    Raises:
        TooLateError: it took longer.
        RecorderError: any error of the check itself.
    """
    try:
        async with asyncio.timeout(limit.total_seconds()):
            return await look
    except TimeoutError as exc:
        seconds = limit.total_seconds()
        msg = f"cannot {what}: not done within {seconds:g} s"
        raise TooLateError(msg) from exc
