"""A truncated tape is readable up to the cut, which is reported."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recorder.sources.tape import TapeTruncatedError, TapeWriter, writer
from tests.tape.builders import (
    HEADER,
    a_frame,
    one_of_each,
    read_up_to_the_trouble,
    write,
)

OBSERVATIONS = [*one_of_each(), *(a_frame(n, 50) for n in range(20, 25))]


def test_a_plain_tape_gives_every_line_that_is_complete(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "a.tape.jsonl", OBSERVATIONS)
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])

        seen, trouble = read_up_to_the_trouble(path)

        # A line that lacks only its newline is complete.
        cut_line = b"\n" not in whole[max(0, cut - 1) : cut + 1]
        lines = whole[:cut].count(b"\n") + whole[cut:].startswith(b"\n")
        assert seen == OBSERVATIONS[: max(0, lines - 1)]
        if cut_line:
            assert isinstance(trouble, TapeTruncatedError)
            assert trouble.line == lines + 1
        else:
            assert trouble is None


def test_a_compressed_tape_gives_every_block_that_is_complete(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.tape.jsonl.zst"
    ends = []
    with TapeWriter(path, HEADER) as tape:
        for observation in OBSERVATIONS:
            tape.write([observation])
            tape.flush()
            ends.append(path.stat().st_size)
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])

        seen, trouble = read_up_to_the_trouble(path)

        assert seen == OBSERVATIONS[: sum(end <= cut for end in ends)]
        assert isinstance(trouble, TapeTruncatedError)
        assert "tape ends within" in str(trouble) or "is empty" in str(trouble)


def test_only_a_cut_between_zstd_frames_goes_unnoticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There the lines are whole, as on a tape that is shorter."""
    monkeypatch.setattr(writer, "_FRAME_BYTES_MAX", 500)
    path = write(tmp_path / "a.tape.jsonl.zst", OBSERVATIONS)
    whole = path.read_bytes()
    unnoticed = 0
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])

        seen, trouble = read_up_to_the_trouble(path)

        assert seen == OBSERVATIONS[: len(seen)]
        assert trouble is None or isinstance(trouble, TapeTruncatedError)
        unnoticed += trouble is None

    assert unnoticed == whole.count(b"\x28\xb5\x2f\xfd") - 1


def test_a_flushed_line_is_there_for_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl.zst"
    copy = tmp_path / "copy"
    with TapeWriter(path, HEADER) as tape:
        tape.write(OBSERVATIONS)
        tape.flush()
        shutil.copy(path, copy)

    seen, trouble = read_up_to_the_trouble(copy)

    assert seen == OBSERVATIONS
    assert isinstance(trouble, TapeTruncatedError)
    assert trouble.line == len(OBSERVATIONS) + 2


def test_what_is_written_later_than_a_second_flushes_by_itself(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.tape.jsonl.zst"
    now = 100.0
    with TapeWriter(path, HEADER, steady=lambda: now) as tape:
        tape.write(OBSERVATIONS[:3])
        size = path.stat().st_size
        now += writer.FLUSH_SECONDS
        tape.write(OBSERVATIONS[3:5])
        shutil.copy(path, tmp_path / "copy")

    seen, _ = read_up_to_the_trouble(tmp_path / "copy")

    assert seen == OBSERVATIONS[:5]
    assert path.stat().st_size > size


def test_a_writer_that_is_killed_leaves_a_tape(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl.zst"
    program = f"""
import os, pathlib, signal
from tests.tape.builders import HEADER, a_frame
from recorder.sources.tape import TapeWriter
with TapeWriter(pathlib.Path({str(path)!r}), HEADER) as tape:
    tape.write([a_frame(n) for n in range(50)])
    tape.flush()
    tape.write([a_frame(n) for n in range(50, 60)])
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", program], check=False)

    seen, trouble = read_up_to_the_trouble(path)

    assert seen[:50] == [a_frame(n) for n in range(50)]
    assert isinstance(trouble, TapeTruncatedError)
