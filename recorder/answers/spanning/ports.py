"""What an answer from both halves of a log needs of the archive."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recorder.answers.ports import Reading
from recorder.facts.coverage.ports import Archived, Thinned
from recorder.model.window import Window

__all__ = ["Archive"]


class Archive(Protocol):
    """The days of one log that the database does not have, or not whole."""

    @property
    def dropped_position(self) -> int:
        """Up to here everything was dropped, but for what is carried on."""

    @property
    def last_position(self) -> int:
        """Behind it nothing was dropped or thinned."""

    @property
    def until(self) -> datetime:
        """When the last was observed of what was dropped."""

    @property
    def holds_days(self) -> bool:
        """Whether days are open that are not in the database."""

    @property
    def opened(self) -> Reading | None:
        """The days that can be read, as far as they were asked for."""

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Open the days of a time that were dropped, and some before them."""

    async def reach_thinned(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Open the days of a time out of which something went before them."""

    async def reach_position(self, position: int) -> None:
        """Open the day of an entry that is not in the database."""

    async def reach_back(self) -> bool:
        """Open days before those that are open; return if there were any."""

    def archived(self, window: Window, thinned: Sequence[Thinned]) -> Archived:
        """Return what of a window was read, and what cannot be.

        Of what went out of days that are here, that is left which was not.
        """
