"""Data folders at places that a unix socket or an address cannot name."""

from pathlib import Path

import pytest

from recorder.embedded.folder import DataFolder
from recorder.embedded.state import read_state
from tests.embedded.running import (
    Command,
    is_quiet,
    one_identity,
    query,
    server_pid,
)


def _move(folder: Path, name: str) -> Path:
    moved = folder.parent / name
    return folder.rename(moved)


@one_identity
@pytest.mark.parametrize(
    "name", ["long" * 40, "comma,space here", "quote'd", "Größe", "50%&?"]
)
def test_the_socket_finds_another_place(
    folder: Path, identity: str, name: str
) -> None:
    folder = _move(folder, name)
    command = Command(folder, identity=identity)
    dsn = command.dsn()
    state = read_state(DataFolder.at(folder).state)
    assert state is not None
    socket_folder = Path(state.socket_folder)

    assert folder not in socket_folder.parents
    assert socket_folder.stat().st_mode & 0o777 == 0o700
    assert query(dsn, "SELECT 1") == 1
    command.close()
    assert is_quiet(folder)
    assert not socket_folder.exists()


@one_identity
def test_a_folder_may_be_reached_by_a_link(
    folder: Path, identity: str
) -> None:
    link = folder.with_name("link")
    link.symlink_to(folder)
    first = Command(folder, identity=identity)
    dsn = first.dsn()

    second = Command(link, identity=identity)

    assert second.dsn() == dsn
    assert server_pid(folder)
    second.close()
    first.close()
