"""Thirty days with a hot window of seven: does the database stop growing?

The changes of each day are written by a clock in the past, and at its end
retention runs as it would have then. The fleet does not grow: objects that
ended are deleted after a while. Finally the log is verified from its first
batch on, and queried why a node restarted on the second day.
"""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path

import asyncpg
import orjson

from bench.fleet import Fleet
from bench.measuring import Number, say, server_folder
from bench.struck import incident, truth_of
from bench.tapes import MIXES, frame
from recorder.answers.node_questions import WhyQuestion
from recorder.answers.why import ask_why
from recorder.explain.knowledge import load
from recorder.keeping.retaining import Retaining, retain
from recorder.keeping.retention.policy import Policy
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify
from recorder.model.observation import ListPage, WatchFrame
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.store.engine import make_engine
from recorder.store.read_logs import read_logs
from recorder.store.writer import LogSpec
from recorder.wiring.database import roles_sql
from recorder.wiring.reading import open_logs
from tests.conftest import TEMPLATE, migrated
from tests.support.days import set_clock
from tests.support.postgres import (
    Database,
    DatabaseServer,
    fresh_database,
    make_template,
    start_embedded,
)
from tests.support.written_log import WrittenLog

__all__ = ["bench"]

DOCUMENTS = 20_000
"""Of a day."""

NODES = 100
"""Each with as many changes as where 5,000 have a million a day."""

DAYS = 30
BATCH = 1_000
HOT = timedelta(days=7)
ENDED_MAX = 2_000
"""Of the objects that came to their end, those that still exist."""

SPEC = LogSpec(
    cluster_name="thirty-days",
    cluster_uid="thirty-days",
    kubernetes="v1.36.3",
    redaction_key_id=None,
)
SETTLED = 10
"""Days after which nothing more should be added: the hot ones, the day that
answers look back, and the one that is under way."""

STRUCK = 2
"""The day of the incident."""


def bench(runs: int) -> list[Number]:
    del runs  # thirty days are many
    with (
        server_folder() as folder,
        start_embedded(roles_sql()) as server,
        asyncio.Runner() as runner,
    ):
        runner.run(make_template(server, TEMPLATE, migrated))
        return runner.run(_measured(server, folder))


async def _measured(server: DatabaseServer, folder: Path) -> list[Number]:
    async with fresh_database(server, TEMPLATE) as database:
        settings = Settings(
            data_dir=folder, database_url=database.dsn("reader")
        )
        sizes, verdicts = await _lived(database, settings)
        engine = make_engine(database.dsn("reader"))
        (log,) = await read_logs(engine)
        await engine.dispose()
        found = await verify(
            database.dsn("writer"), log, Verifying(), asyncio.Event()
        )
        proven = found.ok and found.size > DAYS * DOCUMENTS / 2
        again = await _why(settings)
        is_right = again == verdicts and again[-1][0] == truth_of(0).happened
    settled = [size / (1 << 20) for size in sizes[SETTLED - 1 :]]
    return [
        Number(
            name=f"database at the end of days {SETTLED} to {DAYS}",
            unit="MiB",
            values=settled,
        ),
        Number(
            name=f"  relative to that of day {SETTLED}, at most",
            unit="",
            values=[size / settled[0] for size in settled],
            target="<= 1.1",
            best="max",
        ),
        Number(
            name="  proven from the first batch to the last",
            unit="",
            values=[float(proven)],
            target=">= 1",
        ),
        Number(
            name=f"  why on day {STRUCK} is right, before and after",
            unit="",
            values=[float(is_right)],
            target=">= 1",
        ),
    ]


async def _lived(
    database: Database, settings: Settings
) -> tuple[list[int], list[tuple[str, str]]]:
    """Live thirty days.

    Returns the size of the database after each, and what was answered on the
    day of the incident.
    """
    dsn = database.dsn("writer")
    sizes, verdicts = list[int](), list[tuple[str, str]]()
    place = settings.data_dir / "archive"
    fleet = Fleet(
        "thirty days",
        nodes=NODES,
        began=datetime.now(UTC) - timedelta(days=DAYS + 1),
        pace=timedelta(days=1) / DOCUMENTS,
        ended_max=ENDED_MAX,
    )
    changes = fleet.changes(MIXES["mixed"])
    for day in range(1, DAYS + 1):
        # What happened in a day is written at its end.
        ago = timedelta(days=DAYS - day, hours=1)
        await set_clock(database, -ago, ("writer", "retention"))
        frames = map(frame, islice(changes, DOCUMENTS))
        struck = _struck() if day == STRUCK else ()
        await _append(dsn, chain(frames, struck))
        policy = Policy(hot=HOT, place=str(place))
        done = await retain(
            database.dsn("retention"), Retaining(policy=policy)
        )
        sizes.append(await _bytes(database))
        say(
            f"  day {day}: {len(done.archived)} archived,"
            f" {len(done.dropped)} dropped, {sizes[-1] / (1 << 20):,.0f} MiB"
        )
        if day == STRUCK:
            verdicts = await _why(settings)
    await set_clock(database, timedelta())
    return sizes, verdicts


def _struck() -> Iterator[WatchFrame]:
    """Yield what is seen of an incident on its day.

    What was there when its tape begins is new to this fleet.
    """
    began = datetime.now(UTC) - timedelta(days=DAYS - STRUCK, hours=2)
    for seen in incident(0, began):
        if isinstance(seen, WatchFrame):
            yield seen
        elif isinstance(seen, ListPage):
            for item in seen.items:
                yield WatchFrame(
                    observed_at=seen.observed_at,
                    resource=seen.resource,
                    type="ADDED",
                    object=_whole(item, seen),
                )


def _whole(item: bytes, page: ListPage) -> bytes:
    """Return an item of a list as a watch shows it."""
    made = {"apiVersion": page.resource.api_version, "kind": page.kind}
    return orjson.dumps(made | orjson.loads(item))


async def _why(settings: Settings) -> list[tuple[str, str]]:
    """Query what happened to the node of the incident."""
    until = datetime.now(UTC) - timedelta(days=DAYS - STRUCK)
    window = Window(until - timedelta(hours=6), until)
    question = WhyQuestion(node=truth_of(0).node, window=window)
    async with open_logs(settings) as logs:
        found = await ask_why(
            await logs.read(1), question, load(()), now=until
        )
    return [(one.happened.value, one.sentence) for one in found.verdicts]


async def _append(dsn: str, frames: Iterable[WatchFrame]) -> None:
    """Write what a day saw, as intake does, by the clock of that day."""
    day = WrittenLog(dsn, SPEC)
    await day.lease()
    for seen in frames:
        if day.take(seen) >= BATCH:
            await day.append()
    await day.append()
    await day.end()


async def _bytes(database: Database) -> int:
    connection = await asyncpg.connect(database.superuser_dsn())
    try:
        size: int = await connection.fetchval(
            "select pg_database_size(current_database())"
        )
    finally:
        await connection.close()
    return size
