"""Answers of `recorder doctor`: what is missing, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Check", "check_lines", "checks_document"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    says: str
    remedy: str | None = None
    """What to do, where something is wrong."""


def checks_document(checks: Sequence[Check]) -> dict[str, Any]:
    """Give checks as the public interface shows them."""
    return {
        "checks": [
            {
                "name": check.name,
                "ok": check.ok,
                "says": check.says,
                "remedy": check.remedy,
            }
            for check in checks
        ]
    }


def check_lines(check: Check) -> list[str]:
    """Give a check as text."""
    lines = [f"{'ok  ' if check.ok else 'FAIL'}  {check.name}: {check.says}"]
    if not check.ok and check.remedy:
        lines.append(f"      {check.remedy}")
    return lines
