"""Windows of questions, and how wide they may be."""

from datetime import datetime, timedelta

from api.errors import WindowTooWideError
from recorder.model.moment import written
from recorder.report.window import TimeError, Window

__all__ = ["window"]

WINDOW_MAX = timedelta(days=400)
"""A year and a month: what somebody compares, and no slip of a keyboard."""


def window(since: datetime | None, until: datetime | None) -> Window:
    """Make a window of two ends.

    Raises:
        TimeError: nothing lies between them.
        WindowTooWideError: too much does.
    """
    if since is not None and until is not None:
        if since >= until:
            msg = (
                f"impossible window: since {written(since)} is not before"
                f" until {written(until)}"
            )
            raise TimeError(msg)
        if until - since > WINDOW_MAX:
            msg = (
                f"the window is {(until - since).days} days wide: ask for"
                f" {WINDOW_MAX.days} at most"
            )
            raise WindowTooWideError(msg)
    return Window(since, until)
