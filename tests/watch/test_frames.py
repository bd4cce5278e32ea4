"""Reading one line; how lines are found is in `test_splitter`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.sources.watch.frames import Failed, Frame, Refused, read_frame

ADDED = (
    b'{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a",'
    b'"uid":"u1","resourceVersion":"7"},"spec":{"x": 1.50}}}'
)
EXPIRED = (
    b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"old"}}'
)
UNREADABLE = [
    b"{",
    b"null",
    b"[]",
    b'{"type":"ADDED"}',
    b'{"type":3,"object":{}}',
    b'{"type":"ADDED","object":[]}',
    b'{"type":"ADDED","object":{"metadata":7}}',
    b'{"type":"\xff","object":{}}',
    b'{"type":"ADDED","object":{"metadata":{"name":"\xff"}}}',
    b'{"type":"ADDED","object":' + b"[" * 100_000 + b"}",
    b'{"type":"MELTED","object":{}}',
    b"<html>502 Bad Gateway</html>",
]


def test_the_object_is_kept_as_sent() -> None:
    frame = read_frame(ADDED, head_bytes=10)

    assert isinstance(frame, Frame)
    assert ADDED.endswith(frame.object + b"}")
    assert (frame.type, frame.version, frame.uid) == ("ADDED", "7", "u1")


def test_an_error_gives_its_code() -> None:
    frame = read_frame(EXPIRED, head_bytes=10)

    assert isinstance(frame, Failed)
    assert (frame.code, frame.message) == (410, "old")


@pytest.mark.parametrize("line", UNREADABLE)
def test_what_cannot_be_read_is_refused(line: bytes) -> None:
    frame = read_frame(line, head_bytes=10)

    assert isinstance(frame, Refused)
    assert frame.length == len(line)
    assert frame.head == line[:10]


@given(st.binary(max_size=200))
def test_no_bytes_raise(line: bytes) -> None:
    read_frame(line, head_bytes=10)


@given(st.integers(0, len(ADDED) - 1), st.integers(0, 255))
def test_no_damage_raises(place: int, byte: int) -> None:
    read_frame(
        ADDED[:place] + bytes([byte]) + ADDED[place + 1 :], head_bytes=10
    )
