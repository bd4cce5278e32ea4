"""Questions without a beginning: which days of the archive they need.

Such a question reads the days in the database. An incident found there may
have begun on a day that was dropped. The database has only evidence from that
day, without the affected workloads and their losses.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from recorder.answers.ports import Reading
from recorder.explain.verdict import Verdict
from recorder.model.moment import shifted
from recorder.model.window import Window

DAY = timedelta(days=1)


def last_day(reading: Reading, until: datetime | None) -> datetime | None:
    """Return when the last 24 hours of a record begin; None if it is younger.

    So a young log gives the same answer to every question without a
    beginning.
    """
    end = until or reading.log.observed_at
    since = None if end is None else shifted(end, -DAY)
    began = [s.began_at for s in reading.streams if s.began_at is not None]
    if since is None or all(at > since for at in began):
        return None
    return since


async def reach_begun(
    reading: Reading, window: Window, verdicts: Iterable[Verdict]
) -> bool:
    """Open the dropped days in which verdicts began.

    Return whether there are any: then ask the question again.
    """
    kept = reading.log.kept_since
    if window.since is not None or kept is None:
        return False
    begun = min((verdict.began_at for verdict in verdicts), default=kept)
    if begun >= kept:
        return False
    await reading.reach(begun, window.until)
    return True
