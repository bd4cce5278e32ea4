"""Many clusters in databases of their own, and a registry of them.

A few tapes are played once each; the databases are copies of those, with the
cluster of each renamed.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.conftest import migrated
from tests.corpus.logs import play, tape_of
from tests.support.postgres import (
    Database,
    DatabaseServer,
    connected,
    fresh_database,
    make_template,
)

__all__ = ["CLUSTERS", "DEAD", "fleet_of", "rename", "write_registry"]

CLUSTERS = [f"prod-{number:02}" for number in range(1, 19)]
"""Those that answer."""

DEAD = "postgresql://reader:hush@127.0.0.1:1/recorder"

TAPES = ("two-reboots", "crash", "rack-loss-jobset")
"""Their incidents lie within the same hours."""

RENAME = """
    alter table recorder.log disable trigger user;
    update recorder.log set cluster_name = '{name}',
      cluster_uid = 'uid-of-{name}', kind = '{kind}',
      tape_uid = case when '{kind}' = 'tape' then tape_uid end;
"""


@asynccontextmanager
async def fleet_of(
    servers: Sequence[DatabaseServer],
) -> AsyncIterator[dict[str, Database]]:
    """Yield a database for each cluster, on the servers in turn."""
    async with AsyncExitStack() as stack:
        for server in servers:
            for tape in TAPES:
                await make_template(server, f"fleet_{tape}", _played(tape))
        databases: dict[str, Database] = {}
        for number, name in enumerate(CLUSTERS):
            server = servers[number % len(servers)]
            tape = TAPES[number // len(servers) % len(TAPES)]
            database = await stack.enter_async_context(
                fresh_database(server, f"fleet_{tape}")
            )
            await rename(database, name)
            databases[name] = database
        yield databases


async def rename(database: Database, name: str, *, kind: str = "tape") -> None:
    """Rename the only cluster of a database."""
    async with connected(database.superuser_dsn()) as connection:
        await connection.execute(RENAME.format(name=name, kind=kind))


def _played(tape: str) -> Callable[[Database], Awaitable[None]]:
    async def prepare(database: Database) -> None:
        await migrated(database)
        await play(database.dsn("writer"), tape_of(tape), name="template")

    return prepare


def write_registry(file: Path, urls: dict[str, str]) -> Path:
    """Write a registry, and return its file."""
    lines = [f'"{name}" = "{url}"' for name, url in urls.items()]
    file.write_text("\n".join(["[clusters]", *lines]) + "\n")
    return file
