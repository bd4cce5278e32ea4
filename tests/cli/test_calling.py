"""What is to be typed next is typed as this was, so that it runs."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recorder.cli import main
from recorder.cli.calling import as_typed, called


def on_path(file: Path | None) -> Callable[[str], str | None]:
    return {"recorder": str(file)}.get if file else {"": ""}.get


def test_a_program_off_the_path_is_named_by_its_own(tmp_path: Path) -> None:
    own, other = tmp_path / "bin/recorder", tmp_path / "recorder"

    assert called(str(own), on_path(None)) == str(own)
    assert called(str(own), on_path(other)) == str(own)
    assert called(str(own), on_path(own)) == "recorder"
    assert called(".venv/bin/recorder", on_path(None)) == (
        ".venv/bin/recorder"
    )
    assert called("/a b/recorder", on_path(None)) == "'/a b/recorder'"


def test_a_plugin_and_a_module_are_called_as_they_were() -> None:
    assert called("/bin/kubectl-recorder") == "kubectl recorder"
    assert called("/x/recorder/__main__.py").endswith(" -m recorder")


def test_hints_are_typed_as_the_program_was(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [".venv/bin/recorder"])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))

    assert as_typed("run `recorder up`; a `recorder`") == (
        "run `.venv/bin/recorder up`; a `recorder`"
    )
    assert main._run(["status"]) == 5
    assert "`.venv/bin/recorder up`" in capsys.readouterr().err


def test_what_is_no_tape_is_refused_before_anything_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "x").write_text("hi\n")

    assert main._run(["tape", "play", str(tmp_path / "x")]) == 1
    assert capsys.readouterr().err.startswith("recorder: tape ")
    assert not (tmp_path / "data").exists()


def test_a_server_that_is_not_there_is_named_with_what_to_see(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "postgresql://reader:hush@127.0.0.1:1/logs"
    monkeypatch.setenv("RECORDER_DATABASE_URL", url)

    assert main._run(["status"]) == 1
    assert capsys.readouterr().err == (
        "recorder: cannot open the log: PostgreSQL is unavailable: it refuses"
        " the connection; see that PostgreSQL at 127.0.0.1:1, database"
        " logs, runs, and that RECORDER_DATABASE_URL or --database-url means"
        " it\n"
    )
