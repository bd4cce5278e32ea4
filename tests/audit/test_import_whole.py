"""Nothing is lost or doubled by an import, whatever happens to its files."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from recorder.sources.audit import AuditImport
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
