"""Times as people write them, and windows between two of them.

A time without a zone would be read differently by two people looking at the
same incident: it is refused, or taken as UTC with a note to its author. The
same holds for a clock time without a day, a day and a word.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recorder.model.errors import ConfigError
from recorder.model.moment import written

RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|z|[+-]\d\d:\d\d)?"
)
CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")
DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d))?")
DAYS_BACK = {"today": 0, "yesterday": 1}
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
SHORT_FORMS = f"{FORMS}; UTC is assumed for 03:10, 2026-11-21 and yesterday"


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

    Where a note can be given, also short forms, in UTC: ``03:10`` is the
    latest past one, ``2026-11-25`` and ``yesterday`` are their midnight.

    Args:
        text: as it was written.
        now: what an age is counted from.
        name: of the option, for the message.
        assumed: receives a note that says how a time without a zone was
            understood; without it such a time is refused.

    Raises:
        TimeError: it has another form, has no zone, or does not exist.
    """
    text = text.strip()
    if AGE.fullmatch(text.removeprefix("-")):
        return _ago(text, now, name)
    if assumed is not None and (short := _short(text, now, name)):
        assumed(f'{name} "{text}" is taken as {written(short)} (UTC)')
        return short
    found = RFC3339.fullmatch(text)
    if found is None:
        forms = FORMS if assumed is None else SHORT_FORMS
        msg = f'cannot use {name} "{text}": it is not a time; {forms}'
        raise TimeError(msg)
    day, clock, fraction, zone = found.groups()
    is_utc = zone is None and assumed is not None
    if is_utc:
        zone = "Z"
    if zone is None:
        msg = (
            f'cannot use {name} "{text}": it has no time zone; append Z for'
            " UTC, or an offset such as +02:00"
        )
        raise TimeError(msg)
    try:
        at = datetime.fromisoformat(
            f"{day}T{clock}{(fraction or '')[:7]}{zone.upper()}"
        ).astimezone(UTC)
    except (ValueError, OverflowError) as exc:
        msg = f'cannot use {name} "{text}": no such time: {exc}'
        raise TimeError(msg) from exc
    if is_utc and assumed is not None:
        assumed(f'{name} "{text}" is taken as {written(at)} (UTC)')
    return at


def _short(text: str, now: datetime, name: str) -> datetime | None:
    """Return the time of a short form; None if the text has another form."""
    midnight = now.astimezone(UTC).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    if (back := DAYS_BACK.get(text.lower())) is not None:
        return midnight - timedelta(days=back)
    if clock := CLOCK.fullmatch(text):
        hour, minute, second = (int(part or 0) for part in clock.groups())
        at = midnight.replace(hour=hour, minute=minute, second=second)
        return at if at <= now else at - timedelta(days=1)
    if found := DAY.fullmatch(text):
        day, minute_of_day = found.groups()
        try:
            return datetime.fromisoformat(f"{day}T{minute_of_day or '00:00'}Z")
        except ValueError as exc:
            msg = f'cannot use {name} "{text}": no such time: {exc}'
            raise TimeError(msg) from exc
    return None


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
