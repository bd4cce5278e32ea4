"""What is missing is said, with what to do about it."""

import asyncio
import os
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from recorder.report.checks import Check
from recorder.wiring import checkup
from tests.cli.conftest import Recorder
from tests.report.told import STORY, tell
from tests.support.postgres import Database


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    async def reached(settings: object) -> list[Check]:
        del settings
        return [Check(name="cluster", ok=True, says="reached")]

    monkeypatch.setattr(checkup, "_cluster", reached)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))
    return tmp_path


def checks(answer: Any) -> dict[str, Any]:
    return {check["name"]: check for check in answer.json["checks"]}


def failed(answer: Any) -> list[str]:
    return [name for name, check in checks(answer).items() if not check["ok"]]


def test_a_sound_database_is_found_sound(
    any_database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    asyncio.run(tell(any_database.dsn("writer"), STORY))
    url = ("--database-url", any_database.dsn("writer"))

    answer = recorder("doctor", "-o", "json", *url)

    assert failed(answer) == ["redaction key"]
    assert list(checks(answer)) == [
        "cluster",
        "database version",
        "database encoding",
        "database writable",
        "database rights",
        "clock",
        "schema",
        "partitions",
        "redaction key",
    ]
    assert "may read and write" in checks(answer)["database rights"]["says"]


def test_what_is_fine_is_status_zero(
    database: Database, recorder: Recorder, data: Path
) -> None:
    del data

    answer = recorder("doctor", "--database-url", database.dsn("reader"))

    assert answer.status == 0
    assert all(line.startswith("ok  ") for line in answer.out.splitlines())
    assert "may read\n" in answer.out


def test_a_stranger_is_told_which_right_to_ask_for(
    database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    asyncio.run(
        execute(
            database.superuser_dsn(),
            "drop role if exists stranger",
            "create role stranger login password 'x'",
        )
    )
    owner = database.dsn("owner")
    url = owner.replace(owner[13 : owner.index("@")], "stranger:x")

    answer = recorder("doctor", "-o", "json", "--database-url", url)

    rights = checks(answer)["database rights"]
    assert not rights["ok"]
    assert rights["says"] == 'role "stranger" may do nothing'
    assert 'GRANT recorder_writer TO "stranger"' in rights["remedy"]
    assert answer.status == 1


def test_a_missing_schema_is_found(
    database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    asyncio.run(
        execute(database.superuser_dsn(), "drop schema recorder cascade")
    )

    answer = recorder(
        "doctor", "-o", "json", "--database-url", database.dsn("reader")
    )

    assert failed(answer) == ["schema"]
    assert checks(answer)["schema"]["remedy"] == "run: recorder migrate"


def test_a_database_that_is_away_is_one_failed_check(
    recorder: Recorder, data: Path
) -> None:
    del data
    url = "postgresql:///x?host=/nonexistent"

    answer = recorder("doctor", "-o", "json", "--database-url", url)

    assert failed(answer) == ["database"]
    assert "cannot reach the database" in checks(answer)["database"]["says"]


def test_a_folder_that_was_never_used_stays_so(
    recorder: Recorder, data: Path
) -> None:
    answer = recorder("doctor")

    assert answer.status == 0
    assert "`recorder up` makes it" in answer.out
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

    assert failed(answer) == ["redaction key"]
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

    assert failed(answer) == ["redaction key"]
    assert "the log needs key" in checks(answer)["redaction key"]["says"]


def test_a_cluster_that_is_away_is_found(
    recorder: Recorder, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del data
    monkeypatch.undo()
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")
    monkeypatch.setenv("RECORDER_DATA_DIR", "/nonexistent/folder")

    answer = recorder("doctor", "-o", "json")

    assert failed(answer) == ["cluster"]
    assert "/nonexistent" in checks(answer)["cluster"]["says"]


async def execute(dsn: str, *statements: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()
