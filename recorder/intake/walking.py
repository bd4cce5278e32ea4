"""What reading a cluster's past shows of a gap.

What a walk found comes before its result, in the order of versions. If nothing
is missing up to its end, the gap ends there, and the stream continues after
it; else a list follows, and the walk shows what only that list would leave
open.
"""

from datetime import datetime

from recorder.intake.gaps import Outcome
from recorder.intake.ledger import Ledger
from recorder.intake.state import OpenGap, StreamKey, StreamState
from recorder.intake.streams import compare_versions, complete
from recorder.model.observation import HistoryWalked

WATCH_EXPIRED = "watch expired (410)"
"""Why a walk is made."""


class Walking:
    """Takes the results of walks."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._walked: dict[StreamKey, HistoryWalked] = {}

    def take(self, walked: HistoryWalked) -> None:
        """Take the result of a walk, as the end of a gap or for a list."""
        key = (walked.source, str(walked.resource))
        ledger, point = self._ledger, self._ledger.moved(key)
        if not walked.resumes:
            self._walked[key] = walked
            return
        if point.began_at is None or not _is_covered(point.gap, walked):
            return
        proved = {"since": walked.since, "proved": walked.proved}
        ledger.close_gap(
            key,
            walked.observed_at,
            version=walked.until,
            outcome=Outcome(walked.proved, [], {**proved, "resumes": True}),
        )
        complete(point, walked.until)

    def recovering(self, key: StreamKey, at: datetime) -> None:
        """Open a gap, unless one is open, while a stream is not live.

        What is read of the past may have holes until all of it is.
        """
        point = self._ledger.moved(key)
        if point.state is not StreamState.LIVE and point.began_at is not None:
            self._ledger.open_gap(key, WATCH_EXPIRED, at)

    def to(self, key: StreamKey, version: str) -> HistoryWalked | None:
        """Return the walk that covers the open gap up to a list, if any."""
        walked = self._walked.pop(key, None)
        gap = self._ledger.moved(key).gap
        if walked is None or walked.until != version or gap is None:
            return None
        return walked if _is_covered(gap, walked) else None


def _is_covered(gap: OpenGap | None, walked: HistoryWalked) -> bool:
    """Return whether a walk began at or before the start of a gap."""
    return gap is None or (
        gap.resource_version is not None
        and compare_versions(walked.since, gap.resource_version) <= 0
    )
