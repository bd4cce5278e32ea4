"""Where answers go: what cannot be written, and what a terminal gets."""

import os
import sys
from pathlib import Path

import orjson
import pytest

from recorder.cli.output import OutputError, json_bytes, write, yaml_bytes
from recorder.model.outcomes import Happened

STEERING = "\x7f \x9b31m \u202e \u2066"


def test_a_full_disk_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)

        with pytest.raises(OutputError, match="No space left on device"):
            write(b"an answer\n")


def test_a_standard_output_that_is_closed_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    with pytest.raises(OutputError, match="standard output is closed"):
        write(b"an answer\n")


def test_json_steers_no_terminal_and_stays_what_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.openpty()
    with os.fdopen(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)

        write(json_bytes({"says": STEERING}, on_one_line=True))

        shown = os.read(reader, 1000)
    os.close(reader)
    assert shown.isascii()
    assert b"\x7f" not in shown
    assert orjson.loads(shown) == {"says": STEERING}


def test_what_is_no_terminal_gets_every_byte(tmp_path: Path) -> None:
    content = json_bytes({"says": STEERING})
    path = tmp_path / "answer"
    with path.open("w") as file, pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "stdout", file)
        write(content)

    assert path.read_bytes() == content


def test_yaml_writes_a_word_of_the_contract_as_json_does() -> None:
    assert yaml_bytes({"happened": Happened.REBOOT}) == b"happened: reboot\n"
