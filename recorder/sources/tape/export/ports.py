"""What cutting a tape needs from a log."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from recorder.answers.ports import Reading
from recorder.model.entry import Entry
from recorder.model.window import Window


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
        """Its UID; its namespace and name if it has none."""

    @property
    def version(self) -> str:
        """As returned by the API server."""

    @property
    def is_listed(self) -> bool:
        """Whether a list showed it."""


class Past(Protocol):
    """The queries to a log that cutting a tape needs."""

    async def span(self, window: Window) -> tuple[int, int]:
        """Return the first and the last position of a window.

        Between them are all of its entries except late renewals, and entries
        observed outside of it: entries are ordered by position, and those of
        one list are of several moments.
        """

    def alive(self, before: int) -> AsyncIterator[Sequence[Alive]]:
        """Yield what was alive before a position, except Events, by pages."""

    def events(
        self, since: datetime, before: int
    ) -> AsyncIterator[Sequence[Entry]]:
        """Yield versions of Events from a time to a position, in log order."""

    def gap_ends(self, first: int) -> AsyncIterator[Sequence[Entry]]:
        """Yield the ends of all gaps from a position on, in log order."""

    def lines(
        self, window: Window, first: int, last: int
    ) -> AsyncIterator[Sequence[Entry]]:
        """Yield the entries of a window with documents, in log order.

        Those from one position to another, and late renewals.
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
    """A snapshot of one log, from which a tape can be cut."""

    async def past(self, nodes: Collection[str], window: Window) -> Past:
        """Return the log as needed for a tape of a window.

        With nodes only what concerns them, else everything.
        """
