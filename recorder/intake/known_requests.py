"""Which audit records the log has already, whichever way they came.

A file and a webhook deliver the same records, and a webhook repeats a batch
without a response. The newest are remembered here, more than can be on their
way to the log; for others the log is queried, by the time of the request,
which the API server writes in microseconds, unless it is later than that of
any record that is not remembered. So a record is recognized after any restart
and however late it comes, as long as its day is in the database.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from recorder.facts.classify import (
    RecordDigests,
    record_digests,
    record_moment,
)
from recorder.model.observation import AuditRecorded, Observation

REMEMBERED_MAX = 1 << 15
"""Records, of some 250 bytes each. What is put and not committed is a quarter
of that."""


class KnownRequests:
    """The known records, and those that are being taken."""

    def __init__(self, newest: datetime | None = None) -> None:
        """Prepare; ``newest`` is the latest request time in the log."""
        self._known: dict[bytes, datetime | None] = {}
        """The times by the digests of both kinds, in the order in which they
        came."""

        self._newest = newest
        """The latest time of any record that is not remembered."""

        self.repeated = 0
        """Records that were not new."""

        self._read: dict[bytes, tuple[RecordDigests, datetime | None]] = {}
        """Of the records that are about to be taken."""

    def wanted(self, observations: Iterable[Observation]) -> list[datetime]:
        """Return the times for which the log must be queried.

        Those of the records that are about to be taken and not known here.
        """
        self._read.clear()
        moments = set()
        newest = self._newest
        for observation in observations:
            if not isinstance(observation, AuditRecorded):
                continue
            raw = observation.event
            digests, moment = record_digests(raw), record_moment(raw)
            self._read[raw] = digests, moment
            if (
                moment is not None
                and newest is not None
                and moment <= newest
                and not self._holds(digests)
            ):
                moments.add(moment)
        return sorted(moments)

    def know(self, documents: Sequence[bytes]) -> None:
        """Note what the log holds."""
        for document in documents:
            self._remember(record_digests(document), record_moment(document))

    def is_new(self, raw: bytes) -> bool:
        """Return whether a record is new, and remember it."""
        read = self._read.pop(raw, None)
        digests, moment = read or (record_digests(raw), record_moment(raw))
        if self._holds(digests):
            self.repeated += 1
            return False
        self._remember(digests, moment)
        return True

    def _holds(self, digests: RecordDigests) -> bool:
        return digests.whole in self._known or (
            digests.is_truncated and digests.bare in self._known
        )

    def _remember(
        self, digests: RecordDigests, moment: datetime | None
    ) -> None:
        self._known[digests.whole] = moment
        if digests.bare is not None:
            self._known[digests.bare] = moment
        while len(self._known) > 2 * REMEMBERED_MAX:
            forgotten = self._known.pop(next(iter(self._known)))
            if forgotten is not None:
                self._newest = max(self._newest or forgotten, forgotten)
