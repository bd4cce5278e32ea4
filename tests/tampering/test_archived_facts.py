"""Facts in an archive that were edited, with a manifest that agrees.

A writer of the archive can compute the hashes of its files again. No
checkpoint commits to facts: they are derived again from the entries.
"""

import asyncio
import shutil
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recorder.archive.place import FolderPlace
from recorder.integrity.verified import Verified
from recorder.keeping.verifying import Proving, Verifying
from recorder.keeping.verifying_archive import ArchivedLog, verify_archived
from tests.conftest import TEMPLATE
from tests.retention.test_dropping import run
from tests.support.days import write_days, write_statements
from tests.support.postgres import DatabaseServer, fresh_database

Rows = list[dict[str, Any]]
FACTS = "facts-00000.parquet"


def no_topic(rows: Rows) -> int:
    row = next(row for row in rows if row["topic_id"] is not None)
    row["topic_id"] = None
    return int(row["position"])


def another_time(rows: Rows) -> int:
    rows[0]["at"] += timedelta(hours=1)
    return int(rows[0]["position"])


def another_kind(rows: Rows) -> int:
    rows[0]["fact"] = "cordoned"
    return int(rows[0]["position"])


def its_detail(rows: Rows) -> int:
    row = next(row for row in rows if "state" in row["detail"])
    row["detail"] = row["detail"].replace("state", "fate")
    return int(row["position"])


def one_removed(rows: Rows) -> int:
    return int(rows.pop(0)["position"])


def one_added(rows: Rows) -> int:
    rows.append({**rows[-1], "index": 9})
    return int(rows[-1]["position"])


def one_of_no_entry(rows: Rows) -> int:
    rows.append({**rows[-1], "position": 10_000})
    return 10_000


def one_of_no_node(rows: Rows) -> int:
    row = next(row for row in rows if row["node_id"] is not None)
    row["node_id"] = 777
    return int(row["position"])


EDITS: dict[str, Callable[[Rows], int]] = {
    edit.__name__.replace("_", " "): edit
    for edit in (
        no_topic, another_time, another_kind, its_detail, one_removed,
        one_added, one_of_no_entry, one_of_no_node,
    )
}  # fmt: skip


@pytest.fixture(scope="module")
def written(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An archive of days that each need what the one before had."""
    place = tmp_path_factory.mktemp("archived-facts")

    async def fill(database: Any) -> None:
        await write_days(database)
        await write_statements(database, 9)
        await run(database, place)

    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        fresh = fresh_database(embedded_server, TEMPLATE)
        database = runner.run(stack.enter_async_context(fresh))
        runner.run(fill(database))
        runner.run(stack.aclose())
    return place


@pytest.fixture
def place(written: Path, tmp_path: Path) -> Path:
    """A copy of it, to be edited."""
    return Path(shutil.copytree(written, tmp_path / "archive"))


async def verified(place: Path, how: Proving | None = None) -> Verified:
    (log,) = ArchivedLog.all_of(FolderPlace(place))
    verifying = Verifying(facts=how or Proving())
    return await verify_archived(log, verifying, asyncio.Event())


def last(place: Path, pattern: str) -> Path:
    """Return what is called so of the last day."""
    return max(place.glob(pattern))


def rewrite(file: Path, edit: Callable[[Rows], int]) -> int:
    """Edit a file, and have its manifest agree with it."""
    table = pq.read_table(file)
    rows = table.to_pylist()
    position = edit(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), file)
    manifest = file.with_name("manifest.json")
    said = msgspec.json.decode(manifest.read_bytes())
    for part in said["files"]:
        if part["name"] == file.name:
            content = file.read_bytes()
            part |= {
                "rows": len(rows),
                "bytes": len(content),
                "sha256": sha256(content).hexdigest(),
            }
    manifest.write_bytes(msgspec.json.encode(said))
    return position


@pytest.mark.parametrize("mode", ["all", "sample"])
async def test_facts_of_an_archive_are_those_of_its_entries(
    place: Path, mode: Any
) -> None:
    found = await verified(place, Proving(mode=mode))
    assert found.problems == []
    assert found.derived is not None
    assert found.derived.not_compared == []
    assert found.derived.entries == found.size > 15
    assert found.derived.facts > 15


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_sample_of_days_knows_the_days_before(
    place: Path, seed: int
) -> None:
    found = await verified(place, Proving(mode="sample", seed=seed, all_max=1))
    assert found.problems == []
    assert found.derived is not None
    assert (found.derived.seed, len(found.derived.days)) == (seed, 1)
    assert 0 < found.derived.entries < found.size


@pytest.mark.parametrize("edit", EDITS)
async def test_an_edited_fact_of_an_archive_is_found_and_named(
    place: Path, edit: str
) -> None:
    file = last(place, f"*/*/{FACTS}")
    position = rewrite(file, EDITS[edit])

    found = await verified(place)

    assert {problem.position for problem in found.problems} == {position}
    assert all(one.kind.startswith("fact-") for one in found.problems)
    assert (await verified(place, Proving(mode="none"))).problems == []


async def test_a_name_that_archived_facts_refer_to_is_found(
    place: Path,
) -> None:
    file = last(place, "*/*/words.parquet")

    def rename(rows: Rows) -> int:
        for row in rows:
            row["text"] = "bob"
        return 0

    rewrite(file, rename)
    assert (await verified(place)).problems


async def test_archived_facts_of_other_rules_are_not_compared(
    place: Path,
) -> None:
    manifest = last(place, "*/*/manifest.json")
    said = msgspec.json.decode(manifest.read_bytes())
    manifest.write_bytes(msgspec.json.encode({**said, "rules": 6}))
    found = await verified(place)
    assert found.problems == []
    assert found.derived is not None
    (why,) = found.derived.not_compared
    assert why.startswith(f"rules 6 derived the facts of {said['day']}")
    assert not found.is_compared


async def test_nothing_is_compared_behind_a_day_that_is_missing(
    place: Path,
) -> None:
    (log,) = ArchivedLog.all_of(FolderPlace(place))
    shutil.rmtree(place / log.days[1])
    found = await verified(place)
    assert "batch-missing" in {problem.kind for problem in found.problems}
    assert found.derived is not None
    assert not found.is_compared
    assert 0 < found.derived.entries < found.size
