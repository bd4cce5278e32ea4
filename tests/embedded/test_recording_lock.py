"""Only one process records into a folder."""

import os
from pathlib import Path

import pytest

from recorder.embedded.errors import AlreadyRecordingError
from recorder.embedded.locks import RecordingLock
from tests.embedded.running import Command


def test_the_second_is_refused_with_the_pid_of_the_first(
    tmp_path: Path,
) -> None:
    first = Command(tmp_path, "record")
    assert first.answer()["held"]

    second = Command(tmp_path, "record").refusal()

    assert second["code"] == "embedded.already_recording"
    assert f"process {first.process.pid} records there" in second["error"]
    first.close()


def test_it_is_free_again_after_a_kill(tmp_path: Path) -> None:
    first = Command(tmp_path, "record")
    assert first.answer()["held"]
    first.kill()

    with RecordingLock(tmp_path):
        pass


def test_one_process_cannot_hold_it_twice(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "on the way"
    with (
        RecordingLock(folder),
        pytest.raises(AlreadyRecordingError, match=f"process {os.getpid()} "),
        RecordingLock(folder),
    ):
        pass
