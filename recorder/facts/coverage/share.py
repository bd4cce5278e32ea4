"""The share of a window that is vouched for."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from recorder.facts.coverage.coverage import Coverage


def vouched_share(
    coverage: Coverage, begun: Iterable[datetime | None]
) -> float | None:
    """Return the share of a window for which nothing may be missing.

    Args:
        coverage: of the window.
        begun: when its streams began to be recorded; for a window without a
            beginning the first counts.

    Returns:
        From 0 to 1; None if the window has no length, or more gaps than are
            listed.
    """
    known = [at for at in begun if at is not None]
    since = coverage.window.since or min(known, default=None)
    until = coverage.window.until
    if since is None or until is None or since >= until or coverage.more_gaps:
        return None
    lost, behind = timedelta(), since
    holes = [
        (max(hole.since or since, since), min(hole.until or until, until))
        for hole in coverage.gaps
    ]
    for begin, end in sorted(holes):
        begin = max(begin, behind)  # noqa: PLW2901 - what is not counted yet
        if end > begin:
            lost += end - begin
            behind = end
    return round(1 - lost / (until - since), 6)
