"""What was archived and dropped is still proven, whole and entry by entry.

From the hashes that the database keeps, and from the archive alone.
"""

import asyncio
import json
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)

from recorder.answers.verification import verification_lines
from recorder.archive.errors import ArchiveError, PlaceError
from recorder.archive.listing import list_archive
from recorder.archive.place import FolderPlace
from recorder.integrity.chain import Witnessed
from recorder.integrity.notes import Checkpoint
from recorder.integrity.proof import Proof, check_proof
from recorder.integrity.verified import ReadDays, Verified
from recorder.keeping.checkpointing import make_checkpoint
from recorder.keeping.proving import prove
from recorder.keeping.verifying import Sample, Verifying
from recorder.keeping.verifying_archive import ArchivedLog, verify_archived
from recorder.keeping.verifying_database import verify
from recorder.model.reference import EntryName
from recorder.store.long_work import connect_to
from tests.retention.test_dropping import run
from tests.support.builders import at
from tests.support.days import write_days
from tests.support.postgres import Database
from tests.tampering.story import committed, the_log

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw()
LOG = the_log(1)


class Story:
    """A log of many days, the first of them dropped."""

    def __init__(self, database: Database, place: Path) -> None:
        self.database = database
        self.place = place
        self.outside: list[Witnessed] = []
        self.before: Proof

    async def verified(self) -> Verified:
        how = Verifying(checkpoints=self.outside, signed=True)
        dsn = self.database.dsn("writer")
        return await verify(dsn, LOG, how, asyncio.Event())

    async def archive_verified(self, sample: Sample | None = None) -> Verified:
        (log,) = ArchivedLog.all_of(FolderPlace(self.place))
        how = Verifying(checkpoints=self.outside, signed=True, sample=sample)
        return await verify_archived(log, how, asyncio.Event())

    async def proof(self, position: int) -> Proof:
        connection = await connect_to(self.database.dsn("writer"))
        try:
            return await prove(connection, EntryName(1, position))
        finally:
            await connection.close()

    def file(self, pattern: str) -> Path:
        """Return a file of the oldest day."""
        return min(self.place.glob(f"*/*/{pattern}"))


@pytest.fixture
async def story(database: Database, tmp_path: Path) -> Story:
    story = Story(database, tmp_path / "archive")
    await write_days(database)
    connection = await connect_to(database.dsn("writer"))
    story.outside = await committed(connection)
    await make_checkpoint(connection, 1, KEY, [], at(0))
    await connection.close()
    story.before = await story.proof(2)
    await run(database, story.place)
    return story


async def test_a_log_of_which_days_were_dropped_has_the_root_of_before(
    story: Story,
) -> None:
    found = await story.verified()
    assert found.problems == []
    assert 0 < found.dropped < found.size
    assert found.checked_entries == found.size - found.dropped
    assert found.root == story.outside[-1].checkpoint.root.hex()
    assert found.agreed == found.batches


async def test_an_entry_that_was_carried_forward_is_compared(
    story: Story,
) -> None:
    connection = await connect_to(story.database.superuser_dsn())
    await connection.execute(
        "alter table recorder.entry disable trigger all;"
        " alter table recorder.entry_kept disable trigger all"
    )
    position = await connection.fetchval(
        "update recorder.entry_kept set observed_at = observed_at - interval"
        " '1 s' where position = (select min(position) from"
        " recorder.entry_kept) returning position"
    )
    await connection.close()
    found = await story.verified()
    assert [(one.kind, one.position) for one in found.problems] == [
        ("carried-altered", position)
    ]
    shutil.move(story.place, story.place.with_name("away"))
    away = await story.verified()
    assert not away.is_compared


async def test_an_archive_proves_itself_without_a_database(
    story: Story,
) -> None:
    found = await story.archive_verified()
    assert found.problems == []
    assert found.checked_entries == found.size > 0
    assert found.agreed > 0, "it was compared with checkpoints"


async def test_an_entry_that_was_dropped_is_proven_as_before(
    story: Story,
) -> None:
    after = await story.proof(2)
    assert after == story.before
    check_proof(msgspec.json.encode(after), [PUBLIC])
    shutil.rmtree(story.place)
    check_proof(msgspec.json.encode(story.before), [PUBLIC])
    with pytest.raises((ArchiveError, PlaceError), match="restore it"):
        await story.proof(2)


async def test_a_file_that_was_changed_is_found(story: Story) -> None:
    file = story.file("entries-*.parquet")
    table = pq.read_table(file)
    pq.write_table(table.slice(0, table.num_rows - 1), file)
    found = await story.archive_verified()
    assert [problem.kind for problem in found.problems] == ["archive-altered"]
    assert str(file.name) in found.problems[0].says
    assert found.root is None


async def test_a_day_that_was_removed_is_found(story: Story) -> None:
    shutil.rmtree(sorted(story.place.glob("*/*/manifest.json"))[1].parent)
    found = await story.archive_verified()
    assert found.problems[0].kind == "batch-missing"


async def test_what_checkpoints_commit_to_and_is_not_there_is_said(
    story: Story,
) -> None:
    """The end of an archive is no proof of its own."""
    whole = await story.archive_verified()
    manifests = sorted(story.place.glob("*/*/manifest.json"))
    manifests[-1].unlink()

    found = await story.archive_verified()

    (problem,) = found.problems
    assert problem.kind == "archive-missing"
    assert f'{manifests[-1].parent}" has no manifest' in problem.says
    assert found.beyond == whole.beyond + whole.batches - found.batches > 0

    shutil.rmtree(manifests[-1].parent)
    found = await story.archive_verified()
    assert found.problems == []
    said = "\n".join(verification_lines(found))
    assert f"the newest {found.beyond} batches that checkpoints" in said


async def test_an_archive_without_manifests_proves_nothing(
    story: Story,
) -> None:
    manifests = list(story.place.glob("*/*/manifest.json"))
    for manifest in manifests:
        manifest.unlink()
    found = await story.archive_verified()
    assert [one.kind for one in found.problems] == ["archive-missing"] * len(
        manifests
    )
    for manifest in manifests:
        shutil.rmtree(manifest.parent)
    (problem,) = (await story.archive_verified()).problems
    assert (problem.kind, "holds no day" in problem.says) == (
        "archive-missing",
        True,
    )


async def test_a_day_that_is_being_archived_is_no_problem(
    story: Story,
) -> None:
    (log,) = story.place.iterdir()
    yesterday = f"{datetime.now(UTC) - timedelta(days=1):%Y-%m-%d}"
    (log / yesterday).mkdir()
    found = await story.archive_verified()
    assert found.problems == []
    assert found.unfinished == [f"{log.name}/{yesterday}"]


async def test_of_a_sample_the_newest_day_is_read_and_the_rest_is_there(
    story: Story,
) -> None:
    whole = await story.archive_verified()
    days = sorted(
        path.parent for path in story.place.glob("*/*/manifest.json")
    )
    names = [f"{day.parent.name}/{day.name}" for day in days]
    chosen = Sample(30, 7).of(names)
    assert names[-1] in chosen
    assert len(chosen) == 2
    assert Sample(30, 7).of(names) == chosen
    assert {frozenset(Sample(30, seed).of(names)) for seed in range(40)} == {
        frozenset({name, names[-1]}) for name in names[:-1]
    }

    found = await story.archive_verified(Sample(30, 7))
    assert found.problems == []
    assert 0 < found.checked_entries < whole.checked_entries
    assert (found.size, found.root) == (whole.size, whole.root)
    assert found.read_days == ReadDays(read=2, of=len(days), seed=7)
    assert "2 of 4 days were read, the newest and others chosen by seed 7" in (
        "\n".join(verification_lines(found))
    )

    # What is not read must be there, and what is read is read.
    for day, name in zip(days, names, strict=True):
        file = next(day.glob("entries-*.parquet"))
        content = file.read_bytes()
        other = bytes([content[100] ^ 1])
        for change, is_found in (
            (content[:-1], True),
            (content[:100] + other + content[101:], name in chosen),
        ):
            file.write_bytes(change)
            found = await story.archive_verified(Sample(30, 7))
            kinds = {one.kind for one in found.problems}
            assert ("archive-altered" in kinds) == is_found
        file.write_bytes(content)


async def test_days_of_a_log_that_nothing_names_are_refused(
    story: Story,
) -> None:
    min(story.place.glob("*/log.json")).unlink()
    with pytest.raises(ArchiveError, match=r"has no log\.json: restore it"):
        ArchivedLog.all_of(FolderPlace(story.place))


async def test_another_history_than_the_checkpoints_is_found(
    story: Story,
) -> None:
    first = story.outside[0].checkpoint
    forged = Checkpoint(first.origin, first.batches, bytes(32))
    story.outside = [Witnessed(forged, "outside")]
    for found in (await story.archive_verified(), await story.verified()):
        kinds: list[str] = [problem.kind for problem in found.problems]
        # Within a dropped day the database has no hashes to compare.
        assert kinds in (["checkpoint-mismatch"], [])
    assert (await story.archive_verified()).problems


async def test_hashes_of_dropped_days_that_were_edited_are_found(
    story: Story,
) -> None:
    connection = await connect_to(story.database.superuser_dsn())
    await connection.execute(
        "alter table recorder.archived_day disable trigger all;"
        "update recorder.archived_day set range ="
        " set_bit(range, 5, 1 - get_bit(range, 5)) where first_batch = 1"
    )
    await connection.close()
    found = await story.verified()
    kinds = {problem.kind for problem in found.problems}
    assert kinds & {"tree-altered", "checkpoint-mismatch", "head-altered"}


def test_a_folder_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="is no archive"):
        ArchivedLog.all_of(FolderPlace(tmp_path))
    with pytest.raises(PlaceError, match="cannot read"):
        ArchivedLog.all_of(FolderPlace(tmp_path / "away"))


def rewritten(file: Path, table: pa.Table) -> None:
    """Write a file of the oldest day again, and its manifest as it is then."""
    pq.write_table(table, file)
    path = file.with_name("manifest.json")
    manifest = json.loads(path.read_bytes())
    for part in manifest["files"]:
        if part["name"] == file.name:
            part["rows"] = table.num_rows
            part["bytes"] = file.stat().st_size
            part["sha256"] = sha256(file.read_bytes()).hexdigest()
    path.write_text(json.dumps(manifest))


def with_column(
    table: pa.Table, column: str, values: Sequence[object]
) -> pa.Table:
    place = table.schema.get_field_index(column)
    return table.set_column(place, column, pa.array(values))


async def the_problem(story: Story) -> str:
    """Return what is wrong with the oldest day."""
    (problem, *_) = (await story.archive_verified()).problems
    assert (problem.kind, problem.batch) == ("archive-altered", 1)
    return problem.says


async def test_what_is_beside_what_was_archived_is_found(
    story: Story,
) -> None:
    """Hashes are not touched by it, and a reader of the files is."""
    file = story.file("entries-*.parquet")
    table = pq.read_table(file)
    # Of two entries at one position the last counted.
    forged = with_column(table.slice(3, 1), "raw", [b"{}"])
    rewritten(file, pa.concat_tables([forged.cast(table.schema), table]))
    assert "twice" in await the_problem(story)
    rewritten(file, table)

    beside = file.with_name("entries-99999.parquet")
    shutil.copyfile(file, beside)
    assert beside.name in await the_problem(story)
    beside.unlink()

    # Questions find names by their numbers, which no hash has.
    for name in ("objects", "nodes"):
        path = story.file(f"{name}.parquet")
        names = pq.read_table(path)
        others = [f"not-{one}" for one in names["name"].to_pylist()]
        rewritten(path, with_column(names, "name", others))
        assert "do not stand for its names" in await the_problem(story)
        rewritten(path, names)
    assert (await story.archive_verified()).problems == []


async def test_a_file_of_another_form_is_a_problem_and_no_traceback(
    story: Story,
) -> None:
    file = story.file("entries-*.parquet")
    table = pq.read_table(file)
    for column in ("position", "operation", "recorded_at", "raw"):
        lots = ["x"] * table.num_rows
        rewritten(file, with_column(table, column, lots))
        assert await the_problem(story)
    rewritten(file, table)
    headers = story.file("batches.parquet")
    rewritten(headers, pq.read_table(headers).drop(["observed_min"]))
    assert await the_problem(story)


async def test_a_manifest_names_nothing_outside_of_its_day(
    story: Story,
) -> None:
    """An archive may belong to an attacker."""
    path = story.file("manifest.json")
    before = path.read_bytes()
    for member, value in (
        ("day", "2026-01-01'); copy (select 1) to '/tmp/x"),
        ("day", "../../2026-01-01"),
        ("first_batch", -1),
        ("last_position", 1 << 63),
        ("name", "../../../elsewhere/entries-00000.parquet"),
        ("name", "entries-00000*.parquet"),
        ("name", "entries.parquet"),
        ("sha256", "../../../home/someone/x"),
        ("bytes", -1),
    ):
        manifest = json.loads(before)
        holder = manifest if member in manifest else manifest["files"][0]
        holder[member] = value
        path.write_text(json.dumps(manifest))
        with pytest.raises(ArchiveError, match="cannot read the manifest"):
            list_archive(FolderPlace(story.place))
    found = await story.archive_verified()
    assert found.problems[0].kind == "archive-damaged"
