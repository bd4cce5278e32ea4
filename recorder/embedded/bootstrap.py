"""What must exist inside the server before a command can use it.

The database ``recorder``, the group roles (from the caller's SQL text) and one
login role for each of them. Every command checks this with one query; the
first after a change of text or passwords creates it. After a crash in between,
the next command repeats it.
"""

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import asyncpg

from recorder.embedded.passwords import SUPERUSER, Role, login_role
from recorder.embedded.socket_folder import PORT

DATABASE = "recorder"

_CONNECT_SECONDS = 10.0
_STATEMENT_SECONDS = 60.0

_LOCK = 0x7265_636F
"""Advisory lock key: the bytes of ``reco``. Without it, two commands could
create the database at the same time."""


def address(
    socket_folder: Path,
    passwords: Mapping[str, str],
    *,
    name: str,
    database: str = DATABASE,
) -> str:
    """Return a role's address of the database, including its password."""
    host = quote(str(socket_folder), safe="")
    return (
        f"postgresql://{name}:{passwords[name]}@/{database}"
        f"?host={host}&port={PORT}"
    )


async def ensure_roles(
    socket_folder: Path, passwords: Mapping[str, str], *, roles_sql: str
) -> str:
    """Create the database and its roles; return the version.

    Errors of the driver are raised unchanged: the caller knows whether to
    wait.
    """
    wanted = _fingerprint(passwords, roles_sql)
    async with _connect(
        socket_folder, passwords, database="postgres"
    ) as connection:
        version = str(connection.get_settings().server_version)
        if await _found(connection) == wanted:
            return version
        await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
        if not await connection.fetchval(
            "SELECT true FROM pg_database WHERE datname = $1", DATABASE
        ):
            await connection.execute(f"CREATE DATABASE {DATABASE}")
        async with _connect(
            socket_folder, passwords, database=DATABASE
        ) as inside:
            await _make_roles(inside, passwords=passwords, roles_sql=roles_sql)
            await inside.execute(
                f"COMMENT ON DATABASE {DATABASE} IS '{wanted}'"
            )
    return version


def _fingerprint(passwords: Mapping[str, str], roles_sql: str) -> str:
    text = json.dumps([dict(passwords), roles_sql], sort_keys=True)
    return f"roles {hashlib.sha256(text.encode()).hexdigest()}"


async def _found(connection: asyncpg.Connection) -> str | None:
    found: str | None = await connection.fetchval(
        "SELECT shobj_description(oid, 'pg_database')"
        " FROM pg_database WHERE datname = $1",
        DATABASE,
    )
    return found


async def _make_roles(
    connection: asyncpg.Connection,
    *,
    passwords: Mapping[str, str],
    roles_sql: str,
) -> None:
    async with connection.transaction():
        await connection.execute(roles_sql)
        # A failing statement is logged, but not with a password in it.
        await connection.execute("SET LOCAL log_min_error_statement = 'panic'")
        for role in Role:
            name = login_role(role)
            if not await connection.fetchval(
                "SELECT true FROM pg_roles WHERE rolname = $1", name
            ):
                await connection.execute(f"CREATE ROLE {name}")
            # Our own names and a URL-safe token: nothing to quote.
            await connection.execute(
                f"ALTER ROLE {name} LOGIN PASSWORD '{passwords[name]}'"
            )
            await connection.execute(f"GRANT recorder_{role} TO {name}")


@asynccontextmanager
async def _connect(
    socket_folder: Path, passwords: Mapping[str, str], *, database: str
) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(
        host=str(socket_folder),
        port=PORT,
        user=SUPERUSER,
        password=passwords[SUPERUSER],
        database=database,
        timeout=_CONNECT_SECONDS,
        command_timeout=_STATEMENT_SECONDS,
    )
    try:
        yield connection
    finally:
        await connection.close(timeout=_CONNECT_SECONDS)
