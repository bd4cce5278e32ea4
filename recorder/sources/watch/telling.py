"""Making the observations of one resource.

The only place where they are made, so that a reader of a tape can find here
what each of them means. Decides nothing.
"""

from collections.abc import Sequence
from datetime import datetime

import orjson

from recorder.model.observation import (
    InputRefused,
    ListPage,
    Observation,
    RequestFailed,
    StreamClosed,
    StreamResumed,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.watch.clock import Clock
from recorder.sources.watch.errors import RequestError
from recorder.sources.watch.frames import Frame, Refused
from recorder.sources.watch.listing import Page
from recorder.sources.watch.target import Target


class Observer:
    """Makes the observations of one resource."""

    def __init__(self, target: Target, clock: Clock) -> None:
        self._kind = target.kind
        self._resource = target.resource
        self._clock = clock

    def page(self, page: Page, at: datetime) -> Sequence[Observation]:
        """Observe a page of a list that arrived at a time."""
        observations: list[Observation] = []
        if page.refused is not None:
            observations.append(self._refused(page.refused, at))
        observations.append(
            ListPage(
                observed_at=at,
                resource=self._resource,
                resource_version=page.version,
                items=page.items,
                more=page.more,
                kind=page.kind or self._kind,
            )
        )
        return observations

    def portion(
        self, portion: Sequence[Frame | Refused]
    ) -> Sequence[Observation]:
        """Observe the frames that arrived just now."""
        now = self._clock.now()
        return [
            WatchFrame(
                observed_at=now,
                resource=self._resource,
                type=frame.type,
                object=frame.object,
                late=frame.late,
                recovered=frame.recovered,
            )
            if isinstance(frame, Frame)
            else self._refused(frame, now)
            for frame in portion
        ]

    def nothing_at(self, version: str) -> WatchFrame:
        """Observe that no object existed at a version, as a bookmark."""
        document = {
            "kind": self._kind,
            "apiVersion": self._resource.api_version,
            "metadata": {"resourceVersion": version},
        }
        return WatchFrame(
            observed_at=self._clock.now(),
            resource=self._resource,
            type="BOOKMARK",
            object=orjson.dumps(document),
        )

    def resumed(self) -> StreamResumed:
        """Observe that the server accepted our version."""
        return StreamResumed(
            observed_at=self._clock.now(), resource=self._resource
        )

    def closed(self, reason: str) -> StreamClosed:
        """Observe that a stream ended."""
        return StreamClosed(
            observed_at=self._clock.now(),
            resource=self._resource,
            reason=reason,
        )

    def failed(self, error: RequestError) -> RequestFailed:
        """Observe that a request failed."""
        return RequestFailed(
            observed_at=self._clock.now(),
            resource=self._resource,
            status=error.reported_status,
            reason=str(error),
        )

    def _refused(self, refused: Refused, at: datetime) -> InputRefused:
        resource: Resource | None = self._resource
        reason = refused.reason
        if refused.recalled is not None:
            # Nothing is missing from the resource, so it has no gap.
            reason = (
                f"{reason}; {resource} was read again at version"
                f" {refused.recalled}"
            )
            resource = None
        return InputRefused(
            observed_at=at,
            resource=resource,
            head=refused.head,
            sha256=refused.sha256,
            length=refused.length,
            reason=reason,
        )
