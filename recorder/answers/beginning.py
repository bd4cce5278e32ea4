"""What a question without a beginning asks for.

It asks for what is kept outside of it. What it found there may have begun in
days that were dropped: of these only evidence stays, and neither what was hit
nor what it cost.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from recorder.answers.ports import Reading
from recorder.explain.verdict import Judged
from recorder.model.moment import shifted
from recorder.model.window import Window

__all__ = ["last_day", "reach_begun"]

DAY = timedelta(days=1)


def last_day(reading: Reading, until: datetime | None) -> datetime | None:
    """Return where the last day of a record begins; None if it is younger.

    What was never recorded is not asked for, so that a young log answers
    alike wherever it is asked without a beginning.
    """
    end = until or reading.log.observed_at
    since = None if end is None else shifted(end, -DAY)
    began = [s.began_at for s in reading.streams if s.began_at is not None]
    if since is None or all(at > since for at in began):
        return None
    return since


async def reach_begun(
    reading: Reading, window: Window, verdicts: Iterable[Judged]
) -> bool:
    """Open the days in which began what was found, if they were dropped.

    Return whether there are any: then the question is to be asked again.
    """
    kept = reading.log.kept_since
    if window.since is not None or kept is None:
        return False
    begun = min((verdict.began_at for verdict in verdicts), default=kept)
    if begun >= kept:
        return False
    await reading.reach(begun, window.until)
    return True
