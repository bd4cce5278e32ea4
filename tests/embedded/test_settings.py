"""How the server is configured, and how it bounds what it writes."""

from pathlib import Path

import asyncpg
import pytest

from recorder.embedded.bootstrap import address
from recorder.embedded.folder import DataFolder
from recorder.embedded.passwords import SUPERUSER, read_passwords
from recorder.embedded.server import EmbeddedServer, ServerOptions
from tests.embedded.command import OPTIONS, ROLES_SQL
from tests.embedded.running import ask, eventually, one_identity

_PROMISED = {
    "fsync": "on",
    "synchronous_commit": "on",
    "data_checksums": "on",
    "listen_addresses": "",
    "password_encryption": "scram-sha-256",
    "max_connections": "60",
    "timezone": "UTC",
    "server_encoding": "UTF8",
}
_LOG_BYTES = 17 * 1024 * 1024


@one_identity
async def test_the_server_is_set_as_we_promise(folder: Path) -> None:
    async with EmbeddedServer.open(
        folder, roles_sql=ROLES_SQL, options=OPTIONS
    ) as server:
        found = {
            name: await ask(server.dsn("reader"), f"SHOW {name}")
            for name in _PROMISED
        }

    assert found == _PROMISED


@one_identity
async def test_options_reach_the_server(folder: Path) -> None:
    options = ServerOptions(
        shared_buffers="24MB", settings={"work_mem": "5MB"}
    )
    async with EmbeddedServer.open(
        folder, roles_sql=ROLES_SQL, options=options
    ) as server:
        dsn = server.dsn("reader")

        assert await ask(dsn, "SHOW shared_buffers") == "24MB"
        assert await ask(dsn, "SHOW work_mem") == "5MB"


@one_identity
async def test_no_client_connects_without_the_password(folder: Path) -> None:
    async with EmbeddedServer.open(
        folder, roles_sql=ROLES_SQL, options=OPTIONS
    ) as server:
        rules = "SELECT string_agg(auth_method, ' ') FROM pg_hba_file_rules"
        wrong = server.dsn("writer").replace("@", "x@")

        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(wrong)
        assert await ask(_superuser(server), rules) == "scram-sha-256"


@one_identity
async def test_a_large_log_is_emptied_with_one_copy_kept(
    folder: Path,
) -> None:
    log = DataFolder.at(folder).log
    async with EmbeddedServer.open(
        folder, roles_sql=ROLES_SQL, options=OPTIONS
    ):
        with log.open("r+b") as file:
            file.truncate(_LOG_BYTES)

        eventually(lambda: log.stat().st_size < _LOG_BYTES)
        assert log.with_name("postgres.log.1").stat().st_size == _LOG_BYTES


def _superuser(server: EmbeddedServer) -> str:
    passwords = read_passwords(DataFolder.at(server.folder).passwords)
    return address(server.socket_folder, passwords, name=SUPERUSER)
