"""Retention and holds in the database of the settings.

A run leaves notices; the process that records takes them up as entries. Where
none does, the log is written for a moment by this process.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from recorder.keeping.budget import policy_of
from recorder.keeping.registry import located
from recorder.keeping.retaining import (
    Retained,
    check_place,
    deliver,
    how_to_retain,
    retain,
)
from recorder.model.hold import Hold, NewHold, Placed
from recorder.model.settings import Settings
from recorder.store.engine import make_engine
from recorder.store.holds import add_hold, lift_hold, list_holds
from recorder.store.read_database import database_facts
from recorder.wiring.database import Database, open_database


async def retain_now(
    settings: Settings,
    *,
    drop: bool,
    dry: bool = False,
    on_progress: Callable[[str, int, int], None] = lambda *_: None,
    on_wait: Callable[[str], None] | None = None,
) -> Retained:
    """Make one run, and see that its notices become entries.

    Raises:
        RecorderError: what failed first.
    """
    policy_of(settings)
    check_place(settings)
    async with open_database(settings, on_wait=on_wait) as database:
        size = await _database_bytes(database)
        how = how_to_retain(settings, size, drop=drop, dry=dry)
        try:
            return await retain(
                database.dsn("retention"),
                replace(how, on_progress=on_progress),
            )
        finally:
            if not dry:
                await deliver(settings, database.dsn("writer"))


async def place_hold(settings: Settings, hold: NewHold) -> Placed:
    """Place a hold, in the database of its log.

    Raises:
        RegistryError: which of several databases is meant is not said.
    """
    settings = located(settings, hold.log)
    async with open_database(settings) as database:
        placed = await add_hold(database.dsn("retention"), hold)
        await deliver(settings, database.dsn("writer"))
        return placed


async def lift(settings: Settings, number: int, *, who: str, why: str) -> None:
    """Lift a hold.

    Raises:
        RegistryError: which of several databases is meant is not said.
    """
    settings = located(settings)
    async with open_database(settings) as database:
        await lift_hold(database.dsn("retention"), number, who=who, why=why)
        await deliver(settings, database.dsn("writer"))


async def holds_of(settings: Settings) -> Sequence[Hold]:
    """Return every hold of a database.

    Raises:
        RegistryError: which of several is meant is not said.
    """
    async with open_database(located(settings)) as database:
        return await list_holds(database.dsn("retention"))


async def _database_bytes(database: Database) -> int:
    engine = make_engine(database.dsn("reader"))
    try:
        return (await database_facts(engine)).bytes
    finally:
        await engine.dispose()
