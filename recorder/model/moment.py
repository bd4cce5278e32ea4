"""Times as the contract writes them: RFC 3339, UTC, microseconds."""

from datetime import UTC, datetime, timedelta

FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)


def written(at: datetime) -> str:
    """Write a time, for example ``2026-11-21T03:18:00.000000Z``."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def optional_time(at: datetime | None) -> str | None:
    """Write a time that may not be known."""
    return None if at is None else written(at)


def shifted(at: datetime, by: timedelta) -> datetime:
    """Return a later time, or an earlier one; at most the last there is."""
    try:
        return at + by
    except OverflowError:
        return FIRST if by < timedelta(0) else LAST
