"""Each kind of bad tape: the error, its place, and what was read."""

import bz2
import gzip
import json
import lzma
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from recorder.model.errors import InputError
from recorder.model.zstd import compress, decompress
from recorder.sources.tape import (
    NotATapeError,
    TapeError,
    TapeFrameError,
    TapeHeaderError,
    TapeLineTooLongError,
    TapeReader,
    TapeTruncatedError,
    TapeUnreadableError,
    UnknownFrameError,
)
from tests.tape.builders import (
    HEADER,
    a_frame,
    read,
    read_up_to_the_trouble,
    write,
)

AT = b'"at":"2026-11-21T03:18:01.000000Z","source":"watch"'
WATCH = (
    b"{" + AT + b',"frame":"watch","resource":"v1/pods",'
    b'"event":{"type":"ADDED","object":{}}}'
)


def with_line(path: Path, line: bytes) -> Path:
    """A plain tape whose third frame is that line, with one after it."""
    write(path, [a_frame(1), a_frame(2)])
    path.write_bytes(path.read_bytes() + line + b"\n" + WATCH + b"\n")
    return path


def trouble_of(path: Path) -> TapeError:
    seen, trouble = read_up_to_the_trouble(path)
    assert seen == [a_frame(1), a_frame(2)]
    assert trouble is not None
    assert trouble.line == 4
    assert str(trouble).startswith(f'tape "{path}", line 4: ')
    assert "\n" not in str(trouble)
    return trouble


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"", "invalid JSON"),
        (b"{", "invalid JSON"),
        (b"\x00" * 40, "invalid JSON"),
        (WATCH + b"," + WATCH, "invalid JSON"),
        (WATCH.replace(b"{}", b'{"a":01}'), "invalid JSON"),
        (WATCH.replace(b"{}", b'{"a":NaN}'), "invalid JSON"),
        (
            WATCH.replace(b"{}", b'{"a":' * 3000 + b"1" + b"}" * 3000),
            "nested deeper",
        ),
        (WATCH.replace(b"{}", b'{"a":"\xc3("}'), "invalid UTF-8 at byte"),
        (b"[]", "not a frame"),
        (b"7", "not a frame"),
        (b"{}", "not a frame"),
        (b'{"frame":7}', "not a frame"),
        (WATCH.replace(AT + b",", b""), "`at`"),
        (WATCH.replace(b',"source":"watch"', b""), "`source`"),
        (WATCH.replace(b'"v1/pods"', b'"pods"'), "is not a resource"),
        (WATCH.replace(b'"v1/pods"', b"7"), "`$.resource`"),
        (WATCH.replace(b'"watch","frame"', b'"me","frame"'), "unknown source"),
        (WATCH.replace(b"v1/pods", b"v1/po\\u0000ds"), "not a name"),
        (WATCH.replace(b"v1/pods", b"v1/" + b"p" * 2_000), "not a name"),
        (WATCH.replace(b'"type":"ADDED",', b""), "`type`"),
        (WATCH.replace(b',"object":{}', b""), "`object`"),
        (b"{" + AT + b',"frame":"closed","reason":"eof"}', "`resource`"),
        (b"{" + AT + b',"frame":"epoch"}', "`reason`"),
        (
            b"{" + AT + b',"frame":"failed","resource":"v1/pods",'
            b'"status":4030,"reason":""}',
            "`$.status`",
        ),
        (
            b"{" + AT + b',"frame":"refused","bytes_base64":"!","sha256":"'
            b'","length":1,"reason":""}',
            "base64",
        ),
    ],
)
def test_a_line_that_is_no_frame_is_named(
    tmp_path: Path, line: bytes, says: str
) -> None:
    trouble = trouble_of(with_line(tmp_path / "a.tape.jsonl", line))

    assert isinstance(trouble, TapeFrameError)
    assert says in str(trouble)


@pytest.mark.parametrize(
    "moment",
    [
        "",
        "yesterday",
        "2026-11-21",
        "2026-11-21T03:18:01",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-11-21T25:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "1763695080",
    ],
)
def test_a_bad_time_is_named(tmp_path: Path, moment: str) -> None:
    line = WATCH.replace(b"2026-11-21T03:18:01.000000Z", moment.encode())

    trouble = trouble_of(with_line(tmp_path / "a.tape.jsonl", line))

    assert isinstance(trouble, TapeFrameError)
    assert "at" in str(trouble)


@pytest.mark.parametrize(
    "moment",
    [
        "2026-11-21T03:18:01Z",
        "2026-11-21t03:18:01z",
        "2026-11-21T03:18:01.0Z",
        "2026-11-21T03:18:01.000000000Z",
        "2026-11-21T03:18:01-00:00",
        "2026-11-21T05:18:01+02:00",
        "2026-11-20T17:48:01.000-09:30",
    ],
)
def test_any_time_of_rfc_3339_is_read(tmp_path: Path, moment: str) -> None:
    line = WATCH.replace(b"2026-11-21T03:18:01.000000Z", moment.encode())
    path = with_line(tmp_path / "a.tape.jsonl", line)

    third, fourth = read(path)[2:]

    assert third == fourth
    assert third.observed_at.tzinfo is HEADER.started_at.tzinfo


@pytest.mark.parametrize("kind", ["metrics", "", "Watch", 'a"\n' * 90])
def test_an_unknown_kind_of_frame_is_an_error(
    tmp_path: Path, kind: str
) -> None:
    line = WATCH.replace(b'"frame":"watch"', b'"frame":%b')
    path = with_line(
        tmp_path / "a.tape.jsonl", line % json.dumps(kind).encode()
    )

    trouble = trouble_of(path)

    assert isinstance(trouble, UnknownFrameError)
    assert "unknown frame " + json.dumps(kind[:80]) in str(trouble)


def test_fields_that_are_not_known_are_passed_over(tmp_path: Path) -> None:
    line = WATCH.replace(b"{", b'{"later":[1,{"frame":"x"}],', 1)
    path = with_line(tmp_path / "a.tape.jsonl", line)

    assert read(path)[2] == read(path)[3]


def test_the_order_of_the_fields_does_not_matter(tmp_path: Path) -> None:
    line = (
        b'{"event":{"object":{},"type":"ADDED"},"resource":"v1/pods",'
        b'"frame":"watch",' + AT + b"}"
    )
    path = with_line(tmp_path / "a.tape.jsonl", line)

    assert read(path)[2] == read(path)[3]


def test_a_line_over_the_limit_is_named(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.tape.jsonl.zst",
        [a_frame(1), a_frame(2, 300_000), a_frame(3)],
    )

    seen, trouble = read_up_to_the_trouble(path, line_bytes_max=200_000)

    assert seen == [a_frame(1)]
    assert isinstance(trouble, TapeLineTooLongError)
    assert "line 3: longer than 200000 bytes" in str(trouble)


def test_a_line_without_end_is_not_held_in_memory(tmp_path: Path) -> None:
    """100 MiB of spaces, in 10 KiB of zstd."""
    path = tmp_path / "a.tape.jsonl.zst"
    whole = decompress(write(path, []).read_bytes())
    path.write_bytes(compress(whole + b" " * 100 * 2**20))

    _, trouble = read_up_to_the_trouble(path, line_bytes_max=2**20)

    assert isinstance(trouble, TapeLineTooLongError)
    assert trouble.line == 2


@pytest.mark.parametrize(
    ("pack", "says"),
    [
        (gzip.compress, "this is gzip, .* recompress it: gzip -dc a.tape"),
        (bz2.compress, "this is bzip2, .* recompress it: bzip2 -dc a.tape"),
        (lzma.compress, "this is xz, .* recompress it: xz -dc a.tape"),
        (lambda _: b"\x7fELF\x02", "not a tape"),
        (lambda whole: b"\xef\xbb\xbf" + whole, "not a tape"),
        (lambda whole: b"\n" + whole, "not a tape"),
        (lambda _: b"apiVersion: v1\n", "not a tape"),
    ],
)
def test_another_kind_of_file_is_recognized(
    tmp_path: Path, pack: Callable[[bytes], bytes], says: str
) -> None:
    path = write(tmp_path / "a.tape.jsonl", [a_frame(1)])
    path.write_bytes(pack(path.read_bytes()))

    with pytest.raises(NotATapeError, match=says), TapeReader(path):
        pass


def header_with(**changes: object) -> bytes:
    fields = {
        "tape": "recorder/1",
        "cluster": "demo",
        "cluster_uid": "u",
        "kubernetes": "v1.36.3",
        "started_at": "2026-11-21T03:18:00Z",
    } | changes
    present = {k: v for k, v in fields.items() if v is not None}
    return json.dumps(present).encode()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (WATCH, "not the header of a tape"),
        (b'{"kind":"Pod"}', "not the header of a tape"),
        (b"{7}", "not the header of a tape"),
        (b'{"tape":"\xff"}', "invalid UTF-8"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "not the header of a tape"),
        (header_with(tape="recorder/2"), 'format "recorder/2", this version'),
        (header_with(tape=1), "not the header of a tape"),
        (header_with(cluster=None), "`cluster`"),
        (header_with(cluster_uid=None), "`cluster_uid`"),
        (header_with(kubernetes=None), "`kubernetes`"),
        (header_with(started_at=None), "`started_at`"),
        (header_with(started_at="now"), "`$.started_at`"),
        (header_with(started_at="0001-01-01T00:00:00+01:00"), "cannot be"),
        (header_with(tape_uid=7), "`$.tape_uid`"),
    ],
)
def test_a_bad_header_is_named(tmp_path: Path, line: bytes, says: str) -> None:
    path = tmp_path / "a.tape.jsonl"
    path.write_bytes(line + b"\n" + WATCH + b"\n")

    with pytest.raises(TapeHeaderError) as caught, TapeReader(path):
        pass

    assert caught.value.line == 1
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", compress(b""), struct.pack("<II", 0x184D2A50, 0)]
)
def test_an_empty_file_is_a_tape_that_was_cut(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "a.tape.jsonl.zst"
    path.write_bytes(content)

    with pytest.raises(TapeTruncatedError, match="empty"), TapeReader(path):
        pass


def test_a_file_that_is_not_there_or_a_folder_is_unreadable(
    tmp_path: Path,
) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(TapeUnreadableError, match=str(path)):
            TapeReader(path).__enter__()


def test_every_trouble_with_a_tape_is_an_input_error() -> None:
    assert issubclass(TapeError, InputError)


def test_zstd_of_other_makers_is_read(tmp_path: Path) -> None:
    """Several zstd frames, cut within lines, and frames without content."""
    frames = [a_frame(n, 100) for n in range(20)]
    path = write(tmp_path / "a.tape.jsonl", frames)
    whole = path.read_bytes()
    skipped = struct.pack("<II", 0x184D2A5F, 3) + b"abc"
    path.write_bytes(
        skipped
        + b"".join(
            compress(whole[start : start + 100]) + skipped + compress(b"")
            for start in range(0, len(whole), 100)
        )
    )

    assert read(path) == frames
