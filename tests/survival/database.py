"""The PostgreSQL of a schedule: it can be killed, frozen and queried.

Either the recorder's own embedded server, which only the recorder
starts, or PostgreSQL 15 with a wire before it, which two recorders share and
which is started again by us, as a service manager would.
"""

import os
import signal
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import asyncpg

from recorder.embedded.account import choose_account
from recorder.embedded.bootstrap import DATABASE, address, ensure_roles
from recorder.embedded.folder import DataFolder
from recorder.embedded.passwords import (
    SUPERUSER,
    Role,
    login_role,
    read_passwords,
)
from recorder.embedded.postmaster import Postmaster
from recorder.embedded.processes import Processes
from recorder.embedded.state import read_state
from recorder.store.engine import make_engine
from recorder.store.schema import migrate
from recorder.wiring.database import roles_sql
from tests.support.postgres import debian_site
from tests.support.wire import Wire

__all__ = [
    "EmbeddedDatabase",
    "Head",
    "Point",
    "SharedDatabase",
    "ask",
    "read_head",
    "read_points",
]

PORT = 5432

POINTS = """
    select r.name, p.state, p.completed, p.pending, p.vouched_until,
      p.settled_until, p.began_at, p.gap_position
    from recorder.resume_point p join recorder.resource r using (resource_id)
    where p.source = 'watch'
"""
HEAD = """
    select h.term, h.holder, h.epoch, h.size from recorder.log_head h
"""

FAST = {"shared_buffers": "64MB", "max_wal_size": "256MB", "fsync": "off"}
"""Processes are killed here, never the machine."""


class EmbeddedDatabase:
    """What the recorder itself starts in its data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = DataFolder.at(folder)
        self._folder.prepare()
        self._processes = Processes(self._folder, choose_account(self._folder))

    def dsn(self, role: str) -> str:
        """Return an address; there is one once it has been started."""
        state = read_state(self._folder.state)
        if state is None or not state.socket_folder:
            msg = "the embedded server was never started"
            raise ConnectionError(msg)
        return address(
            Path(state.socket_folder),
            read_passwords(self._folder.passwords),
            name=SUPERUSER if role == SUPERUSER else login_role(Role(role)),
            database=DATABASE,
        )

    def kill(self) -> None:
        """SIGKILL the server; its supervisor starts it again.

        There may be none just now, where the recorder is dead as well.
        """
        pid = self._processes._server_pid()
        _signal([] if pid is None else [pid], signal.SIGKILL)

    def kill_supervisor(self) -> None:
        """SIGKILL what starts it again."""
        state = read_state(self._folder.state)
        assert state is not None, "it was started"
        _signal([state.supervisor_pid], signal.SIGKILL)

    def pause(self) -> None:
        """Freeze every process of it."""
        _signal(self._processes._members(), signal.SIGSTOP)

    def resume(self) -> None:
        """Resume all of them."""
        _signal(self._processes._members(), signal.SIGCONT)

    def is_gone(self) -> bool:
        """Whether no process is left."""
        return self._processes.are_gone()


class SharedDatabase:
    """PostgreSQL 15, reached by recorders over a wire."""

    def __init__(self, folder: Path) -> None:
        self._path = folder
        place = DataFolder.at(folder)
        place.prepare()
        with place.log.open("ab") as log:
            # Kept open for the processes that inherit it.
            self._log = os.dup(log.fileno())
        self._site, self._sockets, self._passwords = debian_site(
            folder, self._log, FAST
        )
        self._server = Postmaster(self._site)
        self.wire = Wire(self._sockets / f".s.PGSQL.{PORT}")

    @asynccontextmanager
    async def running(self) -> AsyncIterator["SharedDatabase"]:
        """Run it, with its schema, and end it with the block."""
        wires = self._path / "wire"
        wires.mkdir()
        try:
            self._server.start()
            await ensure_roles(
                self._sockets, self._passwords, roles_sql=roles_sql()
            )
            engine = make_engine(self.dsn("owner"))
            await migrate(engine)
            await engine.dispose()
            async with self.wire.listening(wires / f".s.PGSQL.{PORT}"):
                yield self
        finally:
            self.resume()
            self._server.abandon()
            os.close(self._log)

    def dsn(self, role: str) -> str:
        """Return an address that leads there directly."""
        return address(
            self._sockets,
            self._passwords,
            name=SUPERUSER if role == SUPERUSER else login_role(Role(role)),
            database=DATABASE,
        )

    def dsn_over_wire(self) -> str:
        """Return the address of the writer's role for recorders."""
        return address(
            self._path / "wire",
            self._passwords,
            name=login_role(Role.WRITER),
            database=DATABASE,
        )

    def kill(self) -> None:
        """SIGKILL all of it, and start it again."""
        self._server.kill()
        self._server = Postmaster(self._site)
        self._server.start()

    def pause(self) -> None:
        """Freeze every process of it."""
        _signal(self._site.processes._members(), signal.SIGSTOP)

    def resume(self) -> None:
        """Resume all of them."""
        _signal(self._site.processes._members(), signal.SIGCONT)

    def is_gone(self) -> bool:
        """Whether no process is left."""
        return self._site.processes.are_gone()


async def ask(dsn: str, question: str, *values: Any) -> list[Any]:
    """Query on a separate connection, for a few seconds at most."""
    connection = await asyncpg.connect(dsn, timeout=5, command_timeout=5)
    try:
        return list(await connection.fetch(question, *values))
    finally:
        connection.terminate()


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in list(pids):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Where one resource is."""

    state: str
    pending: int
    vouched_until: datetime | None
    settled_until: datetime | None
    is_open: bool
    """Whether it has a gap that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of the log, and who writes it."""

    term: int
    holder: str | None
    epoch: int
    size: int


async def read_points(dsn: str) -> dict[str, Point]:
    """Return the committed place of every resource that is watched."""
    return {
        row["name"]: Point(
            state=row["state"],
            pending=int(row["pending"] or 0),
            vouched_until=row["vouched_until"],
            settled_until=row["settled_until"],
            is_open=row["gap_position"] is not None,
        )
        for row in await ask(dsn, POINTS)
    }


async def read_head(dsn: str) -> Head:
    """Return the end of the log; a log that is not there yet has none."""
    for row in await ask(dsn, HEAD):
        return Head(
            term=row["term"],
            holder=row["holder"],
            epoch=row["epoch"],
            size=row["size"],
        )
    return Head(term=0, holder=None, epoch=1, size=0)
