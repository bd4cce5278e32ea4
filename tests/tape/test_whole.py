"""A tape that is cut is there whole, or not at all."""

from pathlib import Path

import pytest

from recorder.sources.tape import (
    TapeExistsError,
    TapeHeader,
    TapeReader,
    whole_tape,
)
from tests.support.builders import PODS, a_list, an_object, at

HEADER = TapeHeader(
    cluster="prod", cluster_uid="uid", kubernetes="v1.36.3", started_at=at()
)


def frames(path: Path) -> int:
    with TapeReader(path) as tape:
        return len(list(tape.frames()))


def test_it_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl.zst"
    with whole_tape(path, HEADER) as writer:
        writer.write([a_list(PODS, 1, an_object("a", 1))])
        assert not path.exists()

    assert frames(path) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl"

    with pytest.raises(KeyboardInterrupt), whole_tape(path, HEADER):
        raise KeyboardInterrupt

    assert list(tmp_path.iterdir()) == []


def test_what_fails_leaves_what_was_to_be_written_over(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.tape.jsonl"
    path.write_text("mine")

    with (
        pytest.raises(ZeroDivisionError),
        whole_tape(path, HEADER, overwrite=True),
    ):
        raise ZeroDivisionError

    assert path.read_text() == "mine"


def test_a_file_that_came_meanwhile_is_not_written_over(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.tape.jsonl"

    with pytest.raises(TapeExistsError), whole_tape(path, HEADER):
        path.write_text("theirs")

    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]
