"""Cases of root alone, which runs the server as another user.

Not collected for other users; `conftest` says so.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recorder.embedded.account import SYSTEM_USER
from recorder.embedded.folder import DataFolder
from tests.embedded.running import (
    Command,
    fast_base,
    owner_of,
    query,
    server_pid,
)

_NO_USER = 54_321
"""A user id that is in no /etc/passwd."""


@pytest.fixture(params=["nobody"])
def identity(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    """A folder that only root may enter."""
    with tempfile.TemporaryDirectory(
        prefix="recorder-test-", dir=fast_base()
    ) as name:
        yield Path(name)


def test_a_folder_above_keeps_its_mode_and_is_named(
    closed_folder: Path,
) -> None:
    folder = closed_folder / "data"

    answer = Command(folder).refusal()

    assert answer["code"] == "embedded.data_folder"
    assert (
        f'"{SYSTEM_USER}" may not pass through "{closed_folder}"'
        in (answer["error"])
    )
    assert f"chmod o+x {closed_folder}" in answer["error"]
    assert closed_folder.stat().st_mode & 0o777 == 0o700


def test_the_data_folder_itself_is_opened_to_one_group(
    closed_folder: Path,
) -> None:
    command = Command(closed_folder)
    command.dsn()

    found = closed_folder.stat()
    assert found.st_mode & 0o777 == 0o710
    assert found.st_gid != os.getgid()
    assert found.st_uid == os.getuid()
    command.close()


def test_root_uses_a_users_folder_as_that_user(folder: Path) -> None:
    owner, _ = owner_of("nobody")
    roots = Command(folder)
    assert query(roots.dsn(), "SELECT 1") == 1
    assert Path(f"/proc/{server_pid(folder)}").stat().st_uid == owner
    roots.close()

    users = Command(folder, identity="nobody")

    assert query(users.dsn(), "SELECT 1") == 1
    users.close()


def test_root_makes_a_cluster_for_the_folders_owner(
    empty_folder: Path,
) -> None:
    owner, group = owner_of("nobody")
    empty_folder.mkdir(mode=0o700)
    os.chown(empty_folder, owner, group)

    command = Command(empty_folder)

    assert query(command.dsn(), "SELECT 1") == 1
    assert DataFolder.at(empty_folder).cluster.stat().st_uid == owner
    command.close()


def test_a_users_own_folder_is_not_for_another(folder: Path) -> None:
    cluster = DataFolder.at(folder).cluster
    os.chown(cluster, _NO_USER, _NO_USER)

    answer = Command(folder, identity="nobody").refusal()

    assert answer["code"] == "embedded.data_folder"
    assert f'"{cluster}" belongs to user id {_NO_USER}' in answer["error"]


def test_a_user_without_an_entry_is_refused_with_advice(
    place: Path,
) -> None:
    folder = place / "data"
    os.chown(place, _NO_USER, _NO_USER)

    answer = Command(folder, uid=_NO_USER).refusal()

    assert answer["code"] == "embedded.os_user"
    assert f"user id {_NO_USER}" in answer["error"]
    assert "/etc/passwd" in answer["error"]
