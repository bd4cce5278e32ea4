"""Memory does not grow with the tape."""

import tracemalloc
from pathlib import Path

import pytest

from recorder.model.zstd import compress, decompress
from recorder.sources.tape import TapeReader, TapeWriter, writer
from recorder.sources.tape.content import HELD_BYTES_MAX
from tests.tape.builders import HEADER, a_frame

CONTENT = 40 * 2**20
PEAK_MAX = HELD_BYTES_MAX + 4 * 2**20
"""What is held until its checksum was seen, and little beside it."""


@pytest.fixture(scope="module")
def tape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("memory") / "a.tape.jsonl.zst"
    with TapeWriter(path, HEADER) as tape:
        for number in range(CONTENT // 50_000):
            tape.write([a_frame(number, 50_000)])
    return path


def peak_of_reading(path: Path) -> int:
    tracemalloc.start()
    try:
        with TapeReader(path) as tape:
            for _ in tape.frames():
                pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_reading_a_tape_of_many_zstd_frames(tape: Path) -> None:
    assert peak_of_reading(tape) < PEAK_MAX


def test_reading_a_tape_of_one_zstd_frame(tape: Path) -> None:
    one = tape.with_name("one.tape.jsonl.zst")
    one.write_bytes(compress(decompress(tape.read_bytes())))

    assert peak_of_reading(one) < PEAK_MAX


def test_reading_a_plain_tape(tape: Path) -> None:
    plain = tape.with_name("plain.tape.jsonl")
    plain.write_bytes(decompress(tape.read_bytes()))

    assert peak_of_reading(plain) < 2**20


def test_our_zstd_frames_fit_into_what_is_held() -> None:
    """Else their checksums would come too late."""
    assert writer._FRAME_BYTES_MAX * 2 <= HELD_BYTES_MAX
