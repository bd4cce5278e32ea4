"""What is missing on the machine is said, with what to do about it."""

import os
import resource
from pathlib import Path

import pytest

from tests.cli.checking import (
    FAST,
    OF_LOG,
    checks,
    failed,
    tried,
)
from tests.cli.conftest import Recorder
from tests.support.postgres import Database

pytestmark = pytest.mark.usefixtures("cluster_is_reached")


def test_a_folder_that_was_never_used_stays_so(
    recorder: Recorder, data: Path
) -> None:
    answer = recorder("doctor")

    assert answer.status == 0
    assert "`recorder up` creates it" in answer.out
    assert list(data.iterdir()) == []


def test_a_full_disk_is_found(
    recorder: Recorder, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del data
    monkeypatch.setenv("RECORDER_DISK_FREE_MIN", "99.9")

    answer = recorder("doctor", "-o", "json")

    assert failed(answer) == ["disk"]


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [
        ("00" * 32, 0o644, "others may read it"),
        ("nonsense", 0o600, "hexadecimal digits"),
    ],
)
def test_a_key_that_cannot_be_used_is_found(
    recorder: Recorder, data: Path, content: str, mode: int, why: str
) -> None:
    key = data / "redaction.key"
    key.write_text(content)
    key.chmod(mode)

    answer = recorder("doctor", "-o", "json")

    assert failed(answer) == ["redaction key", OF_LOG]
    assert why in checks(answer)["redaction key"]["says"]


def test_another_key_than_the_log_was_redacted_with_is_found(
    story: Database, recorder: Recorder, data: Path
) -> None:
    del story
    descriptor = os.open(
        data / "redaction.key", os.O_WRONLY | os.O_CREAT, 0o600
    )
    with os.fdopen(descriptor, "w") as file:
        file.write("ab" * 32)

    answer = recorder("doctor", "-o", "json")

    said = checks(answer)[OF_LOG]
    assert not said["ok"]
    assert said["says"].startswith("the log was redacted with key key, not")
    assert "RECORDER_REDACTION_KEY_FILE" in said["remedy"]


def test_a_folder_that_cannot_be_reached_leaves_no_database(
    recorder: Recorder, data: Path
) -> None:
    (data / "file").write_text("no folder")

    answer = recorder("doctor", "-o", "json", "--data-dir", f"{data}/file")

    assert tried(answer) == ["data folder"]
    assert "is not a folder" in checks(answer)["data folder"]["says"]


def test_a_folder_above_that_is_closed_to_the_servers_user_is_named(
    recorder: Recorder, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    data.chmod(0o700)

    answer = recorder("doctor", "-o", "json", "--data-dir", f"{data}/deep/er")

    folder = checks(answer)["data folder"]
    assert not folder["ok"]
    assert f"allow it: chmod o+x {data}" in folder["remedy"]
    assert list(data.iterdir()) == []


def test_data_of_another_major_version_are_left_alone(
    recorder: Recorder, data: Path
) -> None:
    (data / "postgres").mkdir(mode=0o700)
    mark = data / "postgres" / "PG_VERSION"
    mark.write_text("17\n")

    answer = recorder("doctor", "-o", "json")

    assert tried(answer) == ["embedded server"]
    server = checks(answer)["embedded server"]
    assert "was made by PostgreSQL 17" in server["says"]
    assert "RECORDER_DATABASE_URL" in server["remedy"]
    assert checks(answer)["database"]["says"] == (
        'skipped because "embedded server" failed'
    )
    assert [path.name for path in (data / "postgres").iterdir()] == [mark.name]


def test_an_embedded_server_without_fsync_is_found(
    recorder: Recorder, data: Path
) -> None:
    assert recorder("demo").status == 0
    local = data / "postgres" / "local.conf"
    local.write_text("fsync = off\nsynchronous_commit = off\n")
    local.chmod(0o644)

    answer = recorder("doctor", "-o", "json")

    assert failed(answer) == [FAST]
    durability = checks(answer)[FAST]
    assert durability["says"].startswith(
        "fsync and synchronous_commit are off"
    )
    assert "local.conf" in durability["remedy"]


def test_few_open_files_are_found_with_the_command(
    recorder: Recorder, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del data
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 4096))

    answer = recorder("doctor", "-o", "json")

    assert failed(answer) == ["open files"]
    files = checks(answer)["open files"]
    assert files["says"] == "100 are allowed; up to 13 resources need 256"
    assert files["remedy"] == "run: ulimit -n 256"


def test_a_key_that_is_named_and_missing_is_found(
    recorder: Recorder, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = data / "elsewhere.key"
    monkeypatch.setenv("RECORDER_REDACTION_KEY_FILE", str(key))

    answer = recorder("doctor", "-o", "json")

    assert failed(answer) == ["redaction key", OF_LOG]
    missing = checks(answer)["redaction key"]
    assert missing["says"] == f'there is no "{key}"'
    assert "openssl rand -hex 32" in missing["remedy"]
    assert not key.exists()


def test_a_cluster_that_is_away_is_found(
    recorder: Recorder, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubeconfig = str(data / "absent" / "kubeconfig")
    monkeypatch.undo()
    monkeypatch.setenv("KUBECONFIG", kubeconfig)
    monkeypatch.setenv("RECORDER_DATA_DIR", str(data / "absent" / "folder"))

    answer = recorder("doctor", "-o", "json")

    assert failed(answer) == ["cluster", "cluster clock", "cluster rights"]
    assert kubeconfig in checks(answer)["cluster"]["says"]
