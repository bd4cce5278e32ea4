"""What answers need from the log.

`Reading` is one log as it stood when it was opened: the log only grows, so
everything up to that size stays as it was seen, however long the answer takes.
What it says is asked for by `recorder.answers.queries`.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

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

__all__ = ["OnDay", "Reading"]

Item = TypeVar("Item")
Key = TypeVar("Key")
Found = TypeVar("Found")

OnDay = Callable[[datetime], None]
"""Gets the days that are looked through, where no index leads to what is
asked for: each may take some seconds."""


class Reading(Record, Protocol):
    """One log, as it stood at one moment."""

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Prepare to be asked about a time, which may lie in the archive.

        Without a beginning that is what is kept outside of it, if anything
        is.
        """

    def as_of(self, position: int) -> "Reading":
        """Return the log as it was when it ended at a position."""

    async def pinned(self, position: int) -> "Reading":
        """Return the log as if nothing had come behind a position.

        Its record ends there, so that the same is answered at any time.
        """

    async def again(self) -> "Reading":
        """Read where the same log stands now."""

    async def first_position(self) -> int:
        """Return the place of the oldest entry that is kept."""

    def pages(
        self, query: ListQuery[Item], *, after: int, limit: int | None = None
    ) -> AsyncIterator[Sequence[Item]]:
        """Yield what lies behind a position, in bounded memory.

        A page has no more items than the limit, so that a few are there
        before many.
        """

    async def skip_to_newest(
        self,
        query: ListQuery[Item],
        count: int,
        *,
        on_day: OnDay | None = None,
    ) -> int:
        """Return the position after which the newest ``count`` items lie.

        Zero where there are no more than that. Facts of one entry are not
        parted, so of facts there may be a few less.
        """

    async def newest(
        self, selection: Selection, *, before: int | None = None
    ) -> Entry | None:
        """Return the newest entry of a selection, with its document.

        Of the whole log, or of what lies before a position.
        """

    async def facts(self, query: FactQuery) -> Sequence[StoredFact]:
        """Return the facts for a purpose, in the order of the log."""

    async def names(self, query: NameQuery[Item]) -> Sequence[Item]:
        """Return names, each once."""

    async def states(
        self, query: StateQuery[Key, Found]
    ) -> Mapping[Key, Found]:
        """Return what the log knows of each of some things, where it does."""
