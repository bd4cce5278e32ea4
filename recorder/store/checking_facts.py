"""Checks facts against the entries that they were derived from.

A window of entries is derived again, by the rules that derived it, and every
column of the stored facts is compared. The state of an object before the
window comes from its previous entry; for dropped days, the newest version of
each live object was carried forward.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple, Protocol

import asyncpg

from recorder.facts import WrittenFact, derive, written
from recorder.intake.deriving import Deriver
from recorder.integrity.chain import Problem
from recorder.model.entry import Draft, Operation
from recorder.model.reference import EntryName
from recorder.store.entry_drafts import EntryDrafts
from recorder.store.entry_windows import (
    EntryWindows,
    Window,
    heads_at,
    heads_before,
)
from recorder.store.read_batches import LogEnd
from recorder.store.read_thinned import thinned_positions
from recorder.store.said_facts import Said, compared, said
from recorder.store.stored_said import SaidReader, StoredFact

WINDOW = 2_000
"""Entries that are derived at once, as many as a batch may have."""

STATES_MAX = 16_384
"""As many as when a log is derived again."""

REAPPEARS = frozenset({Operation.LISTED, Operation.RECOVERED, Operation.ADDED})


class CheckedFacts(NamedTuple):
    """Entries that were derived again, and the problems of their facts."""

    until: int
    entries: int
    facts: int
    problems: Sequence[Problem]


class Facts(Protocol):
    """The facts to check."""

    async def read(
        self, after: int, until: int
    ) -> Mapping[int, Sequence[StoredFact]]:
        """Return those after a position up to another, by position."""


class WindowChecker:
    """Checks the facts of windows, wherever entries and facts are."""

    def __init__(self, log: int, facts: Facts, *, dropped: int = 0) -> None:
        """Take the number of the log, and the last position dropped."""
        self._log = log
        self._facts = facts
        self._dropped = dropped

    async def check(
        self, windows: EntryWindows, deriver: Deriver, after: int, until: int
    ) -> CheckedFacts:
        """Check the window after a position up to another.

        Raises:
            UnreadableEntryError: an entry is not as it was written.
        """
        window = await windows.read(after, until)
        await deriver.derive(window.batch)
        stored = await self._facts.read(after, until)
        problems: list[Problem] = []
        derived = dict(window.batch.facts or ())
        for position in sorted({*derived, *stored}):
            problems += self._compared(
                window,
                position,
                derived.get(position, ()),
                stored.get(position, ()),
            )
        facts = sum(map(len, stored.values()))
        return CheckedFacts(until, until - after, facts, problems)

    def _compared(
        self,
        window: Window,
        position: int,
        derived: Sequence[WrittenFact],
        stored: Sequence[StoredFact],
    ) -> Sequence[Problem]:
        batch = window.batch
        _, draft = batch.drafts[position - batch.first_position]
        recorded_at = window.recorded_at_of(position)
        name = EntryName(self._log, position)
        rows = [(one.place, one.said) for one in stored]
        of = _said(derived, draft, recorded_at)
        problems = [*compared(name, of, rows)]
        previous = batch.previous.get(position)
        if problems and self._may_be_new(draft, previous):
            facts = [written(fact) for fact in derive(draft, None).facts]
            if not [*compared(name, _said(facts, draft, recorded_at), rows)]:
                return ()
        return problems or [*_misplaced(name, draft, window, stored)]

    def _may_be_new(self, draft: Draft, previous: int | None) -> bool:
        """Return whether an object may have been deleted before an entry.

        Versions of deleted objects in dropped days are kept if they are
        evidence; their deletions are not.
        """
        is_carried = previous is not None and previous <= self._dropped
        return is_carried and draft.operation in REAPPEARS


class FactChecker:
    """Checks the facts of one derivation of one log."""

    def __init__(
        self,
        connection: asyncpg.Connection,
        end: LogEnd,
        drafts: EntryDrafts,
        reader: SaidReader,
    ) -> None:
        self._connection = connection
        self._end = end
        self._drafts = drafts
        self._checker = WindowChecker(
            end.log, reader, dropped=end.pruned_positions
        )

    @classmethod
    async def opened(
        cls, connection: asyncpg.Connection, end: LogEnd, derivation: int
    ) -> "FactChecker":
        """Open it, with the dictionaries as they are now."""
        drafts = await EntryDrafts.opened(connection, end.log)
        reader = await SaidReader.opened(connection, end.log, derivation)
        return cls(connection, end, drafts, reader)

    async def follow(
        self, after: int, until: int
    ) -> AsyncIterator[CheckedFacts]:
        """Check the entries after a position up to another, in windows.

        Memory: what `EntryWindows` keeps, for all objects.

        Raises:
            UnreadableEntryError: an entry is not as it was written.
        """
        heads = await heads_at(self._connection, self._end.log, after)
        windows = self._windows(heads)
        deriver = Deriver(windows, states_max=STATES_MAX)
        for start in range(after, until, WINDOW):
            stop = min(start + WINDOW, until)
            yield await self._checker.check(windows, deriver, start, stop)

    async def sample(self, after: int, until: int) -> CheckedFacts:
        """Check one window; the previous versions of its objects are read.

        Raises:
            UnreadableEntryError: an entry is not as it was written.
        """
        log = self._end.log
        heads = await heads_before(self._connection, log, after, until)
        windows = self._windows(heads)
        deriver = Deriver(windows)
        return await self._checker.check(windows, deriver, after, until)

    def _windows(self, heads: dict[int, int]) -> EntryWindows:
        log = self._end.log
        gone = partial(thinned_positions, self._connection, log)
        return EntryWindows(self._drafts, heads, gone, log)


def _said(
    facts: Sequence[WrittenFact], draft: Draft, recorded_at: datetime | None
) -> list[Said]:
    if recorded_at is None:
        return []
    return [said(fact, draft, recorded_at) for fact in facts]


def _misplaced(
    name: EntryName,
    draft: Draft,
    window: Window,
    stored: Sequence[StoredFact],
) -> Sequence[Problem]:
    """Return facts of another object that has the name of the entry's."""
    number = window.object_of(name.position)
    return [
        Problem(
            kind="fact-altered",
            position=name.position,
            says=f"fact {one.place} of entry {name} ({one.said.kind}) does"
            " not match its entry: it is of another object of the same name",
        )
        for one in stored
        if one.said.object == draft.identity and one.object_id != number
    ]
