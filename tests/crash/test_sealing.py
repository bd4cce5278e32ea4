"""Logs that an older release wrote are sealed, whatever is killed."""

import asyncio
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import asyncpg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)

from recorder.keeping.checkpointing import NotSealedError, make_checkpoint
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify
from recorder.store.long_work import connect_to
from recorder.store.read_batches import read_end
from recorder.store.sealing import seal
from tests.crash.writes import on_the_wire
from tests.support.cut_proxy import cut_proxy
from tests.support.postgres import Database
from tests.tampering.story import record, the_log

LOG = the_log(1)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
NOW = datetime(2026, 11, 24, tzinfo=UTC)

SEALING = {"sealing.SEAL", "sealing.SET_PEAKS"}

BROKEN = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)

OLDER = """
    alter table recorder.batch disable trigger all;
    update recorder.batch set root = null, tree = null where log_id = 1;
    update recorder.log_head set peaks = null where log_id = 1;
    alter table recorder.batch enable always trigger append_only;
"""


async def older(database: Database) -> None:
    """Write a log, and leave it as a release without hashes would have."""
    await record(database.dsn("writer"))
    connection = await asyncpg.connect(database.superuser_dsn())
    await connection.execute(OLDER)
    await connection.close()


async def test_the_first_verification_seals_an_older_log(
    database: Database,
) -> None:
    await older(database)
    connection = await connect_to(database.dsn("writer"))
    with pytest.raises(NotSealedError, match="recorder verify"):
        await make_checkpoint(connection, 1, KEY, [], NOW)
    await connection.close()

    first = await verify(
        database.dsn("writer"), LOG, Verifying(), asyncio.Event()
    )
    assert first.ok
    assert first.sealed == first.batches
    second = await verify(
        database.dsn("writer"), LOG, Verifying(), asyncio.Event()
    )
    assert second.ok
    assert second.sealed == 0
    assert second.root == first.root


async def test_a_writer_goes_on_from_what_was_sealed(
    database: Database,
) -> None:
    await older(database)
    await verify(database.dsn("writer"), LOG, Verifying(), asyncio.Event())
    await record(database.dsn("writer"))  # more of the same log
    found = await verify(
        database.dsn("writer"), LOG, Verifying(), asyncio.Event()
    )
    assert found.ok
    assert found.sealed == 0


async def test_an_older_log_with_an_entry_missing_is_not_sealed(
    database: Database,
) -> None:
    await older(database)
    connection = await asyncpg.connect(database.superuser_dsn())
    await connection.execute(
        "alter table recorder.entry disable trigger all;"
        "delete from recorder.entry where log_id = 1 and position = 7"
    )
    await connection.close()
    found = await verify(
        database.dsn("writer"), LOG, Verifying(), asyncio.Event()
    )
    assert (found.problems[0].kind, found.problems[0].position) == (
        "entry-missing",
        7,
    )
    assert found.sealed == 0


@pytest.mark.parametrize("fate", ["lost", "silent"])
@pytest.mark.parametrize("write", sorted(SEALING))
async def test_a_log_that_was_half_sealed_is_sealed(
    database: Database, write: str, fate: Literal["lost", "silent"]
) -> None:
    await older(database)
    with tempfile.TemporaryDirectory(prefix="rec-") as folder:
        async with cut_proxy(database.dsn("writer"), Path(folder)) as proxy:
            connection = await connect_to(proxy.dsn)
            proxy.at, proxy.fate = on_the_wire(write), fate
            with pytest.raises(BROKEN):
                await seal(connection, await read_end(connection, 1))
            assert proxy.cuts == 1
            connection.terminate()
    found = await verify(
        database.dsn("writer"), LOG, Verifying(), asyncio.Event()
    )
    assert found.ok
    assert found.root is not None
