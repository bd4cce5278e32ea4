"""PostgreSQL for tests: the embedded 18 and Debian's 15.

A session starts each server once, without fsync, and a test gets a database
of its own, copied from a template. Nothing outlives the session, however it
ends: the embedded server stops with the last process that uses it, the
other gets a signal from the kernel.

``python -m tests.support.postgres`` installs what is missing, so that a
first test need not wait for it.
"""

import asyncio
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
)
from contextlib import (
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from recorder.embedded.account import choose_account, open_folder_to
from recorder.embedded.binaries import Binaries
from recorder.embedded.bootstrap import DATABASE, address, ensure_roles
from recorder.embedded.cluster import (
    SETTINGS,
    set_superuser_password,
    write_configuration,
)
from recorder.embedded.folder import DataFolder
from recorder.embedded.installation import Installation
from recorder.embedded.locks import FileLock
from recorder.embedded.passwords import (
    SUPERUSER,
    Role,
    login_role,
    make_passwords,
    read_passwords,
)
from recorder.embedded.postmaster import Postmaster
from recorder.embedded.processes import Processes
from recorder.embedded.server import EmbeddedServer, ServerOptions
from recorder.embedded.socket_folder import choose_socket_folder
from tests.support.programs import INSTALL, install

__all__ = [
    "Database",
    "DatabaseServer",
    "connected",
    "debian_binaries",
    "debian_site",
    "fresh_database",
    "make_template",
    "start_debian",
    "start_embedded",
]

_FOLDER_VARIABLE = "RECORDER_TEST_PG15_BIN"
_DEBIAN_FOLDER = Path("/usr/lib/postgresql/15/bin")
_PACKAGE = "postgresql-15"

_FAST: dict[str, str] = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_wal_size": "1GB",
}
"""A test's database need not survive the machine."""

_FAST_LOGIN = {"scram_iterations": "1"}
"""Nor need its passwords: thousands of connections take a third less of a
processor. PostgreSQL 15 has no such setting."""

_IN_MEMORY = Path("/dev/shm")
_IN_MEMORY_MIN = 2 << 30
"""Bytes that must be free there: hundreds of databases are made and dropped,
and on a disk half of the time of a test goes into its files."""

_PREFIX = "recorder-session-"
"""Of these folders alone: others of a session have no lock, and are in use."""
_SESSION_LOCK = "session.lock"
_STALE_SECONDS = 60.0
"""Younger folders may not have got as far as their lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseServer:
    """A server, for as long as the session lasts."""

    name: str
    """``embedded-18`` or ``debian-15``."""
    version: str
    socket_folder: Path
    passwords: Mapping[str, str]
    roles_sql: str

    def dsn(self, role: str, database: str = DATABASE) -> str:
        """Return the address for ``owner``, ``writer`` or ``reader``."""
        return address(
            self.socket_folder,
            self.passwords,
            name=login_role(Role(role)),
            database=database,
        )

    def superuser_dsn(self, database: str = DATABASE) -> str:
        """Return the address for what only a superuser may do."""
        return address(
            self.socket_folder,
            self.passwords,
            name=SUPERUSER,
            database=database,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One database of a server."""

    server: DatabaseServer
    name: str

    def dsn(self, role: str) -> str:
        """Return the address for ``owner``, ``writer`` or ``reader``."""
        return self.server.dsn(role, self.name)

    def superuser_dsn(self) -> str:
        """Return the address for what only a superuser may do."""
        return self.server.superuser_dsn(self.name)

    async def listeners(self) -> set[int]:
        """Return the processes of sessions that wait for notifications."""
        async with connected(self.superuser_dsn()) as connection:
            rows = await connection.fetch(
                "select pid from pg_stat_activity where state = 'idle'"
                " and datname = current_database() and query ilike 'listen %'"
            )
        return {row["pid"] for row in rows}


@contextmanager
def start_embedded(roles_sql: str) -> Iterator[DatabaseServer]:
    """Run the embedded server."""
    with _test_folder() as path, asyncio.Runner() as runner:
        stack = AsyncExitStack()
        server = runner.run(
            stack.enter_async_context(
                EmbeddedServer.open(
                    path,
                    roles_sql=roles_sql,
                    options=ServerOptions(settings=_FAST | _FAST_LOGIN),
                )
            )
        )
        try:
            yield DatabaseServer(
                name="embedded-18",
                version=server.version,
                socket_folder=server.socket_folder,
                passwords=read_passwords(DataFolder.at(path).passwords),
                roles_sql=roles_sql,
            )
        finally:
            runner.run(stack.aclose())


@contextmanager
def start_debian(roles_sql: str) -> Iterator[DatabaseServer]:
    """Run Debian's PostgreSQL 15, with the same roles as the embedded."""
    with _test_folder() as path, (path / "postgres.log").open("ab") as log:
        site, sockets, passwords = debian_site(path, log.fileno(), _FAST)
        server = Postmaster(site)
        server.start()
        try:
            yield DatabaseServer(
                name="debian-15",
                version=asyncio.run(
                    ensure_roles(sockets, passwords, roles_sql=roles_sql)
                ),
                socket_folder=sockets,
                passwords=passwords,
                roles_sql=roles_sql,
            )
        finally:
            server.abandon()


def debian_site(
    path: Path, log: int, settings: Mapping[str, str]
) -> tuple[Installation, Path, Mapping[str, str]]:
    """Make a PostgreSQL 15 in a folder, and start nothing.

    Returns it with the folder of its sockets and with its passwords.
    """
    folder = DataFolder.at(path)
    account = choose_account(folder)
    open_folder_to(account, folder)
    site = Installation(
        folder=folder,
        account=account,
        binaries=debian_binaries(),
        processes=Processes(folder, account, output=log),
    )
    sockets = choose_socket_folder(folder, account, kept="")
    passwords = make_passwords()
    _initdb(site)
    socket = {"unix_socket_directories": str(sockets)}
    write_configuration(site, {**SETTINGS, **settings, **socket})
    set_superuser_password(site, passwords[SUPERUSER])
    return site, sockets, passwords


async def make_template(
    server: DatabaseServer,
    name: str,
    prepare: Callable[[Database], Awaitable[None]],
) -> None:
    """Make a database to copy from; `prepare` gets it with its roles."""
    template = Database(server=server, name=name)
    await _create(template, template="template0")
    await prepare(template)
    async with connected(server.superuser_dsn("postgres")) as connection:
        await connection.execute(
            f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'
        )


@asynccontextmanager
async def fresh_database(
    server: DatabaseServer, template: str = "template0"
) -> AsyncIterator[Database]:
    """Yield a database that no other test uses, and drop it afterwards."""
    database = Database(server=server, name=f"test_{secrets.token_hex(6)}")
    await _create(database, template=template)
    try:
        yield database
    finally:
        async with connected(server.superuser_dsn("postgres")) as connection:
            await connection.execute(
                f'DROP DATABASE "{database.name}" WITH (FORCE)'
            )


def debian_binaries() -> Binaries:
    """Find PostgreSQL 15, installing it where that is possible."""
    folder = Path(os.environ.get(_FOLDER_VARIABLE, _DEBIAN_FOLDER))
    if not (folder / "postgres").exists() and folder == _DEBIAN_FOLDER:
        _install()
    if not (folder / "postgres").exists():
        pytest.fail(
            f'the tests need PostgreSQL 15: "{folder / "postgres"}" does'
            f" not exist; run: sudo {' '.join(INSTALL)} {_PACKAGE} (or set"
            f" {_FOLDER_VARIABLE} to the folder of its programs)",
            pytrace=False,
        )
    said = subprocess.run(
        [folder / "postgres", "--version"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return Binaries(folder, said.split()[2])


def _install() -> None:
    if os.geteuid() != 0:
        return
    # No client shall find a server on the default port because of our tests.
    configuration = Path("/etc/postgresql-common/createcluster.conf")
    if not configuration.exists():
        configuration.parent.mkdir(parents=True, exist_ok=True)
        configuration.write_text("create_main_cluster = false\n")
    install(_PACKAGE)


def _initdb(site: Installation) -> None:
    site.folder.cluster.mkdir(mode=0o700)
    site.account.own(site.folder.cluster)
    child = site.processes.start(
        [
            site.binaries.program("initdb"),
            f"--pgdata={site.folder.cluster}",
            f"--username={SUPERUSER}",
            "--auth=reject",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ],
        death_signal=signal.SIGKILL,
    )
    if child.wait() != 0:
        pytest.fail(site.folder.log.read_text(), pytrace=False)


async def _create(database: Database, *, template: str) -> None:
    server = database.server
    async with connected(server.superuser_dsn("postgres")) as connection:
        # By way of the log each page would be written twice.
        await connection.execute(
            f'CREATE DATABASE "{database.name}" TEMPLATE "{template}"'
            " STRATEGY FILE_COPY"
        )
    # Rights on the database itself are not copied with it.
    async with connected(database.superuser_dsn()) as connection:
        await connection.execute(server.roles_sql)


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Connect to a database while entered."""
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


@contextmanager
def _test_folder() -> Iterator[Path]:
    """Yield a folder that goes with the session.

    What a killed session left is removed by a later one.
    """
    parent = _parent()
    _sweep(parent)
    path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    try:
        with FileLock(path / _SESSION_LOCK) as lock:
            assert lock.take_exclusive()
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _parent() -> Path:
    """Return where databases are made: in memory, where there is room."""
    with suppress(OSError):
        if (
            os.access(_IN_MEMORY, os.W_OK)
            and shutil.disk_usage(_IN_MEMORY).free >= _IN_MEMORY_MIN
        ):
            return _IN_MEMORY
    return Path(tempfile.gettempdir())


def _sweep(parent: Path) -> None:
    newest = time.time() - _STALE_SECONDS
    for old in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if old.stat().st_mtime < newest:
                with FileLock(old / _SESSION_LOCK) as lock:
                    if lock.take_exclusive():
                        shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    print(debian_binaries().version)
