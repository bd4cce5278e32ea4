"""What cannot work is said in one line: what, the thing's name, what to do.

What only root can meet is in `test_as_root`.
"""

from pathlib import Path

import pytest

from recorder.embedded import binaries
from recorder.embedded.errors import (
    BinariesError,
    DataFolderError,
    DiskFullError,
    EmbeddedError,
    StartTimeoutError,
)
from recorder.embedded.folder import DataFolder
from recorder.embedded.server import EmbeddedServer, ServerOptions
from tests.embedded.command import OPTIONS, ROLES_SQL
from tests.embedded.running import Command, eventually, is_quiet, one_identity


async def _refusal(
    folder: Path, options: ServerOptions = OPTIONS
) -> EmbeddedError:
    with pytest.raises(EmbeddedError) as caught:
        async with EmbeddedServer.open(
            folder, roles_sql=ROLES_SQL, options=options
        ):
            pass
    assert "\n" not in str(caught.value)
    return caught.value


def test_data_of_another_version_is_left_alone(
    folder: Path, identity: str
) -> None:
    mark = DataFolder.at(folder).cluster / "PG_VERSION"
    mark.write_text("15\n")

    answer = Command(folder, identity=identity).refusal()

    assert answer["code"] == "embedded.foreign_version"
    assert "made by PostgreSQL 15" in answer["error"]
    assert "the embedded one is PostgreSQL 18" in answer["error"]
    assert "RECORDER_DATABASE_URL" in answer["error"]
    assert mark.read_text() == "15\n"


@one_identity
async def test_a_folder_without_a_cluster_in_it_is_refused(
    folder: Path,
) -> None:
    (DataFolder.at(folder).cluster / "PG_VERSION").unlink()

    refusal = await _refusal(folder)

    assert isinstance(refusal, DataFolderError)
    assert "is not a PostgreSQL data folder; restore" in str(refusal)


async def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    assert "it is not a folder" in str(await _refusal(file))


async def test_a_folder_that_cannot_be_made_is_named() -> None:
    refusal = await _refusal(Path("/proc/recorder"))

    assert 'cannot use the data folder "/proc/recorder"' in str(refusal)


def test_a_folder_that_cannot_be_written_is_named(identity: str) -> None:
    """Root is stopped by no mode, but no user may write there."""
    folder = Path("/sys/recorder")

    answer = Command(folder, identity=identity).refusal()

    assert answer["code"] == "embedded.data_folder"
    assert f'"{folder}"' in answer["error"]
    assert "RECORDER_DATA_DIR" in answer["error"]


@one_identity
async def test_a_full_disk_is_reported_before_anything_is_begun(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.embedded.folder._CREATE_BYTES", 1 << 60)

    refusal = await _refusal(empty_folder)

    assert isinstance(refusal, DiskFullError)
    assert "MiB free and" in str(refusal)
    assert not DataFolder.at(empty_folder).cluster.exists()


def test_a_platform_without_the_wheel_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(binaries, "_PACKAGE", "no_such_package")

    with pytest.raises(BinariesError, match="RECORDER_DATABASE_URL"):
        binaries.find_binaries()


@one_identity
async def test_the_servers_own_reason_is_passed_on(folder: Path) -> None:
    (DataFolder.at(folder).cluster / "local.conf").write_text("nonsense = 1\n")

    refusal = await _refusal(folder)

    assert "configuration file" in str(refusal)
    assert str(DataFolder.at(folder).log) in str(refusal)


@one_identity
async def test_wrong_passwords_are_reported(folder: Path) -> None:
    passwords = DataFolder.at(folder).passwords
    text = passwords.read_text()
    passwords.write_text(text.replace('": "', '": "x'))

    refusal = await _refusal(folder)

    assert f'"{passwords}"' in str(refusal)
    assert "new ones will be made" in str(refusal)


@one_identity
async def test_impatience_does_not_stop_a_start(folder: Path) -> None:
    refusal = await _refusal(folder, ServerOptions(start_seconds=0.01))

    assert isinstance(refusal, StartTimeoutError)
    assert "not ready within 0.01 s" in str(refusal)
    eventually(lambda: is_quiet(folder))


@one_identity
async def test_broken_roles_are_reported(folder: Path) -> None:
    with pytest.raises(EmbeddedError, match="cannot set up database"):
        async with EmbeddedServer.open(
            folder, roles_sql="SELECT nonsense", options=OPTIONS
        ):
            pass
