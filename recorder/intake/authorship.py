"""Counting the seen versions and the writes on record, while audit is read.

Stored for each resource with its stream, in the transaction of the entries.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from recorder.facts.classify.audit_record import AuditRecord
from recorder.facts.classify.requests import READS, is_answered, is_dry_run
from recorder.facts.coverage.authorship import Tally
from recorder.intake.ledger import Ledger
from recorder.intake.state import StreamKey, StreamState
from recorder.intake.streams import complete
from recorder.model.observation import AUDIT, AUDITED, WATCH
from recorder.model.reference import Resource

NO_WRITE = frozenset({"exec", "attach", "portforward", "proxy", "log"})
"""Subresources that do not change the object."""


class Authorship:
    """Counts by resource, as they change between two batches."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._tallies: dict[str, Tally] = {}
        self._moved: set[str] = set()
        self._is_read: bool | None = None
        self._watched: Mapping[tuple[str, str], str] | None = None
        """By group and plural; both are looked up once a batch."""

    def version(self, resource: str, at: datetime) -> None:
        """Count a version that a watch delivered, if audit is read."""
        if self._is_read is None:
            self._is_read = any(
                source == AUDIT and point.state is StreamState.LIVE
                for (source, _), point in self._ledger.streams.items()
            )
        if self._is_read:
            self._of(resource).add(at, versions=1)

    def request(self, record: AuditRecord | None, at: datetime) -> None:
        """Count a request that may have changed a watched resource."""
        self._is_read = True
        if record is None or record.object_ref is None:
            return
        about = record.object_ref
        if (
            record.verb in READS
            or about.subresource in NO_WRITE
            or not is_answered(record)
            or is_dry_run(record)
        ):
            return
        if self._watched is None:
            self._watched = _watched(self._ledger.streams)
        name = self._watched.get((about.api_group or "", about.resource or ""))
        if name is not None:
            self._of(name).add(at, writes=1)

    def settle(self) -> None:
        """Store the counts with the streams, to be committed."""
        for resource in sorted(self._moved):
            point = self._ledger.moved((AUDITED, resource))
            point.state = StreamState.ENDED
            complete(point, self._tallies[resource].written())
        self._moved.clear()
        self._is_read = self._watched = None

    def _of(self, resource: str) -> Tally:
        self._moved.add(resource)
        tally = self._tallies.get(resource)
        if tally is None:
            point = self._ledger.streams.get((AUDITED, resource))
            tally = Tally.parse(None if point is None else point.completed)
            self._tallies[resource] = tally
        return tally


def _watched(streams: Iterable[StreamKey]) -> Mapping[tuple[str, str], str]:
    names = (name for source, name in streams if source == WATCH)
    return {
        (resource.group, resource.plural): str(resource)
        for resource in map(Resource.parse, names)
    }
