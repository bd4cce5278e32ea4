"""Authorship: whether the writes to a resource are in the audit log.

While audit records are read, each hour counts the versions of a resource that
a watch saw and the writes to it that are on record. A policy that leaves a
resource out shows as versions without records. A record makes one version, an
eviction two, and one that changes nothing makes none; so fewer records than
versions prove that authors are missing, and as many prove nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple, Self

import orjson

from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.ports import Stream
from recorder.model.observation import AUDIT
from recorder.model.window import Window

HOURS_MAX = 72
"""That are kept apart; earlier ones are summed."""

VERSIONS_MIN = 10
"""Of fewer, the records may just be on their way."""

VERSIONS_EACH = 2
"""That one request makes at most: an eviction marks a Pod and deletes it."""

LEFT_OUT = 0.1
"""The share of versions with a record below which a resource is left out: of
Pods, a policy may keep evictions alone."""

HOUR = 3600


class Count(NamedTuple):
    """What was counted of one resource in some hours."""

    versions: int
    """Seen by a watch one by one, while audit was read."""

    writes: int
    """Requests on record that were carried out."""

    @property
    def left_out(self) -> bool:
        """Whether the audit log hardly holds writes to the resource."""
        authored = self.writes * VERSIONS_EACH
        return (
            self.versions >= VERSIONS_MIN
            and authored < self.versions * LEFT_OUT
        )


class Tally:
    """Counts of one resource, by the hour."""

    def __init__(self, hours: Mapping[int, tuple[int, int]] = {}) -> None:
        self._hours = {hour: list(counts) for hour, counts in hours.items()}

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Parse what `written` returned."""
        rows = [] if text is None else orjson.loads(text)
        return cls(
            {hour: (versions, writes) for hour, versions, writes in rows}
        )

    def written(self) -> str:
        """Return it as it is stored with the streams."""
        rows = [
            (hour, *counts) for hour, counts in sorted(self._hours.items())
        ]
        return orjson.dumps(rows).decode()

    def add(self, at: datetime, *, versions: int = 0, writes: int = 0) -> None:
        """Add counts; those older than all kept hours join the sum."""
        hour = _hour(at)
        if len(self._hours) >= HOURS_MAX:
            hour = max(hour, min(self._hours))
        counts = self._hours.setdefault(hour, [0, 0])
        counts[0] += versions
        counts[1] += writes
        if len(self._hours) > HOURS_MAX:
            first, second, *_ = sorted(self._hours)
            oldest = self._hours.pop(first)
            for place, count in enumerate(oldest):
                self._hours[second][place] += count

    def within(self, window: Window) -> Count:
        """Return the counts of the hours that a window touches.

        If these are too few, those of all hours: policies seldom change.
        """
        since, until = window.since, window.until
        near = _sum(
            counts
            for hour, counts in self._hours.items()
            if (since is None or hour >= _hour(since))
            and (until is None or hour <= _hour(until))
        )
        if near.versions >= VERSIONS_MIN:
            return near
        return _sum(self._hours.values())

    def versions_after(self, at: datetime | None) -> int:
        """Return the number of versions in later hours; None: in all."""
        return sum(
            counts[0]
            for hour, counts in self._hours.items()
            if at is None or hour > _hour(at)
        )


def unaudited(
    streams: Iterable[Stream], window: Window, asks: Callable[[str], bool]
) -> Iterator[Hole]:
    """Yield a hole for each resource whose authors the audit log leaves out.

    A log without audit records counts nothing, so it has none.
    """
    for stream in streams:
        if stream.audited is None or not asks(stream.resource):
            continue
        count = Tally.parse(stream.audited).within(window)
        if count.left_out:
            yield Hole(
                since=window.since,
                until=window.until,
                source=AUDIT,
                resource=stream.resource,
                reason=_said(count),
            )


def _said(count: Count) -> str:
    authored = count.writes * VERSIONS_EACH
    which = f"at most {authored}" if authored else "none"
    return (
        f"authors are missing: {which} of {count.versions} versions have an"
        " audit record; does the audit policy leave their writes out?"
    )


def _sum(counts: Iterable[list[int]]) -> Count:
    versions = writes = 0
    for seen, asked in counts:
        versions += seen
        writes += asked
    return Count(versions, writes)


def _hour(at: datetime) -> int:
    return int(at.astimezone(UTC).timestamp()) // HOUR
