"""The facts of a log as the database holds them, and tapes that make some."""

import asyncio
from pathlib import Path
from typing import Any

from recorder.keeping.playing import Playing, play_tape
from recorder.keeping.rederiving import Rederived, Rederiving, rederive
from recorder.model.settings import Settings
from tests.support.postgres import Database, connected

__all__ = ["ask", "current_facts", "derive_anew", "facts_of", "play"]

FACTS = """
    select f.recorded_at, f.at, f.observed_at, f.position, f.index,
      f.object_id, f.owner_id, f.node_id, f.actor_id, f.topic_id, f.kind,
      f.bearing, f.mark, f.value, f.place, f.labels, f.keys, f.owners,
      f.detail
    from recorder.fact f where f.derivation_id = $1
    order by f.position, f.index
"""
CURRENT = """
    select derivation_id from recorder.derivation
    where log_id = $1 and state = 'current'
"""


async def ask(database: Database, question: str, *given: Any) -> Any:
    """Ask for one value, or do one thing, as a superuser."""
    async with connected(database.superuser_dsn()) as connection:
        return await connection.fetchval(question, *given)


async def facts_of(database: Database, derivation: int) -> list[Any]:
    """Return the facts of a derivation, row by row."""
    async with connected(database.superuser_dsn()) as connection:
        return [tuple(r) for r in await connection.fetch(FACTS, derivation)]


async def current_facts(database: Database, log: int = 1) -> list[Any]:
    """Return the facts that answers are made from."""
    return await facts_of(database, await ask(database, CURRENT, log))


async def play(database: Database, tape: Path, folder: Path) -> None:
    """Play a tape into a log of its own."""
    await play_tape(
        Playing(path=tape),
        Settings(data_dir=folder),
        database.dsn("writer"),
        asyncio.Event(),
    )


async def derive_anew(
    database: Database, log: int = 1, *, many: int = 50_000
) -> Rederived:
    """Derive a log anew, whatever there is; in parts if it is many."""
    return await rederive(
        database.dsn("writer"),
        log,
        Rederiving(again=True, processes=2, many=many),
        asyncio.Event(),
    )
