"""Derives a log again: a derivation beside the current one, in parts.

A part is a span of positions that one process derives. It advances in the
transaction of its facts, and only from its known place: a killed process can
be resumed, and of two processes at one part only one can write. The last step
holds the head of the log, so that no entry is missing in the new derivation.
"""

import asyncio
from typing import NamedTuple

import asyncpg

from recorder.facts import DERIVATION
from recorder.intake.deriving import Deriver
from recorder.model.errors import LogError
from recorder.store.derivation import KEEP_FACTS
from recorder.store.details import DetailEncoder
from recorder.store.dimension import HOLD_HEAD, Dimensions
from recorder.store.entry_windows import EntryWindows, Window, heads_at
from recorder.store.fact_rows import (
    FACT_COLUMNS,
    fact_rows,
    name_facts,
)
from recorder.store.names import Names, Numbers
from recorder.store.shipped import shipped_dictionaries
from recorder.store.statement import Statement

WINDOW = 2_000
"""Entries of one transaction, as many as a batch may have."""

STATES_MAX = 16_384
"""Twice as many as the writer caches; others are read."""

LAST_MAX = 2_000
"""Entries that are derived while the head of the log is held: a tenth of a
second, of a lease of six."""

LOCK_TRIES = 8
LOCK_SECONDS = 0.25

LOCK = Statement.of(
    "select pg_try_advisory_lock(hashtext('recorder.rederive'), :log)"
)
READ_STATE = Statement.of("""
    select h.size, h.pruned_positions,
      (select d.derivation_id from recorder.derivation d
       where d.log_id = h.log_id and d.state = 'building'
         and d.rules = :rules) as building,
      exists (select from recorder.derivation d
       where d.log_id = h.log_id and d.state = 'current' and d.rules = :rules
         and d.built_to is null) as is_current
    from recorder.log_head h where h.log_id = :log
""")
GIVE_UP_BUILDING = Statement.of("""
    update recorder.derivation set state = 'former'
    where log_id = :log and state = 'building'
""")
BEGIN_BUILDING = Statement.of("""
    insert into recorder.derivation (log_id, rules, state, built_to)
    values (:log, :rules, 'building', 0) returning derivation_id
""")
READ_PARTS = Statement.of("""
    select part, after, until, built_to from recorder.derivation_part
    where derivation_id = :derivation order by part
""")
ADD_PART = Statement.of("""
    insert into recorder.derivation_part
      (derivation_id, part, after, until, built_to)
    values (:derivation, :part, :after, :until, :after)
""")
MOVE_PART = Statement.of("""
    update recorder.derivation_part
    set built_to = :until, until = greatest(until, :until)
    where derivation_id = :derivation and part = :part and built_to = :built_to
    returning built_to
""")
HOLD_PARTS = Statement.of("""
    select part from recorder.derivation_part
    where derivation_id = :derivation for update
""")
READ_HEADS = Statement.of("""
    select object_id, position from recorder.object_head where log_id = :log
""")
READ_SIZE = Statement.of(
    "select size from recorder.log_head where log_id = :log"
)
END_CURRENT = Statement.of("""
    update recorder.derivation
    set state = 'former', built_to = coalesce(built_to, :size)
    where log_id = :log and state = 'current'
""")
MAKE_CURRENT = Statement.of("""
    update recorder.derivation set state = 'current', built_to = null
    where log_id = :log and derivation_id = :derivation and state = 'building'
    returning derivation_id
""")


class PartMovedError(LogError):
    """Another process derives the same part."""

    code = "log.part_moved"


class State(NamedTuple):
    """The state of a log."""

    size: int
    pruned: int
    """The last position of dropped days."""

    building: int | None
    """The unfinished derivation by our rules."""

    is_current: bool
    """Whether all entries have facts by our rules."""


class Part(NamedTuple):
    """A span of positions, and how far it is derived."""

    part: int
    after: int
    until: int
    built_to: int

    @property
    def left(self) -> int:
        """The number of entries without facts."""
        return self.until - self.built_to


class Rederivation:
    """The derivation that is being built, and its parts."""

    def __init__(self, connection: asyncpg.Connection, log: int) -> None:
        self._connection = connection
        self._log = log
        self.number = 0

    async def state(self) -> State:
        """Return the state of the log."""
        row = await READ_STATE.fetch_row(
            self._connection, log=self._log, rules=DERIVATION
        )
        return State(*row)

    async def begin(self) -> None:
        """Resume the derivation begun with our rules, or start a new one.

        Raises:
            LogError: another process does this already.
        """
        connection, log = self._connection, self._log
        for _ in range(LOCK_TRIES):
            if await LOCK.fetch_value(connection, log=log):
                break
            # PostgreSQL notices a moment later that a process was killed.
            await asyncio.sleep(LOCK_SECONDS)
        else:
            msg = f"the facts of log {log} are already being rebuilt"
            raise LogError(msg, code="log.rederiving")
        state = await self.state()
        if state.building is not None:
            self.number = state.building
            return
        async with connection.transaction():
            await GIVE_UP_BUILDING.execute(connection, log=log)
            self.number = await BEGIN_BUILDING.fetch_value(
                connection, log=log, rules=DERIVATION
            )
            if state.pruned:
                await KEEP_FACTS.execute(
                    connection, log=log, derivation=self.number
                )

    async def parts(self) -> list[Part]:
        """Return the parts."""
        rows = await READ_PARTS.fetch(self._connection, derivation=self.number)
        return [Part(*row) for row in rows]

    async def add_parts(self, until: int, count: int) -> None:
        """Divide the entries that are in no part, up to a position."""
        parts = await self.parts()
        pruned = (await self.state()).pruned
        after = max((part.until for part in parts), default=pruned)
        until = max(until, after)
        places = [
            after + (until - after) * n // count for n in range(count + 1)
        ]
        await ADD_PART.execute_many(
            self._connection,
            [
                {
                    "derivation": self.number,
                    "part": len(parts) + n,
                    "after": places[n],
                    "until": places[n + 1],
                }
                for n in range(count)
            ],
        )

    async def present(self) -> tuple[int, dict[int, int]]:
        """Return the size of the log, and the heads as of that size."""
        connection = self._connection
        async with connection.transaction(
            isolation="repeatable_read", readonly=True
        ):
            size: int = await READ_SIZE.fetch_value(connection, log=self._log)
            return size, dict(
                await READ_HEADS.fetch(connection, log=self._log)
            )

    async def builder(
        self, part: Part, heads: dict[int, int] | None
    ) -> "Builder":
        """Return the builder of a part; pass the heads if they are known."""
        place = self.number, part
        return await Builder.opened(self._connection, self._log, place, heads)

    async def finish(self, builder: "Builder") -> bool:
        """Derive the rest and make it current; False if that is too much."""
        connection = self._connection
        async with connection.transaction():
            await HOLD_HEAD.execute(connection, log=self._log)
            size: int = await READ_SIZE.fetch_value(connection, log=self._log)
            if size - builder.built_to > LAST_MAX:
                return False
            await HOLD_PARTS.execute(connection, derivation=self.number)
            if size > builder.built_to:
                await builder.step(size)
            await END_CURRENT.execute(connection, log=self._log, size=size)
            done = await MAKE_CURRENT.fetch_value(
                connection, log=self._log, derivation=self.number
            )
            if done is None:
                msg = f"derivation {self.number} was abandoned in the meantime"
                raise PartMovedError(msg)
        return True


class Builder:
    """Builds one part, window by window."""

    def __init__(
        self,
        connection: asyncpg.Connection,
        log: int,
        place: tuple[int, Part],
        windows: EntryWindows,
        details: DetailEncoder,
    ) -> None:
        """Take a part of a derivation."""
        self._connection = connection
        self._log = log
        self._derivation, part = place
        self._part = part.part
        self.built_to = part.built_to
        self._windows = windows
        self._details = details
        self._deriver = Deriver(windows, states_max=STATES_MAX)
        self._dimensions = Dimensions(log, beside_a_writer=True)

    @classmethod
    async def opened(
        cls,
        connection: asyncpg.Connection,
        log: int,
        place: tuple[int, Part],
        heads: dict[int, int] | None = None,
    ) -> "Builder":
        """Open a part at its place; pass the ``heads`` if they are known."""
        if heads is None:
            heads = await heads_at(connection, log, place[1].built_to)
        windows = await EntryWindows.opened(connection, log, heads)
        details = DetailEncoder(await shipped_dictionaries(connection))
        return cls(connection, log, place, windows, details)

    async def step(self, until: int) -> None:
        """Derive the next window, up to a position at most.

        Raises:
            PartMovedError: another process advanced this part.
        """
        until = min(until, self.built_to + WINDOW)
        window = await self._windows.read(self.built_to, until)
        await self._deriver.derive(window.batch)
        numbers = await self._numbers(window)
        rows = fact_rows(
            window.batch,
            numbers,
            self._details,
            derivation=self._derivation,
            recorded_at=window.recorded_at,
        )
        connection = self._connection
        async with connection.transaction():
            if window.batch.facts:
                await connection.copy_records_to_table(
                    "fact",
                    schema_name="recorder",
                    columns=FACT_COLUMNS,
                    records=rows,
                )
            moved = await MOVE_PART.fetch_value(
                connection,
                derivation=self._derivation,
                part=self._part,
                built_to=self.built_to,
                until=until,
            )
            if moved is None:
                msg = "another process derives the same part of the log"
                raise PartMovedError(msg)
        self.built_to = until

    async def _numbers(self, window: Window) -> Numbers:
        """Find or insert the names of facts, in short transactions.

        The writer waits for a transaction that inserts the same name.
        """
        connection, dimensions = self._connection, self._dimensions
        names = Names()
        name_facts(window.batch, names)
        for identity, number in window.objects().items():
            dimensions.know(identity, number)
        async with connection.transaction():
            objects = await dimensions.objects(connection, names.objects)
        return Numbers(
            nodes=await dimensions.nodes(connection, names.nodes),
            words=await dimensions.words(connection, names.words),
            objects=objects,
            resources={},
        )
