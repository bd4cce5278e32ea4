"""Reads entries in windows, in which facts are derived again.

Entries come in the order of the log, each with the position of the previous
version of its object, as intake knew it. An entry that retention removed early
is replaced by an empty draft: its facts were removed with it, and no other
fact was derived from it.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import asyncpg

from recorder.facts import KnownStates
from recorder.intake.state import Batch
from recorder.model.entry import VERSIONS, Draft, Operation
from recorder.model.moment import FIRST
from recorder.model.observation import RECORDER
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.store.entry_drafts import EntryDrafts, UnreadableEntryError
from recorder.store.read_thinned import thinned_positions
from recorder.store.rows import EVENT_COLLECTIONS
from recorder.store.statement import Statement

Row: TypeAlias = asyncpg.Record | Mapping[str, Any]
"""It has at least the columns position, recorded_at, epoch, object_id."""

GONE = frozenset({Operation.DELETED, Operation.ABSENT})

HEADS_AT = Statement.of("""
    select e.object_id, e.position
    from (
      select object_id, max(position) as position from recorder.entry
      where log_id = :log and position <= :position and operation <= #absent
        and object_id is not null
        and resource_id <> all (array(
          select resource_id from recorder.resource
          where name = any(:events::text[])))
      group by object_id) newest
    join recorder.entry e on e.log_id = :log and e.position = newest.position
    where e.operation <= #modified
""")
HEADS_BEFORE = Statement.of("""
    select e.object_id, e.position
    from (
      select o.object_id, (
        select max(p.position) from recorder.entry p
        where p.object_id = o.object_id and p.log_id = :log
          and p.position <= :after and p.operation <= #absent) as position
      from (
        select distinct object_id from recorder.entry
        where log_id = :log and position > :after and position <= :until
          and operation <= #absent and object_id is not null
          and resource_id <> all (array(
            select resource_id from recorder.resource
            where name = any(:events::text[])))) o) newest
    join recorder.entry e on e.log_id = :log and e.position = newest.position
    where e.operation <= #modified
""")


GONE_BEFORE = Draft(
    source=RECORDER,
    operation=Operation.RETENTION,
    observed_at=FIRST,
    raw=b"{}",
)


class Window:
    """Consecutive entries."""

    def __init__(self, batch: Batch, rows: Mapping[int, Row]) -> None:
        """Take the drafts, and the rows that exist by position."""
        self.batch = batch
        self._rows = rows

    @property
    def recorded_at(self) -> dict[int, datetime]:
        """When each entry was recorded, by position."""
        return {
            position: row["recorded_at"]
            for position, row in self._rows.items()
        }

    def recorded_at_of(self, position: int) -> datetime | None:
        """Return when an entry was recorded; None if it was removed."""
        row = self._rows.get(position)
        return None if row is None else row["recorded_at"]

    def object_of(self, position: int) -> int | None:
        """Return the number of the object of an entry."""
        row = self._rows.get(position)
        return None if row is None else row["object_id"]

    def objects(self) -> dict[ObjectIdentity, int]:
        """Return the number of each object of the entries."""
        return {
            draft.identity: self._rows[position]["object_id"]
            for position, (_, draft) in enumerate(
                self.batch.drafts, self.batch.first_position
            )
            if draft.identity is not None
        }


async def heads_at(
    connection: asyncpg.Connection, log: int, position: int
) -> dict[int, int]:
    """Return the newest entry of each object that was alive at a position."""
    if position == 0:
        return {}
    rows = await HEADS_AT.fetch(
        connection,
        log=log,
        position=position,
        events=list(EVENT_COLLECTIONS),
    )
    return dict(rows)


async def heads_before(
    connection: asyncpg.Connection, log: int, after: int, until: int
) -> dict[int, int]:
    """Return the heads at a position of objects that later entries change."""
    rows = await HEADS_BEFORE.fetch(
        connection,
        log=log,
        after=after,
        until=until,
        events=list(EVENT_COLLECTIONS),
    )
    return dict(rows)


class Drafts(Protocol):
    """Reads entries as `EntryDrafts` does."""

    async def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Return the documents of entries by position."""

    async def read(
        self, after: int, until: int
    ) -> tuple[Sequence[Row], Sequence[Draft]]:
        """Return the rows and drafts after a position up to another."""


class EntryWindows:
    """Reads the entries of one log in order, from a position on.

    Memory: about 150 bytes for each live object, the cache of `EntryDrafts`,
    and the states that a `Deriver` keeps.
    """

    def __init__(
        self,
        drafts: Drafts,
        heads: dict[int, int],
        gone: Callable[[int, int], Awaitable[Collection[int]]],
        log: int,
    ) -> None:
        """Take the heads at the position where reading begins.

        ``gone`` returns the entries between two positions that retention
        removed early.
        """
        self._log = log
        self._drafts = drafts
        self._gone = gone
        self._heads = heads
        self._states = KnownStates()

    @classmethod
    async def opened(
        cls,
        connection: asyncpg.Connection,
        log: int,
        heads: dict[int, int],
    ) -> "EntryWindows":
        """Open it, with the dictionaries as they are now."""
        drafts = await EntryDrafts.opened(connection, log)
        gone = partial(thinned_positions, connection, log)
        return cls(drafts, heads, gone, log)

    async def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Return the documents of entries by position."""
        return await self._drafts.documents(positions)

    async def read(self, after: int, until: int) -> Window:
        """Read the entries after a position, up to another.

        Raises:
            UnreadableEntryError: an entry is missing, doubled or altered.
        """
        found, made = await self._drafts.read(after, until)
        rows = {row["position"]: row for row in found}
        if len(rows) < len(found):
            raise self._unreadable(_first_twice(found), "it is there twice")
        drafts = dict(zip(rows, made, strict=True))
        if len(rows) < until - after:
            gone = await self._gone(after + 1, until)
            missing = {*range(after + 1, until + 1)} - {*rows} - {*gone}
            if missing:
                raise self._unreadable(min(missing), "it is missing")
        batch = Batch(first_position=after + 1, epoch=0, states=self._states)
        for position in range(after + 1, until + 1):
            row = rows.get(position)
            if row is None:
                batch.drafts.append((0, GONE_BEFORE))
                continue
            draft = drafts[position]
            batch.drafts.append((row["epoch"], draft))
            previous = self._previous(row, draft)
            if previous is not None:
                batch.previous[position] = previous
        return Window(batch, rows)

    def _unreadable(self, position: int, why: str) -> UnreadableEntryError:
        return UnreadableEntryError(EntryName(self._log, position), why)

    def _previous(self, row: Row, draft: Draft) -> int | None:
        """Move the head of an object; return its previous position."""
        number = row["object_id"]
        if number is None or draft.resource in EVENT_COLLECTIONS:
            return None
        if draft.operation in GONE:
            return self._heads.pop(number, None)
        if draft.operation not in VERSIONS:
            return None
        previous = self._heads.get(number)
        self._heads[number] = row["position"]
        return previous


def _first_twice(rows: Sequence[Row]) -> int:
    """Return the first position of two rows; the rows are in order."""
    positions: list[int] = [row["position"] for row in rows]
    return next(one for one, other in pairwise(positions) if one == other)
