"""Thirty days with a hot window of seven: does the database stop growing?

The changes of thirty days are written by a clock that stands in the past, then
one run of retention drops what is older. The size is compared with that of
ten days, and the log is verified from its first batch on.
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import asyncpg

from bench.fleet import Change, Fleet
from bench.measuring import Number, say, server_folder
from bench.tapes import MIXES
from recorder.admin.retaining import Retaining, retain
from recorder.admin.verifying import Verifying, verify
from recorder.intake.deriving import Deriver
from recorder.intake.ledger import Ledger
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.model.observation import WatchFrame
from recorder.model.reference import Resource
from recorder.retention.policy import Policy
from recorder.store.engine import make_engine
from recorder.store.read_logs import read_logs
from recorder.store.writer import LogSpec, Writer
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

DOCUMENTS = 20_000
"""Of a day."""

DAYS = 30
BATCH = 1_000
HOT = timedelta(days=7)
SPEC = LogSpec(
    cluster_name="thirty-days",
    cluster_uid="thirty-days",
    kubernetes="v1.36.3",
    redaction_key_id=None,
)
SETTLED = 10
"""Days after which nothing more should be added: the hot ones, the day that
answers look back, and those that are under way."""


def bench(runs: int) -> list[Number]:
    del runs  # thirty days are many
    with (
        server_folder() as folder,
        start_embedded(roles_sql()) as server,
        asyncio.Runner() as runner,
    ):
        runner.run(make_template(server, TEMPLATE, migrated))

        async def lived(days: int) -> tuple[int, bool]:
            async with fresh_database(server, TEMPLATE) as database:
                return await _lived(database, folder / str(days), days)

        few, _ = runner.run(lived(SETTLED))
        many, proven = runner.run(lived(DAYS))
    return [
        Number(
            name=f"database after {DAYS} days",
            unit="MiB",
            values=[many / (1 << 20)],
        ),
        Number(
            name=f"  relative to that after {SETTLED} days",
            unit="",
            values=[many / few],
            target="<= 1.1",
        ),
        Number(
            name="  proven from the first batch to the last",
            unit="",
            values=[float(proven)],
            target=">= 1",
        ),
    ]


async def _lived(
    database: Database, archive: Path, days: int
) -> tuple[int, bool]:
    """Live some days; return the size, and whether the log is proven.

    One fleet goes on from day to day: its Pods come and go.
    """
    dsn = database.dsn("writer")
    changes = Fleet("thirty days").changes(MIXES["mixed"])
    for day in range(days):
        ago = timedelta(days=days - day)
        await set_clock(database, -ago)
        await _append(dsn, islice(changes, DOCUMENTS), ago)
    await set_clock(database, timedelta())
    policy = Policy(hot=HOT, place=str(archive))
    done = await retain(database.dsn("retention"), Retaining(policy=policy))
    size = await _bytes(database)
    say(
        f"  {days} days, {len(done.dropped)} of them dropped:"
        f" {size / (1 << 20):,.0f} MiB"
    )
    engine = make_engine(database.dsn("reader"))
    (log,) = await read_logs(engine)
    await engine.dispose()
    found = await verify(dsn, log, Verifying(), asyncio.Event())
    return size, found.ok and found.size > days * DOCUMENTS / 2


async def _append(dsn: str, changes: Iterable[Change], ago: timedelta) -> None:
    """Write what a day saw, as intake does, by the clock of that day."""
    writer = Writer(dsn, SPEC, holder="thirty days")
    ledger = Ledger(await writer.take_lease())
    sequencer = Sequencer(ledger, Relisting(ledger))
    deriver = Deriver(writer)
    for change in changes:
        frame = WatchFrame(
            observed_at=datetime.now(UTC) - ago,
            resource=Resource.parse(change.resource),
            type=change.type,
            object=change.document,
        )
        sequencer.take(frame)
        if ledger.entries >= BATCH:
            await _commit(writer, deriver, sequencer)
    await _commit(writer, deriver, sequencer)
    await writer.close()


async def _commit(
    writer: Writer, deriver: Deriver, sequencer: Sequencer
) -> None:
    batch = sequencer.seal()
    await deriver.derive(batch)
    await writer.append(batch)


async def _bytes(database: Database) -> int:
    connection = await asyncpg.connect(database.superuser_dsn())
    try:
        size: int = await connection.fetchval(
            "select pg_database_size(current_database())"
        )
    finally:
        await connection.close()
    return size
