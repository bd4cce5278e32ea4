"""The gaps that a tape shows by itself.

A pure fold over its observations, to describe a tape without playing it. The
gaps of a log are opened and closed by intake, which knows what a list proved;
these are their outlines.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from recorder.model.observation import (
    ABSENT,
    CLEAN_REASONS,
    EXPIRED,
    EpochBegan,
    InputRefused,
    ListPage,
    Observation,
    RequestFailed,
    StreamClosed,
    WatchFrame,
)
from recorder.model.reference import Resource

GAPS_MAX = 1000
"""Closed gaps that are kept individually; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeGap:
    """A span for which a tape may be incomplete."""

    resource: Resource | None
    """None if it concerns every resource."""

    since: datetime | None
    """The last sign of the resource before; None if there was none."""

    until: datetime | None
    """The first complete sign after; None if the tape ends before."""

    reason: str


class GapFold:
    """Folds observations, in order, into gaps."""

    def __init__(self) -> None:
        self._closed: list[TapeGap] = []
        self._open: dict[Resource, TapeGap] = {}
        self._needs_list: set[Resource] = set()
        self._seen: dict[Resource, datetime] = {}
        self._closed_count = 0

    @property
    def count(self) -> int:
        """The number of gaps, including those that were not kept."""
        return self._closed_count + len(self._open)

    def gaps(self) -> list[TapeGap]:
        """Return the closed ones in the order of their ends, then the open."""
        return [*self._closed, *self._open.values()]

    def add(self, observation: Observation) -> None:
        """Add the next observation of the tape."""
        match observation:
            case WatchFrame(resource=resource, observed_at=at):
                if resource not in self._needs_list:
                    self._end(resource, at)
                self._seen[resource] = at
            case ListPage(resource=resource, observed_at=at, more=False):
                self._needs_list.discard(resource)
                self._end(resource, at)
                self._seen[resource] = at
            case _:
                self._incident(observation)

    def _incident(self, observation: Observation) -> None:
        """Add an observation that has no documents."""
        match observation:
            case StreamClosed():
                self._stream_closed(observation)
            case RequestFailed(resource=resource, status=status):
                if str(status) != ABSENT:
                    self._begin(resource, f"{status} {observation.reason}")
            case InputRefused(resource=resource, observed_at=at):
                self._moment(resource, at, observation.reason)
            case EpochBegan(observed_at=at, reason=reason):
                self._moment(None, at, f"a new epoch: {reason}")
            case _:
                pass

    def _stream_closed(self, closed: StreamClosed) -> None:
        if closed.reason in CLEAN_REASONS:
            self._seen[closed.resource] = closed.observed_at
        elif closed.reason != ABSENT:
            self._begin(closed.resource, closed.reason)
            if closed.reason == EXPIRED:
                self._needs_list.add(closed.resource)

    def _begin(self, resource: Resource, reason: str) -> None:
        gap = TapeGap(
            resource=resource,
            since=self._seen.get(resource),
            until=None,
            reason=reason,
        )
        self._open.setdefault(resource, gap)

    def _end(self, resource: Resource, at: datetime) -> None:
        gap = self._open.pop(resource, None)
        if gap is not None:
            self._keep(replace(gap, until=at))

    def _moment(
        self, resource: Resource | None, at: datetime, reason: str
    ) -> None:
        self._keep(
            TapeGap(resource=resource, since=at, until=at, reason=reason)
        )

    def _keep(self, gap: TapeGap) -> None:
        self._closed_count += 1
        if len(self._closed) < GAPS_MAX:
            self._closed.append(gap)
