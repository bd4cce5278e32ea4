"""SIGKILL of any process, and what a dead server leaves.

After each of these the server answers again at the same address, with
everything committed, and no process remains when its users have left.
"""

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from recorder.embedded.folder import DataFolder
from tests.embedded.running import (
    Command,
    becoming,
    eventually,
    is_quiet,
    one_identity,
    owner_of,
    processes_of,
    query,
    server_pid,
    supervisor_pid,
)

_KEEP = "CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS value"
_KEPT = "SELECT value FROM kept"
_STARTED = "SELECT pg_postmaster_start_time()"


def _start(folder: Path, identity: str) -> tuple[Command, str]:
    command = Command(folder, identity=identity)
    dsn = command.dsn("owner")
    query(dsn, "CREATE SCHEMA AUTHORIZATION current_user")
    query(dsn, _KEEP)
    return command, dsn


def test_a_killed_command_takes_the_server_with_it(
    folder: Path, identity: str
) -> None:
    command, _ = _start(folder, identity)

    command.kill()

    eventually(lambda: is_quiet(folder))


@pytest.mark.parametrize("victim", [supervisor_pid, server_pid])
def test_the_server_comes_back_while_it_is_in_use(
    folder: Path, identity: str, victim: Callable[[Path], int]
) -> None:
    command, dsn = _start(folder, identity)
    started = query(dsn, _STARTED)

    os.kill(victim(folder), signal.SIGKILL)

    while query(dsn, _STARTED) == started:
        pass
    assert query(dsn, _KEPT) == 42
    command.close()


@one_identity
def test_a_supervisor_and_its_server_may_die_together(
    folder: Path, identity: str
) -> None:
    command, dsn = _start(folder, identity)

    _kill_all(folder)

    assert query(dsn, _KEPT) == 42
    command.close()


def test_the_next_start_recovers_from_the_death_of_all_processes(
    folder: Path, identity: str
) -> None:
    command, _ = _start(folder, identity)
    command.process.send_signal(signal.SIGSTOP)
    _kill_all(folder)
    command.kill()
    eventually(lambda: is_quiet(folder))

    again = Command(folder, identity=identity)

    assert query(again.dsn("owner"), _KEPT) == 42
    again.close()


@one_identity
def test_a_process_that_outlives_its_server_is_ended(
    folder: Path, identity: str
) -> None:
    command, dsn = _start(folder, identity)
    server = server_pid(folder)
    supervisor = supervisor_pid(folder)
    others = set(processes_of(folder)) - {server, supervisor}
    stuck = min(others)
    os.kill(stuck, signal.SIGSTOP)

    os.kill(server, signal.SIGKILL)

    assert query(dsn, _KEPT) == 42
    assert stuck not in processes_of(folder)
    command.close()


@one_identity
def test_a_stop_request_lets_the_commands_finish(
    folder: Path, identity: str
) -> None:
    command, dsn = _start(folder, identity)

    os.kill(supervisor_pid(folder), signal.SIGTERM)

    assert query(dsn, _KEPT) == 42
    command.close()
    assert is_quiet(folder)


@one_identity
@pytest.mark.parametrize("is_zombie", [True, False])
def test_pid_files_of_other_processes_are_ignored(
    folder: Path, identity: str, *, is_zombie: bool
) -> None:
    """Another process has the pid, or its process is not reaped."""
    owner = DataFolder.at(folder).cluster.stat()
    other = subprocess.Popen(
        [
            *becoming(owner.st_uid, owner.st_gid),
            "sleep",
            "0" if is_zombie else "60",
        ]
    )
    data = DataFolder.at(folder)
    text = f"{other.pid}\n{data.cluster}\n1\n5432\n\n\n\nready\n"
    (data.cluster / "postmaster.pid").write_text(text)
    (folder / "socket" / ".s.PGSQL.5432.lock").write_text(text)

    command = Command(folder, identity=identity)

    assert query(command.dsn(), "SELECT 1") == 1
    command.close()
    other.kill()
    other.wait()


@one_identity
def test_an_unfinished_cluster_is_begun_again(
    empty_folder: Path, identity: str
) -> None:
    unfinished = empty_folder / "postgres.new"
    (unfinished / "base").mkdir(parents=True)
    for path in (empty_folder, unfinished, unfinished / "base"):
        os.chown(path, *owner_of(identity))

    command = Command(empty_folder, identity=identity)

    assert query(command.dsn(), "SELECT 1") == 1
    command.close()


@one_identity
def test_lost_passwords_are_made_anew(folder: Path, identity: str) -> None:
    DataFolder.at(folder).passwords.unlink()

    command = Command(folder, identity=identity)

    assert query(command.dsn(), "SELECT 1") == 1
    command.close()


@one_identity
def test_a_tidied_away_socket_comes_back(folder: Path, identity: str) -> None:
    command, dsn = _start(folder, identity)
    started = query(dsn, _STARTED)

    (folder / "socket" / ".s.PGSQL.5432").unlink()

    assert query(dsn, _STARTED) > started
    command.close()


def test_nothing_runs_on_in_a_removed_folder(
    folder: Path, identity: str
) -> None:
    command, _ = _start(folder, identity)

    folder.rename(folder.with_name("gone"))

    eventually(lambda: not processes_of(folder))
    command.kill()


def _kill_all(folder: Path) -> None:
    os.kill(supervisor_pid(folder), signal.SIGKILL)
    for pid in processes_of(folder):
        # Each death lets others end by themselves.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
