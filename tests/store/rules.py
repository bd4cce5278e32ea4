"""What a change of `DERIVATION` changes for a log of 0.1.0 with an archive.

``python -m tests.store.rules`` restores the kept log with days in an archive,
reads it before and after it is derived anew, database and archive,
and writes the answers to `build/rules`; the differences are printed, and
belong into the commit that raises `DERIVATION`.
"""

import asyncio
import difflib
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from recorder.keeping.rederiving import Rederiving, rederive, rederive_archive
from recorder.model.settings import Settings
from recorder.wiring.database import roles_sql
from recorder.wiring.reading import open_logs
from tests.conftest import migrated
from tests.store.retained_log import restored
from tests.support.postgres import (
    Database,
    DatabaseServer,
    fresh_database,
    start_embedded,
)

__all__ = ["derived_anew"]

LOG = 2
"""Whose days were dropped; they are in the archive."""

BUILD = Path("build/rules")


async def derived_anew(database: Database, log: int) -> None:
    """Derive a log and its archive by today's rules, where others did."""
    dsn, never = database.dsn("writer"), asyncio.Event()
    await rederive(dsn, log, Rederiving(), never)
    await rederive_archive(dsn, log, never)


async def _answers(database: Database, folder: Path) -> list[str]:
    from tests.store.test_retained_release import (  # noqa: PLC0415 - it has us
        answers,
        whole,
    )

    settings = Settings(
        database_url=database.dsn("reader"), data_dir=folder / "data"
    )
    async with open_logs(settings) as logs:
        reading = await logs.read(LOG)
        found = await answers(reading, await whole(reading))
    text = msgspec.json.format(msgspec.json.encode(found, enc_hook=repr))
    return text.decode().splitlines(keepends=True)


async def _compare(server: DatabaseServer) -> None:
    async with AsyncExitStack() as stack:
        fresh = fresh_database(server)
        database = await stack.enter_async_context(fresh)
        folder = Path(stack.enter_context(TemporaryDirectory()))
        await asyncio.to_thread(restored, database, folder)
        await migrated(database)
        before = await _answers(database, folder)
        await derived_anew(database, LOG)
        after = await _answers(database, folder)
    _write("before", before)
    _write("after", after)
    sys.stdout.writelines(
        difflib.unified_diff(before, after, "before", "after")
    )


def _write(name: str, lines: list[str]) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / f"{name}.json").write_text("".join(lines))


if __name__ == "__main__":
    with start_embedded(roles_sql()) as running:
        asyncio.run(_compare(running))
