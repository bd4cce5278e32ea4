"""Audit logs that cannot be read, or not to their end."""

import asyncio
import bz2
import gzip
import lzma
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from recorder.doctor.health.server import HealthServer
from recorder.intake.progress import Progress, Received
from recorder.model import zstd
from recorder.model.observation import AuditRecorded, PlaceReached
from recorder.sources.audit import AuditImport, AuditTail, cut_off
from tests.audit.test_tailing import Kept, ids, write

WAIT_SECONDS = 0.3
OLDER = "audit-2026-01-01T00-00-00.log"


def a_line(number: int) -> bytes:
    return (
        b'{"auditID":"%d","stage":"Panic","verb":"get","stageTimestamp":"2026-01-01T00:00:%02d.000000Z",'
        b'"noise":"%s"}\n' % (number, number, os.urandom(3000).hex().encode())
    )


LINES = [a_line(number) for number in range(60)]


async def follow(
    path: Path, kept: Kept, until: int, unread: dict[str, str] | None = None
) -> None:
    """Follow a log until so many records are kept, and be stopped then."""
    tail = AuditTail(
        [path], unread=unread, look_seconds=0.005, wait_seconds=WAIT_SECONDS
    )
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(tail.run(kept, kept))
        await kept.until(until)
        task.cancel()


def begun(path: Path) -> None:
    """Let a log begin with the first line, to be rotated later."""
    path.write_bytes(LINES[0])


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


WHOLE = b"".join(LINES)
DAMAGED: dict[str, tuple[str, bytes]] = {
    "gzip": (".gz", half(gzip.compress(WHOLE))),
    "gzip, with another sum": (".gz", gzip.compress(WHOLE)[:-8] + bytes(8)),
    "gzip, without its end": (".gz", gzip.compress(WHOLE)[:-4]),
    "bzip2": (".bz2", half(bz2.compress(WHOLE))),
    "xz": (".xz", half(lzma.compress(WHOLE))),
    "zstd": (".zst", half(zstd.compress(WHOLE))),
    "within a line": ("", WHOLE[:-100]),
    "zeros": ("", WHOLE[:100_000] + bytes(5000)),
}


@pytest.mark.parametrize("name", DAMAGED)
async def test_of_a_damaged_file_the_readable_part_is_taken_and_the_rest_lost(
    tmp_path: Path, name: str
) -> None:
    suffix, content = DAMAGED[name]
    path, kept = tmp_path / "audit.log", Kept()
    begun(path)
    await follow(path, kept, 1)
    path.unlink()
    older = path.with_name(OLDER + suffix)
    older.write_bytes(content)
    write(path, 100, 101)
    await follow(path, kept, max(readable(older), 1) + 2)

    records = kept.records()
    read = len(records) - 2
    assert records[:read] == [line[:-1] for line in LINES[:read]]
    assert records[read:] == ids(100, 101)
    (lost,) = kept.lost()
    assert lost.reason == cut_off.CUT_OFF
    assert lost.possible is not None
    assert str(older) in lost.possible
    if read > 1:
        assert lost.since is not None
        assert f"{lost.since:%H:%M:%S}" == f"00:00:{read - 1:02}"
    where = kept.seen.index(lost)
    assert sum(isinstance(o, AuditRecorded) for o in kept.seen[:where]) == read

    write(path, 102)
    await follow(path, kept, read + 3)
    assert len(kept.lost()) == 1


def readable(path: Path) -> int:
    """Return how many lines of a damaged file its own library returns."""
    opens: dict[str, Any] = {
        ".gz": gzip.open,
        ".bz2": bz2.open,
        ".xz": lzma.open,
        ".zst": zstd.open,
    }
    count = 0
    unpack = opens.get(path.suffix, Path.open)
    with suppress(EOFError, OSError), unpack(path, "rb") as file:
        while file.readline().endswith(b"\n"):
            count += 1
    return count


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08\x00", b"PK\x03\x04z"])
async def test_a_file_of_which_nothing_can_be_read_is_lost_by_its_name(
    tmp_path: Path, content: bytes
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    write(path, 1)
    await follow(path, kept, 1)
    path.rename(tmp_path / OLDER)
    os.utime(tmp_path / OLDER, (1000, 1000))
    broken = tmp_path / "audit-2026-01-01T00-00-01.log.gz"
    broken.write_bytes(content)
    os.utime(broken, (2000, 2000))
    write(path, 2)
    await follow(path, kept, 2)

    assert kept.records() == ids(1, 2)
    (lost,) = kept.lost()
    assert lost.possible is not None
    assert str(broken) in lost.possible


async def test_a_file_that_is_being_compressed_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside itself, as the API server does it, and alone."""
    monkeypatch.setattr(cut_off, "SETTLED_SECONDS", 0.05)
    path, kept = tmp_path / "audit.log", Kept()
    begun(path)
    await follow(path, kept, 1)
    path.unlink()
    (tmp_path / OLDER).write_bytes(WHOLE)
    zipped = tmp_path / f"{OLDER}.gz"
    zipped.write_bytes(half(gzip.compress(WHOLE)))
    write(path, 100)
    await follow(path, kept, 61)
    assert not kept.lost()

    path.rename(tmp_path / "audit-2026-01-01T00-00-01.log")
    second = tmp_path / "audit-2026-01-01T00-00-01.log.gz"
    content = gzip.compress(ids(100)[0] + b"\n" + WHOLE)
    (tmp_path / "audit-2026-01-01T00-00-01.log").unlink()
    second.write_bytes(half(content))
    write(path, 101)
    unread: dict[str, str] = {}
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        tail = AuditTail(
            [path], unread=unread, look_seconds=0.005, wait_seconds=5
        )
        task = group.create_task(tail.run(kept, kept))
        while not unread:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.001)
        second.write_bytes(content)
        await kept.until(61 + 60 + 1)
        task.cancel()

    assert kept.records()[-1:] == ids(101)
    assert not kept.lost()
    assert str(second) in unread.get(str(path), str(second))


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "cut off"])
async def test_a_log_that_cannot_be_read_is_reported_until_it_can(
    tmp_path: Path, kind: str
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path)
        case _:
            path.write_bytes(b"\x1f\x8b")
    progress = Progress(state="standing-by", received=(received := Received()))
    tail = AuditTail([path], unread=received.unread, look_seconds=0.005)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(tail.run(kept, kept))
        while not received.unread:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.001)
        said, is_ready = HealthServer(progress)._ready()
        path.rmdir() if kind == "folder" else path.unlink()
        write(path, 1)
        await kept.until(1)
        while received.unread:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.001)
        task.cancel()

    assert is_ready
    assert f"the audit log {path} is not read: " in said
    assert kept.records() == ids(1)
    assert isinstance(kept.seen[-1], PlaceReached)


async def test_of_a_damaged_file_that_is_imported_the_readable_part_is_taken(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "old.log.gz", Kept()
    path.write_bytes(DAMAGED["gzip"][1])
    importing = AuditImport([path])
    await importing.run(kept, kept)

    assert 1 < len(kept.records()) < len(LINES)
    (lost,) = kept.lost()
    assert lost.proved.startswith("old.log.gz: line")


async def test_what_is_no_file_is_not_imported(tmp_path: Path) -> None:
    pipe, kept = tmp_path / "pipe", Kept()
    os.mkfifo(pipe)
    importing = AuditImport([pipe])
    await importing.run(kept, kept)

    assert not kept.seen
    assert "is not a regular file" in str(importing.files[0].trouble)
