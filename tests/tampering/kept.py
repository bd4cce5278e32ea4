"""A log with an archive and checkpoints in places, copied for each test.

Days were archived of it, and it was signed while it grew.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg

from recorder.facts.coverage.ports import Log
from recorder.integrity.verified import Verified
from recorder.keeping.integrity import checkpoint_of, missing_logs, verified
from recorder.keeping.retaining import Retaining, retain
from recorder.keeping.retention.policy import Policy
from recorder.keeping.verifying import Verifying
from recorder.model.settings import Settings
from tests.conftest import TEMPLATE
from tests.support.days import owner, write_days, write_statements
from tests.support.postgres import Database, DatabaseServer, fresh_database

__all__ = ["KeptLog", "a_copy", "kept_log", "unguarded"]

LOG = Log(
    id=1,
    kind="live",
    cluster_name="test",
    cluster_uid="",
    kubernetes="",
    size=0,
    recorded_at=None,
    holder=None,
)


GUARDS = """
    select t.tgrelid::regclass::text as name, quote_ident(t.tgname) as guard
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'recorder'::regnamespace and t.tgenabled = 'A'
      and t.tgparentid = 0
"""


@asynccontextmanager
async def unguarded(database: Database) -> AsyncIterator[asyncpg.Connection]:
    """Connect as a superuser whom no trigger stops, and who leaves no trace.

    Nor do foreign keys.
    """
    async with owner(database) as connection:
        await connection.execute("set session_replication_role = replica")
        guards = await connection.fetch(GUARDS)
        for name, guard in guards:
            await connection.execute(
                f"alter table {name} disable trigger {guard}"
            )
        yield connection
        for name, guard in guards:
            await connection.execute(
                f"alter table {name} enable always trigger {guard}"
            )


@dataclass(frozen=True, slots=True)
class KeptLog:
    """A log, where its checkpoints are, and where its archive is."""

    database: Database
    settings: Settings
    archive: Path

    @property
    def dsn(self) -> str:
        return self.database.dsn("writer")

    @property
    def uid(self) -> str:
        (folder,) = self.archive.iterdir()
        return folder.name

    @property
    def notes(self) -> Path:
        """The folder of its checkpoints in the first place."""
        return Path(self.settings.checkpoint_places[0]) / self.uid

    async def problems(self, how: Verifying | None = None) -> dict[str, str]:
        """Verify it; return the problems by kind."""
        found: Sequence[Verified] = await missing_logs(
            self.settings, self.database.dsn("reader")
        )
        async with owner(self.database) as connection:
            here = await connection.fetchval(
                "select count(*) from recorder.log"
            )
        if here:
            done = await verified(
                self.settings,
                self.dsn,
                LOG,
                how or Verifying(),
                asyncio.Event(),
            )
            found = [*found, done]
        return {
            problem.kind: problem.says
            for one in found
            for problem in one.problems
        }

    async def tamper(self, *statements: str) -> None:
        """Edit it as a superuser whom no trigger stops."""
        async with unguarded(self.database) as connection:
            for statement in statements:
                await connection.execute(statement)


@contextmanager
def kept_log(server: DatabaseServer, folder: Path) -> Iterator[KeptLog]:
    """Make one, to be copied."""
    settings = Settings(
        data_dir=folder / "data",
        database_url="postgresql://external",
        checkpoint_places=(str(folder / "kept"), str(folder / "elsewhere")),
    )
    settings.data_dir.mkdir()

    async def fill(database: Database) -> None:
        await write_days(database, 1)
        for ago in (5, 3, 2):
            await write_statements(database, ago)
            await checkpoint_of(settings, database.dsn("writer"), 1)
        policy = Policy(place=str(folder / "archive"))
        await retain(
            database.dsn("retention"), Retaining(policy=policy, drop=False)
        )

    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        fresh = fresh_database(server, TEMPLATE)
        database = runner.run(stack.enter_async_context(fresh))
        runner.run(fill(database))
        yield KeptLog(database, settings, folder / "archive")
        runner.run(stack.aclose())


@asynccontextmanager
async def a_copy(made: KeptLog, folder: Path) -> AsyncIterator[KeptLog]:
    """Yield one that a test may spoil.

    The archive stays where the database says; it is put back.
    """
    root = made.archive.parent
    for name in ("data", "kept", "elsewhere"):
        shutil.copytree(root / name, folder / name)
    shutil.copytree(made.archive, folder / "archive")
    settings = replace(
        made.settings,
        data_dir=folder / "data",
        checkpoint_places=(str(folder / "kept"), str(folder / "elsewhere")),
    )
    server, name = made.database.server, made.database.name
    async with fresh_database(server, name) as database:
        # Places are noted by their address, and are elsewhere here.
        copy = KeptLog(database, settings, made.archive)
        await copy.tamper(
            "update recorder.checkpoint set places ="
            f" array['{settings.checkpoint_places[0]}',"
            f" '{settings.checkpoint_places[1]}']"
        )
        try:
            yield copy
        finally:
            shutil.rmtree(made.archive)
            shutil.copytree(folder / "archive", made.archive)
