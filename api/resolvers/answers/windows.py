"""Windows of questions, and how wide they may be."""

from datetime import datetime, timedelta

from api.errors import WindowTooWideError
from recorder.answers.beginning import last_day
from recorder.answers.ports import Reading
from recorder.model.window import Window

__all__ = ["bounded", "window"]

WINDOW_MAX = timedelta(days=400)
"""A year and a month: what somebody compares, and no slip of a keyboard."""


def bounded(
    reading: Reading, since: datetime | None, until: datetime | None
) -> Window:
    """Make a window; without a beginning it is the last day of the record."""
    return window(since or last_day(reading, until), until)


def window(since: datetime | None, until: datetime | None) -> Window:
    """Make a window of two ends.

    Raises:
        TimeError: nothing lies between them.
        WindowTooWideError: too much does.
    """
    span = Window.between(since, until)
    if since is not None and until is not None and until - since > WINDOW_MAX:
        msg = (
            f"the window is {(until - since).days} days wide: ask for"
            f" {WINDOW_MAX.days} at most"
        )
        raise WindowTooWideError(msg)
    return span
