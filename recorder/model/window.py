"""Times as people write them, and windows between two of them.

A time without a zone would be read differently by two people looking at the
same incident: it is refused, or taken as UTC with a note to
its author.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recorder.model.errors import ConfigError
from recorder.model.moment import written

__all__ = ["TimeError", "Window", "parse_time"]

RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|z|[+-]\d\d:\d\d)?"
)
AGE = re.compile(r"(?:(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d|w))+")
AGE_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}

FORMS = "write 2026-11-21T03:18:00Z, or an age such as 90s, 2h or 3d"


class TimeError(ConfigError):
    """A time or a window that cannot be."""

    code = "question.time"


def parse_time(
    text: str,
    *,
    now: datetime,
    name: str,
    assumed: Callable[[str], None] | None = None,
) -> datetime:
    """Read a time: RFC 3339 with a zone, or an age counted back from now.

    Args:
        text: as it was written.
        now: what an age is counted from.
        name: of the option, for the message.
        assumed: receives a note that a time without a zone was taken as UTC;
            without it such a time is refused.

    Raises:
        TimeError: it has another form, has no zone, or does not exist.
    """
    text = text.strip()
    if AGE.fullmatch(text.removeprefix("-")):
        return _ago(text, now, name)
    found = RFC3339.fullmatch(text)
    if found is None:
        msg = f'cannot use {name} "{text}": it is not a time; {FORMS}'
        raise TimeError(msg)
    day, clock, fraction, zone = found.groups()
    if zone is None and assumed is not None:
        assumed(f'{name} "{text}" has no time zone: taken as UTC')
        zone = "Z"
    if zone is None:
        msg = (
            f'cannot use {name} "{text}": it has no time zone; append Z for'
            " UTC, or an offset such as +02:00"
        )
        raise TimeError(msg)
    try:
        return datetime.fromisoformat(
            f"{day}T{clock}{(fraction or '')[:7]}{zone.upper()}"
        ).astimezone(UTC)
    except (ValueError, OverflowError) as exc:
        msg = f'cannot use {name} "{text}": no such time: {exc}'
        raise TimeError(msg) from exc


def _ago(text: str, now: datetime, name: str) -> datetime:
    try:
        age = sum(
            (float(n) * UNITS[unit] for n, unit in AGE_PART.findall(text)),
            timedelta(),
        )
        return now - age
    except OverflowError as exc:
        msg = f'cannot use {name} "{text}": it is too far in the past'
        raise TimeError(msg) from exc


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open time span; null means unbounded."""

    since: datetime | None = None
    """Inclusive."""

    until: datetime | None = None
    """Exclusive."""

    @classmethod
    def between(
        cls,
        since: datetime | None,
        until: datetime | None,
        *,
        now: datetime | None = None,
    ) -> "Window":
        """Make a window of two ends.

        Args:
            since: where it begins, if it does.
            until: where it ends, if it does.
            now: behind which none may begin that has no end.

        Raises:
            TimeError: nothing lies between them.
        """
        if since is not None and until is not None and since >= until:
            msg = (
                f"invalid window: it begins at {written(since)}, which is"
                f" not before its end, {written(until)}"
            )
            raise TimeError(msg)
        if (
            since is not None
            and until is None
            and now is not None
            and since > now
        ):
            msg = (
                f"invalid window: it begins at {written(since)}, in the"
                f" future; it is {written(now)}"
            )
            raise TimeError(msg)
        return cls(since, until)
