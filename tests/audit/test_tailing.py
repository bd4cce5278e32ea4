"""Following an audit log through whatever happens to its files."""

import asyncio
import gzip
import os
import random
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.intake.ports import HeldVersion, KnownObject
from recorder.intake.receipts import Receipt, Receipts
from recorder.model.observation import (
    AuditRecorded,
    InputRefused,
    Observation,
    PlaceReached,
    RecordsLost,
)
from recorder.model.reference import Resource
from recorder.sources.audit import AuditImport, AuditTail, lines

RECORD = b'{"kind":"Event","auditID":"%d","stage":"Panic","verb":"get"}'


class Kept:
    """A sink, and what it knows of places."""

    def __init__(self) -> None:
        self.seen: list[Observation] = []
        self.places: dict[str, str] = {}
        self._more = asyncio.Condition()

    async def put(self, observations: Sequence[Observation]) -> Receipt:
        self.seen += observations
        assert observations
        for one in observations:
            if isinstance(one, PlaceReached) and one.state == "gone":
                del self.places[one.stream]
            elif isinstance(one, PlaceReached):
                self.places[one.stream] = one.place
        async with self._more:
            self._more.notify_all()
        return Receipt(Receipts(), batch=0)

    async def until(self, records: int) -> None:
        """Wait until so many records are kept."""
        async with self._more:
            await self._more.wait_for(lambda: len(self.records()) >= records)

    async def until_state(self, state: str) -> None:
        """Wait until this was put last of any stream."""

        def is_there() -> bool:
            last = self.seen[-1]
            return isinstance(last, PlaceReached) and last.state == state

        async with self._more:
            await self._more.wait_for(is_there)

    def resume_points(self) -> Mapping[str, str]:
        return self.places

    def is_new(self, resource: Resource) -> bool:
        raise AssertionError(resource)

    def entered(self, resource: Resource) -> str | None:
        raise AssertionError(resource)

    async def owned(self) -> Mapping[str, Sequence[int]]:
        raise AssertionError

    async def newest(self, count: int) -> Sequence[KnownObject]:
        raise AssertionError(count)

    async def versions(self, resource: Resource) -> Mapping[str, HeldVersion]:
        raise AssertionError(resource)

    async def lacking(
        self, resource: Resource, versions: Sequence[int]
    ) -> Sequence[int]:
        raise AssertionError(resource, versions)

    def records(self) -> list[bytes]:
        return [o.event for o in self.seen if isinstance(o, AuditRecorded)]

    def lost(self) -> list[RecordsLost]:
        return [o for o in self.seen if isinstance(o, RecordsLost)]


async def follow(path: Path, kept: Kept, until: int) -> None:
    """Follow a log until so many records are kept, and be stopped then."""
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        tail = AuditTail([path], look_seconds=0.005)
        task = group.create_task(tail.run(kept, kept))
        await kept.until(until)
        task.cancel()


def write(path: Path, *numbers: int) -> None:
    with path.open("ab") as file:
        for number in numbers:
            file.write(RECORD % number + b"\n")


def ids(*numbers: int) -> list[bytes]:
    return [RECORD % number for number in numbers]


def rotate(path: Path, at: int, *, zipped: bool = False) -> None:
    """Rotate as the API server does: rename, and perhaps compress."""
    older = path.with_name(f"{path.stem}-2026-01-01T00-00-{at:02}.log")
    path.rename(older)
    os.utime(older, (1000 + at, 1000 + at))
    if zipped:
        with gzip.open(f"{older}.gz", "wb") as file:
            file.write(older.read_bytes())
        os.utime(f"{older}.gz", (1000 + at, 1000 + at))
        older.unlink()


@pytest.mark.parametrize("zipped", [False, True])
async def test_a_log_that_was_rotated_without_a_reader_is_read_on(
    tmp_path: Path, *, zipped: bool
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    write(path, 1, 2)
    await follow(path, kept, 2)
    write(path, 3)
    rotate(path, 1, zipped=zipped)
    write(path, 4)
    rotate(path, 2, zipped=zipped)
    write(path, 5)
    await follow(path, kept, 5)

    assert kept.records() == ids(1, 2, 3, 4, 5)
    assert not kept.lost()


async def test_a_log_is_followed_while_it_is_written_and_rotated(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    async with asyncio.TaskGroup() as group:
        write(path, 0)
        task = group.create_task(follow(path, kept, 200))
        await kept.until(1)
        for number in range(1, 200):
            write(path, number)
            if number % 37 == 36:
                rotate(path, number // 37)
            await asyncio.sleep(0)
        await task
    assert kept.records() == ids(*range(200))
    assert not kept.lost()


async def test_what_was_rotated_away_is_reported_as_lost(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    write(path, 1)
    await follow(path, kept, 1)
    write(path, 2)
    path.unlink()
    write(path, 3)
    await follow(path, kept, 2)

    assert kept.records() == ids(1, 3)
    assert [lost.stream for lost in kept.lost()] == [str(path)]
    where = kept.seen.index(kept.lost()[0])
    assert isinstance(kept.seen[where + 1], AuditRecorded)


async def test_a_line_that_is_being_written_is_waited_for(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    write(path, 1)
    with path.open("ab") as file:
        file.write((RECORD % 2)[:20])
    await follow(path, kept, 1)
    with path.open("ab") as file:
        file.write((RECORD % 2)[20:] + b"\n")
    await follow(path, kept, 2)
    assert kept.records() == ids(1, 2)


async def test_a_line_beyond_the_bound_is_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LINE_BYTES_MAX", 100)
    path, kept = tmp_path / "audit.log", Kept()
    write(path, 1)
    with path.open("ab") as file:
        file.write(b"x" * 1000 + b"\n")
    write(path, 2)
    await follow(path, kept, 2)
    assert kept.records() == ids(1, 2)
    (refused,) = [o for o in kept.seen if isinstance(o, InputRefused)]
    assert refused.length == 1000


async def test_a_file_that_was_followed_is_not_imported_again(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    write(path, 1, 2)
    await follow(path, kept, 2)
    write(path, 3)
    rotate(path, 1, zipped=True)
    (older,) = tmp_path.glob("*.gz")  # noqa: ASYNC240
    copy = Path(shutil.copy(older, tmp_path / "copy.gz"))
    importing = AuditImport([older, copy])
    await importing.run(kept, kept)
    assert kept.records() == ids(1, 2, 3)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32))
def test_each_line_is_read_once_whenever_the_reader_is_stopped(
    seed: int,
) -> None:
    """Stopped and started at random between writes and rotations."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(at_random(chance, Path(name)))


async def at_random(chance: random.Random, folder: Path) -> None:
    path, kept, written = folder / "audit.log", Kept(), 0
    # What was rotated before it was ever followed is for an import.
    before = 0
    for step in range(12):
        match chance.randrange(3):
            case 0:
                write(path, *range(written, written + 3))
                written += 3
            case 1 if written:
                rotate(path, step, zipped=chance.random() < 0.5)
                before = before if kept.seen else written
                write(path, written)
                written += 1
            case _ if written:
                await follow(path, kept, written - before)
            case _:
                continue
    if written:
        await follow(path, kept, written - before)
    assert kept.records() == ids(*range(before, written))
    assert not kept.lost()


async def test_a_missing_log_is_reported_until_it_is_there(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    missing: dict[str, str] = {}
    tail = AuditTail([path], unread=missing, look_seconds=0.005)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(tail.run(kept, kept))
        while not missing:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.001)
        write(path, 1)
        await kept.until(1)
        while missing:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.001)
        task.cancel()

    assert kept.records() == ids(1)


def states(kept: Kept) -> dict[str, str]:
    """The state of each stream, as it was put last."""
    return {
        "log" if one.stream.endswith("audit.log") else one.stream: one.state
        for one in kept.seen
        if isinstance(one, PlaceReached)
    }


async def test_a_file_that_was_rotated_has_ended_and_is_forgotten_with_it(
    tmp_path: Path,
) -> None:
    """Also by a tail that was started after it."""
    path, kept = tmp_path / "audit.log", Kept()
    write(path, 1)
    await follow(path, kept, 1)
    assert sorted(states(kept).values()) == ["live", "live"]
    rotate(path, 1)
    write(path, 2)
    await follow(path, kept, 2)
    assert sorted(states(kept).values()) == ["ended", "live", "live"]

    for older in tmp_path.glob("audit-*"):  # noqa: ASYNC240
        older.unlink()
    rotate(path, 2)
    write(path, 3)
    await follow(path, kept, 3)

    assert sorted(states(kept).values()) == ["ended", "gone", "live", "live"]
    assert len(kept.places[str(path)].split()) == 2
    assert not kept.lost()


async def test_what_is_known_of_a_replaced_file_goes_with_it(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    write(path, 1)
    await follow(path, kept, 1)
    path.unlink()
    write(path, 2)
    await follow(path, kept, 2)

    assert sorted(states(kept).values()) == ["gone", "live", "live"]
    assert len(kept.lost()) == 1


async def test_a_log_that_went_is_waited_for_and_read_on(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    write(path, 1)
    tail = AuditTail([path], look_seconds=0.005)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(tail.run(kept, kept))
        await kept.until(1)
        path.rename(tmp_path / "elsewhere")
        await kept.until_state("backing-off")
        (tmp_path / "elsewhere").rename(path)
        await kept.until_state("live")
        task.cancel()

    assert kept.records() == ids(1)
    assert not kept.lost()


async def test_a_file_that_was_imported_has_ended(tmp_path: Path) -> None:
    path, kept = tmp_path / "old.log", Kept()
    write(path, 1)
    importing = AuditImport([path])
    await importing.run(kept, kept)

    assert list(states(kept).values()) == ["ended"]
