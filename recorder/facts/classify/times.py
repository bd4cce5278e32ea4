"""Times as clusters claim them, which may be anything.

A claim is accepted if it is a moment between 1970 and 9999 with a zone.
Everything else, including the year 1 of an unset field, counts as no claim.
"""

from datetime import UTC, datetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(text: object) -> datetime | None:
    """Parse an RFC 3339 time into UTC; None if it is not one.

    Finer fractions are cut to microseconds.
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
    """Return the earliest claim that is accepted."""
    for text in texts:
        if text and (time := moment(text)) is not None:
            return time
    return None
