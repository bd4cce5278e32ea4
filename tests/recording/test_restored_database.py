"""PostgreSQL restored from an older backup: what is recorded again, and what
is reported.

With the dump and restore of Debian's PostgreSQL 15, a real cluster, and the
recorder as its least role.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest

from recorder.intake.walking import WATCH_EXPIRED
from recorder.model.entry import Operation
from recorder.model.moment import written
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.conftest import TEMPLATE
from tests.support.postgres import (
    Database,
    DatabaseServer,
    connected,
    debian_binaries,
    fresh_database,
)
from tests.support.read_log import WholeLog
from tests.support.recorded import Recorded

pytestmark = pytest.mark.timeout(240)

NAMESPACES = "v1/namespaces"


@pytest.fixture
async def debian_database(
    debian_server: DatabaseServer,
) -> AsyncIterator[Database]:
    async with fresh_database(debian_server, TEMPLATE) as fresh:
        yield fresh


async def test_what_the_cluster_still_holds_is_recorded_again(
    tmp_path: Path, debian_database: Database
) -> None:
    """The backup's resume points are of the moment of its entries."""
    async with being_recorded(tmp_path, debian_database) as recorded:
        await backed_up(recorded, debian_database, tmp_path)
        before = await recorded.log()
        await recorded.stop()
        await restore(debian_database, tmp_path)
        await recorded.start()
        done = await make(recorded, "after-the-restore")
        await recorded.until_seen(done, NAMESPACES)
        await recorded.settle()
        await recorded.stop()

        after = await recorded.log()
        assert await recorded.differences(through=done) == []
        assert await recorded.gap_reasons() == []
        assert namespaces(after) >= namespaces(before)


async def test_what_the_cluster_no_longer_holds_is_a_gap(
    tmp_path: Path, debian_database: Database
) -> None:
    """It begins where the backup ends."""
    async with being_recorded(tmp_path, debian_database) as recorded:
        await backed_up(recorded, debian_database, tmp_path)
        await recorded.stop()
        cluster = recorded.cluster
        await cluster.compact()
        await cluster.api_server.kill()
        await cluster.api_server.start()
        await restore(debian_database, tmp_path)
        kept = await recorded.log()
        await recorded.start()
        done = await make(recorded, "after-the-restore")
        await recorded.until_seen(done, NAMESPACES)
        await recorded.until_listed()
        await recorded.settle()
        await recorded.stop()

        assert await recorded.differences(through=done) == []
        assert (NAMESPACES, WATCH_EXPIRED) in await recorded.gap_reasons()
        begins = kept.recovered.streams["watch", NAMESPACES].vouched_until
        opened = [
            orjson.loads(draft.raw)["from"]
            for _, draft in (await recorded.log()).entries
            if draft.operation is Operation.GAP_OPENED
            and draft.resource == NAMESPACES
        ]
        assert begins is not None
        assert opened == [written(begins)]
        assert {"lost", "after-the-restore"} <= namespaces(
            await recorded.log()
        )


async def test_a_recorder_that_runs_meanwhile_reads_the_log_anew(
    tmp_path: Path, debian_database: Database
) -> None:
    """Its memory is ahead of the log, and nothing of it is written."""
    async with being_recorded(tmp_path, debian_database) as recorded:
        await backed_up(recorded, debian_database, tmp_path)
        await restore(debian_database, tmp_path)
        done = await make(recorded, "after-the-restore")
        await recorded.until_seen(done, NAMESPACES)
        await recorded.settle()
        await recorded.stop()

        assert await recorded.differences(through=done) == []
        assert {"lost", "after-the-restore"} <= namespaces(
            await recorded.log()
        )


@asynccontextmanager
async def being_recorded(
    folder: Path, database: Database
) -> AsyncIterator[Recorded]:
    options = Options(scheduler=False, etcd_compaction_interval="0")
    async with Cluster.start(folder / "cluster", options) as cluster:
        recorded = await Recorded.begun(cluster, database, folder)
        yield recorded


async def make(recorded: Recorded, name: str) -> int:
    await recorded.cluster.kubectl("create", "namespace", name)
    version = await recorded.cluster.kubectl(
        "get", "namespace", name, "-o", "jsonpath={.metadata.resourceVersion}"
    )
    return int(version)


async def backed_up(
    recorded: Recorded, database: Database, folder: Path
) -> None:
    """Dump the database while it is written; then record some more."""
    kept = await make(recorded, "kept")
    await recorded.until_seen(kept, NAMESPACES)
    await run(
        "pg_dump",
        "--format=custom",
        f"--file={folder / 'backup'}",
        f"--dbname={database.superuser_dsn()}",
    )
    lost = await make(recorded, "lost")
    await recorded.until_seen(lost, NAMESPACES)


async def restore(database: Database, folder: Path) -> None:
    """Put the backup in the place of the database, despite connections."""
    async with connected(database.server.superuser_dsn("postgres")) as admin:
        await admin.execute(f'drop database "{database.name}" with (force)')
        await admin.execute(
            f'create database "{database.name}" template template0'
            " connection limit 0"
        )
        await run(
            "pg_restore",
            "--exit-on-error",
            f"--dbname={database.superuser_dsn()}",
            str(folder / "backup"),
        )
        await admin.execute(
            f'alter database "{database.name}" connection limit -1'
        )


async def run(program: str, *arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(
        debian_binaries().program(program),
        *arguments,
        env={**os.environ, "PGCONNECT_TIMEOUT": "10"},
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await process.communicate()
    assert process.returncode == 0, said.decode()


def namespaces(log: WholeLog) -> set[str]:
    """Name the namespaces that a log has seen."""
    return {
        draft.identity.name
        for _, draft in log.entries
        if draft.identity is not None and draft.identity.kind == "Namespace"
    }
