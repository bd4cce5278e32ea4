"""The crash matrix of the schema: a migration is killed at any message.

A process is killed right after it said something to the server, from the first
migration to the last. What is found then is the schema as one of the
migrations leaves it, all of it, as `pg_dump` writes it, and the next process
comes to the last: it is let live once after each schema that was found, since
it sees nothing of how its predecessor died. Every commit of a migration is
died at, and of the other messages each commit of ours another sample; ``make
scenarios`` dies at all.
"""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from recorder.embedded.binaries import find_binaries
from recorder.store.engine import make_engine
from recorder.store.schema import migrate
from tests.crash.failpoints import Failpoints, Kill
from tests.crash.statements import StatementLoop, watch_statements
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.support.sampling import sampled

MIGRATIONS = Path(__file__).parents[2] / "migrations"
DEATHS = 16
"""Of a hundred messages besides commits."""


def alembic(database: Database, revision: str) -> None:
    """Bring a database to a revision, undisturbed and not by our code."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))

    def upgrade(connection: Connection) -> None:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)

    async def run() -> None:
        engine = make_engine(database.dsn("owner"))
        async with engine.connect() as connection:
            await connection.run_sync(upgrade)
        await engine.dispose()

    asyncio.run(run())


def dumped(database: Database) -> str:
    """Return the schema, and the revision that it says it has."""
    command = [
        find_binaries().program("pg_dump"),
        f"--dbname={database.superuser_dsn()}",
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    return "\n".join(
        line
        for line in said.stdout.splitlines()
        if not line.startswith(("\\restrict", "\\unrestrict"))
    )


def a_database(
    server: DatabaseServer, use: Callable[[Database], None]
) -> None:
    """Use a database that has the roles and nothing else."""
    with asyncio.Runner() as runner:
        fresh = fresh_database(server)
        database = runner.run(fresh.__aenter__())
        try:
            use(database)
        finally:
            runner.run(fresh.__aexit__(None, None, None))


def migrate_in_a_child(
    database: Database, passed: Path, kill: Kill | None
) -> int:
    """Migrate in a process that is killed at a place; return its status."""
    child = os.fork()
    if child == 0:
        _live(database, passed, kill)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _live(database: Database, passed: Path, kill: Kill | None) -> None:
    status = 1
    try:
        failpoints = Failpoints(kill)
        watch_statements(failpoints)
        with asyncio.Runner(
            loop_factory=lambda: StatementLoop(failpoints)
        ) as runner:
            runner.run(_migrate(database))
        passed.write_text(json.dumps(failpoints.passed))
        status = 0
    finally:
        os._exit(status)


async def _migrate(database: Database) -> None:
    engine = make_engine(database.dsn("owner"))
    await migrate(engine)
    await engine.dispose()


@pytest.fixture
def revisions(embedded_server: DatabaseServer) -> Mapping[str, str]:
    """Each schema that there may be between two migrations, by its dump."""
    script = ScriptDirectory(MIGRATIONS)
    steps = [step.revision for step in script.walk_revisions()]
    found: dict[str, str] = {}

    def remember(database: Database) -> None:
        found[dumped(database)] = "nothing"
        for revision in reversed(steps):
            alembic(database, revision)
            found[dumped(database)] = revision

    a_database(embedded_server, remember)
    assert [*found.values()] == ["nothing", *reversed(steps)]
    return found


def kills_of(passed: Path) -> Iterator[Kill]:
    """Yield every message: what follows its answer is the next message.

    A statement that was only prepared has changed nothing.
    """
    for place, count in json.loads(passed.read_text()).items():
        moment = place.rpartition(", ")[2]
        if moment.startswith("sent ") and moment != "sent P":
            yield from (Kill(place, number + 1) for number in range(count))


@pytest.mark.timeout(300)
def test_a_schema_is_of_one_migration_or_of_the_next(
    embedded_server: DatabaseServer,
    revisions: Mapping[str, str],
    tmp_path: Path,
) -> None:
    passed = tmp_path / "passed"
    *_, last = revisions.values()
    seen: dict[str, str] = {}

    def die(database: Database, kill: Kill) -> None:
        status = migrate_in_a_child(database, tmp_path / "again", kill)
        assert status == -signal.SIGKILL, kill
        left = dumped(database)
        found = revisions.get(left, "nothing" if _is_empty(left) else "torn")
        assert found != "torn", (kill, left)
        if left in seen:
            return
        seen[left] = found
        assert migrate_in_a_child(database, tmp_path / "again", None) == 0
        assert revisions[dumped(database)] == last, kill

    def live(database: Database) -> None:
        assert migrate_in_a_child(database, passed, None) == 0

    a_database(embedded_server, live)
    first, *others = kills_of(passed)
    commits = [kill for kill in others if kill.place.startswith("COMMIT;")]
    others = [kill for kill in others if kill not in commits]
    assert len(others) > 40
    for kill in [first, *commits, *sampled("migrating", others, DEATHS)]:
        a_database(embedded_server, partial(die, kill=kill))

    found = {*seen.values()}
    assert found == set(revisions.values()), "each was died after"


def _is_empty(dump: str) -> bool:
    """Return whether there is no more than the schema's own name."""
    made = [s for s in dump.split("\n") if s.startswith("CREATE ")]
    return made in ([], ["CREATE SCHEMA recorder;"])
