"""The port through which answers read the log.

`Reading` is one log as it was when it was opened. The log only grows, so
everything up to that size stays the same however long the answer takes.
Queries are in `recorder.answers.queries`.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol, TypeVar

from recorder.answers.nouns import Selection
from recorder.answers.queries import (
    FactQuery,
    ListQuery,
    NameQuery,
    StateQuery,
)
from recorder.facts.coverage.ports import Record
from recorder.model.entry import Entry
from recorder.model.fact import StoredFact

Item = TypeVar("Item")
Key = TypeVar("Key")
Found = TypeVar("Found")

OnDay = Callable[[datetime], None]
"""Called with each day that is scanned because no index helps; a day may
take some seconds."""


class Beside(NamedTuple):
    """The logs of other clusters."""

    readings: "Sequence[Reading]"
    away: Sequence[str] = ()
    """Clusters whose log cannot be read now."""


class Reading(Record, Protocol):
    """One log, as it was at one moment."""

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Open what queries about a time need from the archive.

        Without a beginning, read only the database if it has any entries.
        """

    def as_of(self, position: int) -> "Reading":
        """Return the log up to a position."""

    async def pinned(self, position: int) -> "Reading":
        """Return the log as if it ended at a position, with its coverage.

        Its record ends there, so that answers are the same at any time.
        """

    async def again(self) -> "Reading":
        """Return the same log as it is now."""

    async def beside(self) -> Beside:
        """Return the logs of other clusters as they are now."""

    async def first_position(self) -> int:
        """Return the position of the oldest entry in the database."""

    def pages(
        self, query: ListQuery[Item], *, after: int, limit: int | None = None
    ) -> AsyncIterator[Sequence[Item]]:
        """Yield items after a position in pages, in bounded memory.

        A page has at most ``limit`` items, so that the first ones are
        available early.
        """

    async def skip_to_newest(
        self,
        query: ListQuery[Item],
        count: int,
        *,
        on_day: OnDay | None = None,
    ) -> int:
        """Return the position after which the newest ``count`` items are.

        Zero if there are no more than that. Facts of one entry are not
        separated, so there may be a few facts less.
        """

    async def newest(
        self, selection: Selection, *, before: int | None = None
    ) -> Entry | None:
        """Return the newest entry of a selection, with its document.

        Of the whole log, or of its part before a position.
        """

    async def facts(self, query: FactQuery) -> Sequence[StoredFact]:
        """Return facts for a purpose, in log order."""

    async def names(self, query: NameQuery[Item]) -> Sequence[Item]:
        """Return names, each once."""

    async def states(
        self, query: StateQuery[Key, Found]
    ) -> Mapping[Key, Found]:
        """Return the states that the log has, by key."""
