"""Windows of questions, and how wide they may be."""

from datetime import datetime, timedelta

from recorder.answers.beginning import last_day
from recorder.answers.ports import Reading
from recorder.model.errors import ConfigError
from recorder.model.window import Window

WINDOW_MAX = timedelta(days=400)
"""A year and a month: enough to compare years, and no typing error."""


def bounded(
    reading: Reading, since: datetime | None, until: datetime | None
) -> Window:
    """Return a window; by default it begins a day before the end."""
    return window(since or last_day(reading, until), until)


def window(since: datetime | None, until: datetime | None) -> Window:
    """Return the window between two times.

    Raises:
        TimeError: the end is not after the beginning.
        ConfigError: it is wider than `WINDOW_MAX`.
    """
    span = Window.between(since, until)
    if since is not None and until is not None and until - since > WINDOW_MAX:
        msg = (
            f"the window is {(until - since).days} days wide: ask for"
            f" {WINDOW_MAX.days} at most"
        )
        raise ConfigError(msg, code="question.window_too_wide")
    return span
