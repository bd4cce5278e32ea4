"""The port of the archive, for readings that span it and the database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recorder.answers.ports import Reading
from recorder.facts.coverage.ports import Archived, Thinned
from recorder.model.window import Window


class Archive(Protocol):
    """The days of one log that were dropped or thinned in the database."""

    @property
    def dropped_position(self) -> int:
        """The last dropped position; carried entries are in the database."""

    @property
    def last_position(self) -> int:
        """The last position that was dropped or thinned."""

    @property
    def until(self) -> datetime:
        """When the last dropped entry was observed."""

    @property
    def holds_days(self) -> bool:
        """Whether any open day is not in the database."""

    @property
    def opened(self) -> Reading | None:
        """The days that are open; None if none is."""

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Open the dropped days of a span, and some before them."""

    async def reach_thinned(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Open the thinned days of a span."""

    async def reach_position(self, position: int) -> None:
        """Open the day of an entry that is not in the database."""

    async def reach_back(self) -> bool:
        """Open the days before the open ones; return whether there are any."""

    def archived(self, window: Window, thinned: Sequence[Thinned]) -> Archived:
        """Return which days of a window were read, and which cannot be.

        Thinned days whose entries were not read from the archive remain in
        the result.
        """
