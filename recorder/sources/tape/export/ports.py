"""What a cut out of a log needs from it."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from recorder.answers.nouns import Line
from recorder.answers.ports import Reading
from recorder.model.window import Window

__all__ = ["Alive", "CutReading", "Past"]


class Alive(Protocol):
    """The newest version of an object that was alive at a time."""

    @property
    def position(self) -> int:
        """Of its entry."""

    @property
    def resource(self) -> str:
        """In its written form."""

    @property
    def kind(self) -> str:
        """Its name."""

    @property
    def thing(self) -> str:
        """Its uid; its namespace and name where it has none."""

    @property
    def version(self) -> str:
        """As the API server gave it."""

    @property
    def is_listed(self) -> bool:
        """Whether a list showed it."""


class Past(Protocol):
    """A log, asked for what a tape of a part of it needs."""

    async def span(self, window: Window) -> tuple[int, int]:
        """Return the first and the last position of a window.

        Between them are all of its entries but renewals that were told
        later, and what came in between: entries are ordered by position, and
        those of one list are of several moments.
        """

    def alive(self, before: int) -> AsyncIterator[Sequence[Alive]]:
        """Yield what was alive before a position, but for Events, by pages."""

    def events(
        self, since: datetime, before: int
    ) -> AsyncIterator[Sequence[Line]]:
        """Yield versions of Events from a time to a position, in log order."""

    def gap_ends(self, first: int) -> AsyncIterator[Sequence[Line]]:
        """Yield the ends of all gaps from a position on, in log order."""

    def lines(
        self, window: Window, first: int, last: int
    ) -> AsyncIterator[Sequence[Line]]:
        """Yield the entries of a window with documents, in log order.

        Those from one position to another, and renewals told later.
        """

    async def documents(
        self, positions: Collection[int]
    ) -> Mapping[int, bytes]:
        """Return the documents of entries by position."""

    async def observed(
        self, positions: Collection[int]
    ) -> Mapping[int, datetime]:
        """Return when entries were observed, by position."""


class CutReading(Reading, Protocol):
    """One log, as it stood, out of which a tape can be cut."""

    async def past(self, nodes: Collection[str], window: Window) -> Past:
        """Return the log as a tape of a window is cut out of it.

        With nodes only what concerns them, else everything.
        """
