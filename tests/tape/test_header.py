"""The header, and what identifies a tape."""

from dataclasses import replace
from pathlib import Path

from recorder.sources.tape import TapeHeader, TapeReader, tape_identity
from recorder.sources.tape.header import header_line, parse_header
from tests.tape.builders import HEADER, a_frame, write


def header_of(path: Path) -> TapeHeader:
    with TapeReader(path) as tape:
        return tape.header


def test_a_header_survives_the_tape(tmp_path: Path) -> None:
    full = replace(HEADER, tape_uid="t", redaction_key_id="k")
    for header in (HEADER, full):
        path = write(tmp_path / "a.tape.jsonl.zst", [], header)

        assert header_of(path) == header


def test_fields_of_a_later_version_are_kept() -> None:
    line = header_line(HEADER).replace(b"{", b'{"later":{"a":[1]},', 1)

    header = parse_header(line)

    assert header.unknown == {"later": {"a": [1]}}
    assert parse_header(header_line(header)) == header


def test_a_tape_is_known_by_its_uid(tmp_path: Path) -> None:
    header = replace(HEADER, tape_uid="abc")
    path = write(tmp_path / "a.tape.jsonl", [a_frame(1)], header)

    assert tape_identity(path) == "abc"


def test_a_tape_without_uid_is_known_by_its_bytes(tmp_path: Path) -> None:
    first = write(tmp_path / "a.tape.jsonl", [a_frame(1)])
    same = write(tmp_path / "b.tape.jsonl", [a_frame(1)])
    other = write(tmp_path / "c.tape.jsonl", [a_frame(2)])

    assert tape_identity(first) == tape_identity(same)
    assert tape_identity(first) != tape_identity(other)
    assert tape_identity(first).startswith("sha256:")
