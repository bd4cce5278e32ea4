"""One server per folder, shared by those who use it.

What happens when a process is killed is in `test_kills`.
"""

import asyncio
import os
import time
from pathlib import Path

import pytest

from recorder.embedded import joining
from recorder.embedded.folder import DataFolder
from recorder.embedded.joining import leave
from recorder.embedded.keeper import Keeper
from recorder.embedded.locks import FileLock, is_unheld
from recorder.embedded.server import EmbeddedServer
from recorder.embedded.state import Phase, State, write_state
from tests.embedded.command import OPTIONS, ROLES_SQL
from tests.embedded.running import (
    Command,
    ask,
    eventually,
    is_quiet,
    one_identity,
    processes_of,
    query,
    server_pid,
)

_STARTED = "SELECT pg_postmaster_start_time()"


def test_a_new_folder_gets_a_server_with_three_roles(
    empty_folder: Path, identity: str
) -> None:
    command = Command(empty_folder, identity=identity)
    answer = command.answer()

    assert answer["version"].startswith("18.")
    assert answer["folder"] == str(empty_folder)
    for role, dsn in answer["dsn"].items():
        name = query(dsn, "SELECT current_user")
        member = f"SELECT pg_has_role('recorder_{role}', 'member')"
        assert name == f"recorder_embedded_{role}"
        assert query(dsn, member)
        assert query(dsn, "SELECT current_database()") == "recorder"
    command.close()


def test_no_other_user_can_read_data_or_passwords(
    folder: Path, identity: str
) -> None:
    command = Command(folder, identity=identity)
    command.dsn()
    data = DataFolder.at(folder)

    server = Path(f"/proc/{server_pid(folder)}").stat()
    assert server.st_uid != 0
    assert data.cluster.stat().st_mode & 0o777 == 0o700
    assert data.cluster.stat().st_uid == server.st_uid
    for private in (data.passwords, data.state, data.log, data.use_lock):
        assert private.stat().st_mode & 0o777 == 0o600
        assert private.stat().st_uid == folder.stat().st_uid
    command.close()


def test_the_server_lives_until_the_last_one_leaves(
    folder: Path, identity: str
) -> None:
    first = Command(folder, identity=identity)
    dsn = first.dsn()
    started = query(dsn, _STARTED)
    second = Command(folder, identity=identity)
    assert second.dsn() == dsn

    first.close()

    assert query(dsn, _STARTED) == started
    second.close()
    assert is_quiet(folder)


def test_a_supervisor_holds_its_lock_until_it_is_gone(
    folder: Path, identity: str
) -> None:
    command = Command(folder, identity=identity)
    command.dsn()
    lock = DataFolder.at(folder).supervisor_lock

    command.begin_to_leave()
    # Without a pause: it is about the moment at which the lock is given up.
    ended = time.monotonic() + 20
    while not is_unheld(lock):
        assert time.monotonic() < ended

    assert not processes_of(folder)
    command.close()


async def test_the_last_one_waits_though_the_supervisor_was_sooner(
    tmp_path: Path,
) -> None:
    folder = DataFolder.at(tmp_path)
    state = State(
        instance="1",
        supervisor_pid=os.getpid(),
        phase=Phase.STOPPING,
    )
    write_state(folder.state, state)
    with (
        FileLock(folder.use_lock) as users,
        FileLock(folder.supervisor_lock) as life,
        # What was a share before the supervisor took the lock.
        FileLock(folder.use_lock) as share,
    ):
        assert users.take_exclusive()
        assert life.take_exclusive()
        async with asyncio.TaskGroup() as group:
            leaving = group.create_task(
                leave(folder, Keeper(folder, {}), share=share)
            )
            await asyncio.sleep(0)
            assert not leaving.done()
            life.release()


def test_two_that_start_at_once_share_one_server(
    empty_folder: Path, identity: str
) -> None:
    commands = [Command(empty_folder, identity=identity) for _ in range(3)]
    dsns = {command.dsn() for command in commands}

    assert len(dsns) == 1
    log = DataFolder.at(empty_folder).log.read_text()
    assert log.count("ready to accept connections") == 1
    for command in commands:
        command.close()


def test_a_user_who_comes_while_it_stops_gets_the_next(
    folder: Path, identity: str
) -> None:
    first = Command(folder, identity=identity)
    first.dsn()
    first.begin_to_leave()
    log = DataFolder.at(folder).log
    eventually(lambda: "stopping" in log.read_text())

    second = Command(folder, identity=identity)

    assert query(second.dsn(), "SELECT 1") == 1
    first.close()
    second.close()


@one_identity
async def test_one_process_may_open_it_twice(folder: Path) -> None:
    async with EmbeddedServer.open(
        folder, roles_sql=ROLES_SQL, options=OPTIONS
    ) as first:
        async with EmbeddedServer.open(
            folder, roles_sql=ROLES_SQL, options=OPTIONS
        ) as second:
            assert second.dsn("owner") == first.dsn("owner")

        assert await ask(first.dsn("reader"), "SELECT 1") == 1
        assert first.trouble() is None


@one_identity
async def test_what_is_waited_for_is_reported(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "_PATIENCE_SECONDS", 0.0)
    waits: list[str] = []

    async with EmbeddedServer.open(
        empty_folder,
        roles_sql=ROLES_SQL,
        options=OPTIONS,
        on_wait=waits.append,
    ):
        pass

    assert "a PostgreSQL cluster is being created" in waits


@one_identity
async def test_an_error_inside_passes_through_unchanged(folder: Path) -> None:
    with pytest.raises(LookupError, match="data"):
        async with EmbeddedServer.open(
            folder, roles_sql=ROLES_SQL, options=OPTIONS
        ):
            raise LookupError(folder)

    assert is_quiet(folder)


@one_identity
async def test_changed_roles_are_applied_at_the_next_opening(
    folder: Path,
) -> None:
    more = f"{ROLES_SQL}\nGRANT pg_monitor TO recorder_reader;"
    async with EmbeddedServer.open(
        folder, roles_sql=more, options=OPTIONS
    ) as server:
        may = "SELECT pg_has_role('pg_monitor', 'usage')"

        assert await ask(server.dsn("reader"), may)
        assert not await ask(server.dsn("writer"), may)
