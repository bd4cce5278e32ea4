"""Tapes: plain, compressed and damaged ones."""

import os
import random
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal

from recorder.model.observation import (
    InputRefused,
    Observation,
    StreamClosed,
)
from recorder.model.reference import Resource
from recorder.model.zstd import (
    CompressionParameter,
    ZstdCompressor,
    ZstdDecompressor,
)
from recorder.sources.tape import (
    NotATapeError,
    TapeDamagedError,
    TapeError,
    TapeLineTooLongError,
    TapeReader,
    TapeTruncatedError,
)
from recorder.sources.tape.lines import line_of
from tests.fuzz.checks import check_admitted, documents_of, loaded
from tests.fuzz.mutation import damaged, mutated, seeded
from tests.fuzz.seeds import tape_lines
from tests.fuzz.streams import sequenced
from tests.tape.builders import one_of_each

__all__ = ["LINE_BYTES_MAX", "check_tape", "folder", "make_tape", "read_tape"]

AT = datetime(2026, 11, 21, 3, 18, tzinfo=UTC)
LINE_BYTES_MAX = 64 << 20
PODS = Resource("", "v1", "pods")
_FRAME = (
    b'{"at":"2026-11-21T03:18:01.000000Z","source":"watch","frame":"watch",'
    b'"resource":"v1/pods","event":{"type":"MODIFIED","object":%b}}'
)
_CHECKSUM: dict[int, int] = {CompressionParameter.checksum_flag: 1}


@cache
def folder() -> Path:
    """Return a folder for this process alone, in memory if possible."""
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else None
    holder = tempfile.TemporaryDirectory(prefix="recorder-fuzz-", dir=where)
    _kept.append(holder)
    return Path(holder.name)


_kept: list[tempfile.TemporaryDirectory[str]] = []


@cache
def good_lines() -> tuple[bytes, ...]:
    """Return lines that a reader must take: a crash's, one of each kind."""
    written = map(line_of, one_of_each())
    return (
        *tape_lines()[1:],
        *(line.rstrip(b"\n") for line in written if line is not None),
    )


def make_tape(chance: random.Random) -> bytes:
    """Make the content of a tape, with at most a few lines mutated."""
    lines = [tape_lines()[0]]
    for _ in range(chance.choice((1, 3, 6))):
        if chance.random() < 0.6:
            lines.append(chance.choice(good_lines()))
        else:
            raw = seeded(chance)[0]
            if chance.random() < 0.5:
                raw = mutated(raw, chance)
            lines.append(_FRAME % raw.replace(b"\n", b" "))
    if chance.random() < 0.5:
        which = chance.randrange(len(lines))
        lines[which] = mutated(lines[which], chance)
    content = b"\n".join(lines) + b"\n"
    if chance.random() < 0.2:
        content = mutated(content, chance)
    return content


def check_tape(content: bytes, chance: random.Random) -> list[str]:
    """Check a tape, plain or compressed; return what reading it raised."""
    path = folder() / "tape"
    bound = chance.choice((LINE_BYTES_MAX, LINE_BYTES_MAX, 2_000))
    path.write_bytes(content)
    seen, trouble = read_tape(path, bound)
    _check_plain(content, seen, trouble, bound)
    raised = [trouble]
    if chance.random() < 0.6:
        parts = _compressed(content, chance)
        compressed = b"".join(parts)
        path.write_bytes(compressed)
        again, other = read_tape(path, bound)
        if not isinstance(trouble, NotATapeError):
            assert again == seen, "compressed it is another tape"
            assert type(other) is type(trouble)
            assert trouble is None or (other and other.line == trouble.line)
        altered = damaged(compressed, chance)
        path.write_bytes(altered)
        proved = _lines_before(parts, altered)
        read = read_tape(path, bound)
        raised.append(read[1])
        _check_damaged(read, again, proved)
        is_cut = compressed.startswith(altered)
        _check_noticed(read, again, other, is_cut=is_cut)
    for observation in seen:
        if chance.random() < 0.25:
            sequenced(check_admitted(observation))
    sequenced(seen)
    return [type(error).__name__ for error in raised if error]


def read_tape(
    path: Path, bound: int
) -> tuple[list[Observation], TapeError | None]:
    seen: list[Observation] = []
    try:
        with TapeReader(path, line_bytes_max=bound) as tape:
            for number, observation in tape.frames():
                assert number == len(seen), "a frame with another number"
                seen.append(observation)
    except TapeError as exc:
        return seen, exc
    return seen, None


def _compressed(content: bytes, chance: random.Random) -> list[bytes]:
    """Compress in a row of frames and blocks, as writing over time does.

    Returns the output for each line; the end of a frame is never empty.
    """
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    compressor = ZstdCompressor(options=_CHECKSUM)
    ends: tuple[Literal[0, 1, 2], ...] = (
        ZstdCompressor.CONTINUE,
        ZstdCompressor.FLUSH_BLOCK,
        ZstdCompressor.FLUSH_FRAME,
    )
    parts = [compressor.compress(line, chance.choice(ends)) for line in lines]
    return [*parts, compressor.flush()]


def _check_plain(
    content: bytes,
    seen: list[Observation],
    trouble: TapeError | None,
    bound: int,
) -> None:
    header, *lines = content.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    for line, observation in zip(lines, seen, strict=False):
        _check_played(line, observation)
    if trouble is None:
        assert len(seen) == len(lines), "a line was passed over"
        return
    if trouble.line is None:
        assert isinstance(trouble, NotATapeError)
        assert not seen
        return
    if trouble.line == 1:
        assert not seen
        assert header != tape_lines()[0] or len(header) > bound
        return
    assert trouble.line == len(seen) + 2, "another line is blamed"
    blamed = lines[len(seen)]
    if isinstance(trouble, TapeLineTooLongError):
        assert len(blamed) > bound
    else:
        assert blamed not in good_lines(), "a good line is blamed"
        assert not isinstance(trouble, TapeDamagedError)
    if isinstance(trouble, TapeTruncatedError):
        assert blamed == lines[-1]
        assert not content.endswith(b"\n")


def _check_played(line: bytes, observation: Observation) -> None:
    """Fail unless a line has what was written into it."""
    frame = _loaded(line)
    if frame is None:
        return
    assert isinstance(frame, dict), "no frame was played"
    at = datetime.fromisoformat(frame["at"])
    assert abs(at - observation.observed_at) <= timedelta(microseconds=1)
    assert observation.source == frame["source"]
    held = _documents_in(frame)
    if isinstance(observation, InputRefused | StreamClosed):
        return
    documents = documents_of(observation)
    assert len(documents) == len(held)
    for (raw, _, _), document in zip(documents, held, strict=True):
        assert raw in line, "a document that no line holds"
        assert _same(_loaded(raw), document), "another document"


def _documents_in(frame: dict[str, Any]) -> list[Any]:
    match frame["frame"]:
        case "watch":
            return [frame["event"]["object"]]
        case "list" | "poll":
            return list(frame["items"])
        case "audit" | "cloudevent":
            return [frame["event"]]
        case _:
            return []


def _loaded(line: bytes) -> Any:
    """Decode; None for what is deeper than the standard library goes."""
    try:
        return loaded(line)
    except RecursionError:
        return None


def _same(some: Any, other: Any) -> bool:
    return some is None or bool(some == other)


def _lines_before(parts: list[bytes], altered: bytes) -> int:
    """Count the lines in zstd frames that end before anything was altered."""
    place = lines = proved = 0
    for part in parts:
        if altered[place : place + len(part)] != part:
            break
        place, lines = place + len(part), lines + 1
        # An empty part is held by the compressor, for the frame to come.
        if part and _is_whole(altered[:place]):
            proved = lines
    return proved


def _is_whole(compressed: bytes) -> bool:
    """Return whether bytes are a row of whole zstd frames."""
    while compressed:
        decompressor = ZstdDecompressor()
        decompressor.decompress(compressed)
        if not decompressor.eof:
            return False
        compressed = decompressor.unused_data
    return True


def _check_damaged(
    read: tuple[list[Observation], TapeError | None],
    whole: list[Observation],
    proved: int,
) -> None:
    """Fail unless what was read before the damage is what was recorded.

    Of the zstd frame that is damaged no checksum was seen, unless it is the
    checksum that shows it.
    """
    seen, error = read
    good = seen if _is_of_checksum(error) else seen[: max(0, proved - 1)]
    assert good == whole[: len(good)], "damage gave what was not recorded"
    assert len(seen) >= min(proved - 1, len(whole)), "good lines were lost"


def _is_of_checksum(error: TapeError | None) -> bool:
    return error is None or "checksum" in str(error)


def _check_noticed(
    read: tuple[list[Observation], TapeError | None],
    whole: list[Observation],
    trouble: TapeError | None,
    *,
    is_cut: bool,
) -> None:
    seen, error = read
    if error is None:
        assert is_cut or len(seen) == len(whole), "damage went unnoticed"
        assert is_cut or trouble is None
    elif error.line is not None and error.line > 1:
        assert error.line == len(seen) + 2, "another line is blamed"
