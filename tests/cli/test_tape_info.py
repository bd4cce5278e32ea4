"""A tape is described, also one that is cut."""

from pathlib import Path

import pytest

from recorder.sources.tape import TapeWriter
from tests.cli.conftest import Recorder
from tests.tape.builders import HEADER, one_of_each


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "incident.tape.jsonl.zst"
    with TapeWriter(path, HEADER) as writer:
        writer.write(one_of_each())
    return path


def test_a_tape_is_described(recorder: Recorder, tape: Path) -> None:
    answer = recorder("tape", "info", str(tape))

    assert (answer.status, answer.err) == (0, "")
    assert "cluster demo (8a5d5e0e-" in answer.out
    assert "v1/pods" in answer.out


def test_a_tape_is_described_for_scripts(
    recorder: Recorder, tape: Path
) -> None:
    found = recorder("tape", "info", str(tape), "-o", "json").json

    assert found["cluster"] == "demo"
    assert found["frames"] == len(one_of_each())
    assert found["trouble"] is None
    assert found["started_at"] == "2026-11-21T03:18:00.000000Z"


def test_a_tape_that_is_cut_is_described_as_far_as_it_goes(
    recorder: Recorder, tape: Path
) -> None:
    content = tape.read_bytes()
    tape.write_bytes(content[: len(content) - 40])

    answer = recorder("tape", "info", str(tape))

    assert answer.status == 1
    assert "cluster demo" in answer.out
    assert answer.err.startswith("recorder: ")


def test_a_file_that_is_no_tape_is_refused(
    recorder: Recorder, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.write_text("hello\n")

    for path in (other, tmp_path / "missing"):
        answer = recorder("tape", "info", str(path))

        assert (answer.status, answer.out) == (1, "")
        assert str(path) in answer.err
