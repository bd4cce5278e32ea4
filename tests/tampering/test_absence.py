"""A removal is found although nothing that is left was altered.

Of a log with an archive and two places of checkpoints.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recorder.integrity.notes import Checkpoint, parse_notes, sign
from recorder.keeping.checkpoints.folder import Folder
from recorder.keeping.continuing import ForkedError
from recorder.keeping.integrity import checkpoint_of, missing_logs
from recorder.keeping.signing_key import load_signing_key
from tests.conftest import TEMPLATE
from tests.support.builders import at
from tests.support.days import write_statements
from tests.support.postgres import DatabaseServer, fresh_database
from tests.tampering.kept import KeptLog, a_copy, kept_log


@pytest.fixture(scope="module")
def made(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KeptLog]:
    with kept_log(embedded_server, tmp_path_factory.mktemp("kept")) as log:
        yield log


@pytest.fixture
def oldest(debian_server: DatabaseServer, tmp_path: Path) -> Iterator[KeptLog]:
    with kept_log(debian_server, tmp_path) as log:
        yield log


@pytest.fixture
async def log(made: KeptLog, tmp_path: Path) -> AsyncIterator[KeptLog]:
    async with a_copy(made, tmp_path) as copy:
        yield copy


async def test_nothing_is_found_where_nothing_was_removed(
    log: KeptLog,
) -> None:
    assert await log.problems() == {}
    await write_statements(log.database, 1)
    assert await checkpoint_of(log.settings, log.dsn, 1) is not None
    assert await log.problems() == {}


EMPTY = (
    "delete from recorder.entry",
    "delete from recorder.batch",
    "delete from recorder.resume_point",
    "delete from recorder.checkpoint",
)
ATTACH = (
    """
    insert into recorder.attached_day (log_id, name, lower, upper,
      observed_min, observed_max, first_batch, last_batch, first_position,
      last_position, range, manifest_sha256, uri)
    select 1, 'attached_2026-01-01', '2026-01-01', '2026-01-02',
      '2026-01-01', '2026-01-02', 1, batches, 1, size, peaks, sha256('x'),
      '/nowhere/' || (select uid from recorder.log) || '/2026-01-01'
    from recorder.log_head
    """,
    """
    update recorder.log_head
    set pruned_batches = batches, pruned_positions = size
    """,
    "delete from recorder.archived_day",
)
REMOVALS: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "the row of the log": (("delete from recorder.log",), {"log-missing"}),
    "the log, with all that the database knows of it": (
        (
            *EMPTY,
            "delete from recorder.log",
            "delete from recorder.log_head",
            "delete from recorder.archived_day",
        ),
        {"log-missing"},
    ),
    "the entries, as of a log that is new": (
        (
            *EMPTY,
            "delete from recorder.archived_day",
            "update recorder.log_head set size = 0, batches = 0, peaks = ''",
        ),
        {"truncated"},
    ),
    "the entries, as of a log that was attached": (
        (*EMPTY, *ATTACH),
        {"archive-missing", "attached-forged"},
    ),
    "the same, with all signs of a recording": (
        (
            *EMPTY,
            *ATTACH,
            "update recorder.log_head set term = 0, peaks = null",
            "update recorder.log set kind = 'tape', tape_uid = 'x'",
        ),
        {"archive-missing"},
    ),
}


@pytest.mark.parametrize("what", REMOVALS)
async def test_a_log_that_was_removed_is_missed(
    log: KeptLog, what: str
) -> None:
    statements, kinds = REMOVALS[what]
    await log.tamper(*statements)
    found = await log.problems()
    assert kinds <= found.keys(), found
    if "log-missing" in kinds:
        assert f"kube-recorder/{log.uid}" in found["log-missing"]


async def test_a_log_of_another_database_of_the_registry_is_not_missed(
    log: KeptLog, tmp_path: Path
) -> None:
    registry = tmp_path / "clusters.toml"
    settings = replace(log.settings, clusters_file=registry)
    away = "postgresql://127.0.0.1:1/away?connect_timeout=1"
    async with fresh_database(log.database.server, TEMPLATE) as empty:
        dsn = empty.dsn("reader")
        registry.write_text(f'[clusters]\nprod = "{log.dsn}"\n')
        assert await missing_logs(settings, dsn) == []
        for url, says in ((dsn, "this database has"), (away, "not answer")):
            registry.write_text(f'[clusters]\nprod = "{url}"\n')
            (found,) = await missing_logs(settings, dsn)
            (problem,) = found.problems
            assert problem.kind == "log-missing"
            assert found.origin == f"kube-recorder/{log.uid}"
            assert says in problem.says


def cut(file: Path) -> None:
    notes, _ = parse_notes(file.read_text())
    file.write_text("\n\n".join(map(str, notes[:-1])))


def remove_folder(file: Path) -> None:
    file.unlink()
    file.parent.rmdir()


@pytest.mark.parametrize("change", [cut, Path.unlink, remove_folder])
async def test_a_checkpoint_that_was_removed_is_missed(
    log: KeptLog, change: Callable[[Path], None]
) -> None:
    (file,) = log.notes.glob("*.notes")
    change(file)
    found = await log.problems()
    assert found.keys() == {"checkpoint-missing"}
    missing = "1 of 3" if change is cut else "3 of 3"
    assert f"{log.notes.parent} lacks {missing}" in found["checkpoint-missing"]


async def test_another_history_that_was_signed_is_a_fork(
    log: KeptLog,
) -> None:
    key = load_signing_key(log.settings)
    origin = f"kube-recorder/{log.uid}"
    other = sign(Checkpoint(origin, 3, bytes(32)).text(), key, origin)
    Folder(log.notes.parent).add(log.uid, other, at(0))
    found = await log.problems()
    assert {"forked", "checkpoint-mismatch"} <= found.keys()
    assert origin in found["forked"]


FORKS = {
    "shorter": (
        *EMPTY,
        "update recorder.log_head set size = 0, batches = 0, peaks = ''",
    ),
    "cut": (
        "delete from recorder.checkpoint",
        """
        update recorder.log_head set batches = batches - 1,
          peaks = (select b.tree from recorder.batch b
            where b.batch = log_head.batches - 1)
        """,
    ),
    "of another tree": (
        """
        update recorder.log_head
        set peaks = set_byte(peaks, 0, get_byte(peaks, 0) # 1)
        """,
    ),
    "of another beginning, with nothing to compare": (
        "update recorder.checkpoint set peaks = null",
        "update recorder.batch set term = 9 where batch = 1",
    ),
}


@pytest.mark.parametrize("what", FORKS)
async def test_what_does_not_continue_the_last_checkpoint_is_not_signed(
    log: KeptLog, what: str
) -> None:
    await log.tamper(*FORKS[what])
    if "beginning" in what:
        await write_statements(log.database, 1)
    before = sorted(path.read_text() for path in log.notes.iterdir())
    with pytest.raises(ForkedError) as refused:
        await checkpoint_of(log.settings, log.dsn, 1)
    said = str(refused.value)
    assert f"kube-recorder/{log.uid}" in said
    assert "recorder verify" in said
    assert before == sorted(path.read_text() for path in log.notes.iterdir())


async def test_a_log_of_before_that_grew_is_signed(log: KeptLog) -> None:
    """The database of an older release has no subtrees of checkpoints."""
    await log.tamper(
        "update recorder.checkpoint set peaks = null, places = null"
    )
    await write_statements(log.database, 1)
    done = await checkpoint_of(log.settings, log.dsn, 1)
    assert done is not None
    assert len(done.written) == 2
    assert await log.problems() == {}


def test_the_oldest_server_reports_the_same(oldest: KeptLog) -> None:
    """Not as a coroutine: the log is made by a loop of its own."""

    async def problems() -> dict[str, str]:
        return await oldest.problems()

    assert asyncio.run(problems()) == {}
    without_manifest(oldest.archive)
    assert asyncio.run(problems()).keys() == {"archive-missing"}
    cut(next(oldest.notes.iterdir()))
    assert asyncio.run(problems()).keys() == {
        "archive-missing",
        "checkpoint-missing",
    }
    asyncio.run(oldest.tamper("delete from recorder.log"))
    assert asyncio.run(problems()).keys() == {"log-missing"}


def emptied(archive: Path) -> None:
    for file in archive.rglob("*.*"):
        if file.is_file():
            file.unlink()


def without_manifest(archive: Path) -> None:
    next(archive.rglob("manifest.json")).unlink()


def truncated(archive: Path) -> None:
    file = next(archive.rglob("entries-*.parquet"))
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize("change", [emptied, without_manifest, truncated])
async def test_an_archived_day_that_is_not_there_is_missed(
    log: KeptLog, change: Callable[[Path], None]
) -> None:
    change(log.archive)
    found = await log.problems()
    assert found.keys() == {"archive-missing"}
    assert str(log.archive) in found["archive-missing"]
