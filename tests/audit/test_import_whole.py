"""Nothing is lost or doubled by an import, whatever happens to its files."""

import asyncio
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recorder.intake.receipts import Receipt, Receipts
from recorder.model.observation import Observation, RecordsLost
from recorder.sources.audit import AuditImport, ImportedFile, importing
from recorder.sources.files import unpacking
from tests.audit.test_exports import EVENT, RECORD, TEXT
from tests.audit.test_tailing import Kept


def quoted(record: dict[str, Any]) -> str:
    return '"' + json.dumps(record).replace('"', '""') + '"'


async def imported(path: Path, kept: Kept) -> tuple[int, int, int]:
    source = AuditImport([path])
    await source.run(kept, kept)
    (file,) = source.files
    assert file.trouble is None
    return file.records, file.refused, file.cut


async def test_rows_behind_a_damaged_one_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    one = quoted(RECORD)
    path.write_text(f"@message\n{one}x\n{one}\n{one}\n{one[:90]}")

    assert await imported(path, Kept()) == (2, 0, 2)


@pytest.mark.parametrize("indent", [None, 4])
async def test_records_that_are_texts_of_a_list_are_read(
    tmp_path: Path, indent: int | None
) -> None:
    """As of ``aws logs filter-log-events --query events[].message``."""
    path = tmp_path / "messages.json"
    texts = f"{json.dumps(TEXT)}\n{json.dumps(TEXT)}"
    path.write_text(json.dumps([TEXT] * 3, indent=indent) + texts)

    assert await imported(path, Kept()) == (5, 0, 0)


async def test_an_empty_list_hides_no_other(tmp_path: Path) -> None:
    path = tmp_path / "lists.json"
    path.write_text(
        json.dumps({"events": [], "records": [RECORD]})
        + json.dumps({"events": [], "logEvents": [EVENT]})
        + json.dumps({"events": []})
    )

    assert await imported(path, Kept()) == (2, 0, 0)


async def test_what_follows_compressed_data_is_not_left_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "audit.gz"
    line = f"{TEXT}\n".encode()
    path.write_bytes(gzip.compress(line) + b"\0" * 512)
    assert await imported(path, Kept()) == (1, 0, 0)

    path.write_bytes(gzip.compress(line) + line)
    assert await imported(path, Kept()) == (1, 0, 1)


async def test_streams_are_joined_wherever_a_block_ends(
    tmp_path: Path,
) -> None:
    path = tmp_path / "audit.gz"
    line = f"{TEXT}\n".encode()
    first = gzip.compress(line)
    for split in range(1, 4):
        padding = b"\0" * (unpacking.BLOCK - len(first) - split)
        path.write_bytes(first + padding + gzip.compress(line))
        assert await imported(path, Kept()) == (2, 0, 0)


async def test_of_another_file_that_begins_alike_nothing_is_left_out(
    tmp_path: Path,
) -> None:
    path, other, kept = tmp_path / "deletes", tmp_path / "all", Kept()
    lines = [json.dumps(RECORD | {"auditID": f"{n}" * (n + 1)}) + "\n"
             for n in range(5)]  # fmt: skip
    path.write_text(lines[0] + lines[3])
    other.write_text("".join(lines))

    assert await imported(path, kept) == (2, 0, 0)
    assert await imported(other, kept) == (5, 0, 0)
    other.write_text("".join([*lines, *lines[:2]]))
    assert await imported(other, kept) == (2, 0, 0), "it was appended to"
    shorter = AuditImport([path])
    await shorter.run(kept, kept)
    assert not shorter.files[0].read_before


class KilledError(Exception):
    pass


class Killed(Kept):
    """A log whose importer is killed before it puts a second portion."""

    async def put(self, observations: Sequence[Observation]) -> Receipt:
        if self.seen:
            raise KilledError
        return await super().put(observations)


@pytest.mark.parametrize(
    "content",
    [
        f"{TEXT}\nno record\n" + f"{TEXT}\n" * 8,
        f"{TEXT}\n" + json.dumps({"kind": "EventList", "items": [RECORD] * 8}),
    ],
)
async def test_an_import_that_was_killed_is_completed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr(importing, "PORTION_BYTES", 4 * len(TEXT))
    path, kept = tmp_path / "audit.log", Killed()
    path.write_text(content)
    whole = await imported(path, Kept())
    with pytest.raises(KilledError):
        await imported(path, kept)
    assert kept.records()

    after = Kept()
    after.seen, after.places = kept.seen, kept.places
    counted = await imported(path, after)

    assert counted[1:] == whole[1:]
    gaps = [o for o in after.seen if isinstance(o, RecordsLost)]
    assert len(gaps) == ("no record" in content)
    assert len(after.records()) >= whole[0]


async def test_what_is_appended_meanwhile_is_for_the_next_import(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    path.write_text(f"{TEXT}\n" * 3)

    def append(_: ImportedFile) -> None:
        with path.open("a") as file:
            file.write(f"{TEXT}\n")

    source = AuditImport([path], on_progress=append)
    await source.run(kept, kept)
    assert source.files[0].records == len(kept.records()) == 3
    assert await imported(path, kept) == (1, 0, 0)


async def test_a_file_that_is_cut_meanwhile_is_counted_as_cut(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "audit.log", Kept()
    path.write_text(f"{TEXT}\n" * 3)

    def cut(_: ImportedFile) -> None:
        path.write_text(f"{TEXT}\n")

    source = AuditImport([path], on_progress=cut)
    await source.run(kept, kept)
    (file,) = source.files
    assert (file.records, file.cut) == (len(kept.records()), 1) == (1, 1)
    assert any(isinstance(o, RecordsLost) for o in kept.seen)


class Slow(Kept):
    """A log that commits when a test asks for it."""

    receipts = Receipts()

    async def put(self, observations: Sequence[Observation]) -> Receipt:
        await super().put(observations)
        return Receipt(self.receipts, batch=1)


async def test_an_import_ends_when_it_is_in_the_log(tmp_path: Path) -> None:
    """The time that a stop may take is not for what waits to be committed."""
    path, slow = tmp_path / "audit.log", Slow()
    path.write_text(f"{TEXT}\n" * 3)
    source = AuditImport([path])

    async with asyncio.TaskGroup() as group:
        running = group.create_task(source.run(slow, slow))
        await slow.until(3)
        for _ in range(10):
            await asyncio.sleep(0)
        assert not source.is_done
        assert not running.done()
        slow.receipts.commit(1)
    assert source.is_done
