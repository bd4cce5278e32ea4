"""What a list of Events is compared with, and how far back the log is read.

The log is read for the Events of some hours, because a live one is no older
than its TTL. That is by our clock, which may have been set forward while
nothing was recorded, and by a TTL that the API server does not report. If
either is wrong, a list shows Events as unknown that were recorded long before.
Reading all Events of a long log takes minutes and checking some versions does
not, so the log is read further back only for those that it holds.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from recorder.intake.document import is_events
from recorder.intake.ledger import Ledger
from recorder.intake.state import StreamKey
from recorder.intake.streams import compare_versions
from recorder.model.observation import ListPage, Observation

EVER = datetime.min.replace(tzinfo=UTC)

WIDER = 4
"""How many times as far the log is read back for Events that it took and was
not found to hold: a few times at most, however long it is."""

DIGITS = 18
"""Of versions that the log can be queried for, as they fit 64 bits."""


@dataclass(frozen=True, slots=True)
class KnownEvent:
    """The newest version of an Event that the log holds."""

    epoch: int
    namespace: str
    name: str
    resource_version: str
    observed_at: datetime
    position: int


class _Metadata(msgspec.Struct):
    uid: str = ""
    resourceVersion: str = ""  # noqa: N815 - the API's own name


class _Item(msgspec.Struct):
    metadata: _Metadata


_ITEM = msgspec.json.Decoder(_Item)


class KnownEvents:
    """The Events that the log holds, for one list at a time."""

    def __init__(self, ledger: Ledger, *, event_ttl: timedelta) -> None:
        self.by_uid: Mapping[str, KnownEvent] = {}
        self._ledger = ledger
        self._event_ttl = event_ttl
        self._list: tuple[StreamKey, str] | None = None
        """The list for which they are known."""
        self._window = timedelta()
        self._asked: set[str] = set()
        self._lacking: set[str] = set()

    @property
    def epoch(self) -> int:
        """The epoch of the versions."""
        return self._ledger.epoch

    def wanted(
        self, observation: Observation
    ) -> timedelta | Sequence[int] | None:
        """Return what must be read from the log to process an observation.

        The Events of a time before it, or which of some versions are lacking,
        of all time. None if nothing is needed; otherwise everything taken so
        far must be committed, the result passed to `know` or to `lack`, and
        this called again, before the observation is taken.
        """
        if not isinstance(observation, ListPage):
            return None
        key = (observation.source, str(observation.resource))
        point = self._ledger.streams.get(key)
        if (
            not is_events(observation.resource)
            or point is None
            or (point.began_at is None and not observation.partial)
        ):
            return None
        now = observation.observed_at
        if self._list != (key, observation.resource_version):
            self.forget()
            self._list = key, observation.resource_version
            absence = now - (point.doubtful_from or point.began_at or now)
            span = max(absence, timedelta()) + self._event_ttl * 2
            self._window = now - self._ledger.reach(now, span)
            return self._window
        began = point.began_at
        if began is None or now - self._window <= began:
            return None
        return self._further(observation.items, point.pending or "0")

    def know(self, events: Mapping[str, KnownEvent]) -> None:
        """Load the live Events of the log, by UID."""
        self.by_uid = events

    def lack(self, versions: Iterable[int]) -> None:
        """Load versions that have no entry in the log."""
        self._lacking.update(str(version) for version in versions)

    def forget(self) -> None:
        """Prepare for another list."""
        self.by_uid, self._list = {}, None
        self._asked, self._lacking = set(), set()

    def _further(
        self, items: Iterable[bytes], taken: str
    ) -> timedelta | Sequence[int] | None:
        doubted = set(outlived(items, self.by_uid, taken)) - self._lacking
        unasked = {
            version
            for version in doubted - self._asked
            if version.isdecimal() and len(version) <= DIGITS
        }
        if unasked:
            self._asked |= unasked
            return sorted(int(version) for version in unasked)
        if doubted:
            self._window *= WIDER
            return self._window
        return None


def outlived(
    items: Iterable[bytes], known: Container[str], taken: str
) -> Iterator[str]:
    """Yield the versions of unknown Events up to the version taken."""
    for raw in items:
        try:
            metadata = _ITEM.decode(raw).metadata
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue  # refused when it is taken
        if (
            metadata.uid
            and metadata.uid not in known
            and metadata.resourceVersion
            and compare_versions(metadata.resourceVersion, taken) <= 0
        ):
            yield metadata.resourceVersion
