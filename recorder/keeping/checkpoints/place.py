"""A place outside the database that keeps checkpoints.

A place only grows: what is in it is never written again, so a place that
forbids this is one too. What cannot be written is an error for the caller;
recording does not wait for it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recorder.integrity.notes import SignedNote
from recorder.model.errors import RecorderError


class PlaceError(RecorderError):
    """A place of checkpoints cannot be used."""

    code = "checkpoint.place"


class Place(Protocol):
    """Where checkpoints are kept."""

    name: str

    async def write(self, log: str, note: SignedNote, at: datetime) -> None:
        """Add a checkpoint of a log; durable when this returns.

        Raises:
            PlaceError: it cannot be written.
        """

    async def logs(self) -> Sequence[str]:
        """Return the UIDs of the logs that it holds checkpoints of.

        Raises:
            PlaceError: it cannot be read.
        """

    async def newest(self, log: str) -> Sequence[SignedNote]:
        """Return the checkpoints of the last day that has any.

        Raises:
            PlaceError: it cannot be read.
        """

    async def read(self, log: str) -> tuple[Sequence[SignedNote], int]:
        """Return all checkpoints of a log, and how many are damaged.

        Raises:
            PlaceError: it cannot be read.
        """
