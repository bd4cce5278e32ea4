"""Ports of measuring: a metrics store, and the door of claims."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

from recorder.model.errors import Transient


class StoreError(Transient):
    """The metrics store gave no usable answer; without its address."""

    code = "metrics.store"


class Sampled(NamedTuple):
    """A series that a store returned."""

    labels: Mapping[str, str]
    samples: Sequence[tuple[float, float]]
    """Seconds since 1970 and value, in order of time."""


class Store(Protocol):
    """Answers PromQL."""

    async def samples(
        self, selector: str, *, end: datetime, span: timedelta
    ) -> Sequence[Sampled]:
        """Return the samples of each series in a span that ends at a time.

        Raises:
            StoreError: there was no usable answer in time.
        """


class Door(Protocol):
    """Takes claims, and keeps them until they are in the log."""

    async def put(self, event: Mapping[str, Any]) -> None:
        """Keep a CloudEvent, on disk when this returns."""

    async def flush(self) -> str | None:
        """Send what waits; return why something still waits, if it does."""
