"""Times as clusters claim them, which may be anything.

A claim is taken if it is a moment between 1970 and 9999 with a zone. All
else, the year 1 of a forgotten field included, counts as no claim.
"""

from datetime import UTC, datetime

__all__ = ["first_moment", "moment"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(text: object) -> datetime | None:
    """Read an RFC 3339 time into UTC; None if it is none.

    Of finer fractions the microseconds are kept.
    """
    if not isinstance(text, str):
        return None
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            return None
        if time.tzinfo is not UTC:
            time = time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time if time >= EPOCH else None


def first_moment(*texts: object) -> datetime | None:
    """Return the first claim that can be taken."""
    for text in texts:
        if text and (time := moment(text)) is not None:
            return time
    return None
