"""Cutting streams into frames; what is in a frame is in `test_frames`."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from recorder.sources.watch.splitter import Oversized, Splitter

LINES = st.lists(st.binary(max_size=40).filter(lambda b: b"\n" not in b))
CUTS = st.lists(st.integers(min_value=1, max_value=30), min_size=1)
BOUND = 20


def _portions(data: bytes, sizes: list[int]) -> list[bytes]:
    portions, turn = [], 0
    while data:
        size = sizes[turn % len(sizes)]
        portions.append(data[:size])
        data, turn = data[size:], turn + 1
    return portions


def _split(portions: list[bytes]) -> tuple[list[bytes | Oversized], int]:
    splitter = Splitter(frame_bytes_max=BOUND, head_bytes=8)
    frames = [f for portion in portions for f in splitter.feed(portion)]
    return frames, splitter.partial


@given(LINES, st.binary(max_size=40).filter(lambda b: b"\n" not in b), CUTS)
def test_any_portioning_gives_the_same_frames(
    lines: list[bytes], rest: bytes, sizes: list[int]
) -> None:
    data = b"".join(line + b"\n" for line in lines) + rest

    frames, partial = _split(_portions(data, sizes))

    assert (frames, partial) == _split([data])
    assert partial == len(rest)
    assert len(frames) == sum(1 for line in lines if line)


@given(LINES, CUTS)
def test_every_byte_is_accounted_for(
    lines: list[bytes], sizes: list[int]
) -> None:
    data = b"".join(line + b"\n" for line in lines)

    frames, _ = _split(_portions(data, sizes))

    for frame, line in zip(frames, filter(None, lines), strict=True):
        if len(line) <= BOUND:
            assert frame == line
        else:
            digest = hashlib.sha256(line).hexdigest()
            assert frame == Oversized(line[:8], digest, len(line))


def test_an_endless_line_takes_no_memory() -> None:
    splitter = Splitter(frame_bytes_max=BOUND, head_bytes=8)
    for _ in range(1000):
        assert not list(splitter.feed(b"x" * 1000))

    assert not splitter._parts
    (frame,) = splitter.feed(b"\n")
    assert isinstance(frame, Oversized)
    assert frame.length == 1_000_000
