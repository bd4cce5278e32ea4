"""The cost of retention: days archived, verified and dropped.

A tape is played into days of the past by a clock that is set; then one run
archives and drops them. Rates are of one machine in one run: the archive's
relative to that of the play.
"""

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import asyncpg

from bench.measuring import Number, say, server_folder
from bench.tapes import write_tape
from recorder.keeping.playing import Playing, play_tape
from recorder.keeping.retaining import Retained, Retaining, retain
from recorder.keeping.retention.policy import Policy
from recorder.model.settings import Settings
from recorder.wiring.database import roles_sql
from tests.conftest import TEMPLATE, migrated
from tests.support.days import set_clock
from tests.support.postgres import (
    Database,
    fresh_database,
    make_template,
    start_embedded,
)

__all__ = ["bench"]

DOCUMENTS = 60_000
"""Of a day."""

DAYS = 3
OLDEST = timedelta(days=12)


@dataclass(frozen=True, slots=True)
class Taken:
    """What one run took, for all days."""

    entries: int
    playing: float
    archiving: float
    archived: Retained
    dropping: float
    dropped: Retained
    before: int
    after: int
    """Bytes of the database."""


def bench(runs: int) -> list[Number]:
    with server_folder() as folder, start_embedded(roles_sql()) as server:
        tapes = []
        for day in range(DAYS):
            tape = folder / f"{day}.tape.jsonl.zst"
            write_tape(tape, "mixed", documents=DOCUMENTS, seed=f"day {day}")
            tapes.append(tape)
        with asyncio.Runner() as runner:
            runner.run(make_template(server, TEMPLATE, migrated))
            taken = []
            for number in range(runs):

                async def once(place: Path = folder / f"a{number}") -> Taken:
                    async with fresh_database(server, TEMPLATE) as database:
                        return await _measured(database, folder, tapes, place)

                taken.append(runner.run(once()))
    return [
        Number(
            name="archive a day, entries, facts and a second reading",
            unit="entries/s",
            values=[t.entries / t.archiving for t in taken],
            best="max",
        ),
        Number(
            name="  relative to playing the same",
            unit="",
            values=[t.playing / t.archiving for t in taken],
            target=">= 5",
        ),
        Number(
            name="  bytes of an entry, with its facts",
            unit="B",
            values=[t.archived.bytes / t.entries for t in taken],
            target="<= 110",
        ),
        Number(
            name="drop: the longest that the log was locked",
            unit="s",
            values=[t.dropped.lock_seconds for t in taken],
            target="<= 2",
        ),
        Number(
            name="  a day, from what is kept to the last name",
            unit="s",
            values=[t.dropping / DAYS for t in taken],
        ),
        Number(
            name="  share of the database that is left",
            unit="%",
            values=[100 * t.after / t.before for t in taken],
        ),
    ]


async def _measured(
    database: Database, folder: Path, tapes: list[Path], place: Path
) -> Taken:
    settings = Settings(
        database_url=database.dsn("writer"), data_dir=folder / "data"
    )
    entries, began = 0, time.perf_counter()
    for day, tape in enumerate(tapes):
        await set_clock(database, timedelta(days=day) - OLDEST)
        played = await play_tape(
            Playing(path=tape, cluster="one"),
            settings,
            database.dsn("writer"),
            asyncio.Event(),
        )
        entries += played.progress.entries
    playing = time.perf_counter() - began
    await set_clock(database, timedelta())
    before = await _bytes(database)
    how = Retaining(policy=Policy(place=str(place)), drop=False)
    began = time.perf_counter()
    archived = await retain(database.dsn("retention"), how)
    archiving = time.perf_counter() - began
    began = time.perf_counter()
    how = Retaining(policy=Policy(place=str(place)))
    dropped = await retain(database.dsn("retention"), how)
    dropping = time.perf_counter() - began
    say(f"  {entries:,} entries archived at {entries / archiving:,.0f}/s")
    return Taken(
        entries=entries,
        playing=playing,
        archiving=archiving,
        archived=archived,
        dropping=dropping,
        dropped=dropped,
        before=before,
        after=await _bytes(database),
    )


async def _bytes(database: Database) -> int:
    connection = await asyncpg.connect(database.superuser_dsn())
    try:
        size: int = await connection.fetchval(
            "select pg_database_size(current_database())"
        )
    finally:
        await connection.close()
    return size
