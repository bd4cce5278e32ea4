"""Archived days derived anew: the new facts lie beside those archived.

An archive of other rules, as a log of an older release has one: what is
answered before, and after `recorder rederive`.
"""

import asyncio
from hashlib import sha256
from pathlib import Path

import pytest

from recorder.archive.errors import ArchiveError
from recorder.archive.place import FolderPlace
from recorder.facts import DERIVATION
from recorder.integrity.verified import Verified
from recorder.keeping.rederiving import (
    RederivedArchive,
    Rederiving,
    rederive,
    rederive_archive,
)
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_archive import ArchivedLog, verify_archived
from tests.archive.test_answering import (
    ARCHIVED,
    answers,
    answers_of_old,
    drop_all,
)
from tests.support.days import asked, owner, write_days
from tests.support.postgres import Database

TAPE = "crash-job-fails"
OLDER = """
    alter table recorder.fact disable trigger all;
    delete from recorder.fact where kind in (4, 10, 12);
    alter table recorder.fact enable always trigger append_only;
    update recorder.derivation set rules = 6;
"""
"""As rules that derived less would have left a log."""

KNOWN = "select count(*) from recorder.later_facts"
FORGET = """
    alter table recorder.later_facts disable trigger all;
    delete from recorder.later_facts;
"""


def digests(place: Path) -> dict[str, str]:
    return {
        str(path.relative_to(place)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


async def rebuild(database: Database) -> RederivedArchive:
    dsn, never = database.dsn("writer"), asyncio.Event()
    await rederive(dsn, 1, Rederiving(), never)
    return await rederive_archive(dsn, 1, never)


async def archive_verified(place: Path) -> Verified:
    (log,) = ArchivedLog.all_of(FolderPlace(place))
    return await verify_archived(log, Verifying(), asyncio.Event())


async def test_an_archive_of_older_rules_answers_as_one_of_ours(
    database: Database, tmp_path: Path
) -> None:
    place = tmp_path / "archive"
    ours = await answers_of_old(database, TAPE, tmp_path)
    async with owner(database) as connection:
        await connection.execute(OLDER)
    await drop_all(database, place)
    archived = digests(place)
    before = await answers(database, TAPE, tmp_path)
    assert [one.text for one in before] != [one.text for one in ours]
    found = await archive_verified(place)
    assert (found.problems, found.is_compared) == ([], False)

    done = await rebuild(database)

    assert done.days > 0
    after = digests(place)
    assert {name: after[name] for name in archived} == archived
    assert {name.split("/")[2] for name in after.keys() - archived.keys()} == {
        f"rules-{DERIVATION}"
    }
    again = await answers(database, TAPE, tmp_path)
    assert [ARCHIVED.sub("", one.text) for one in again] == [
        one.text for one in ours
    ]
    found = await archive_verified(place)
    assert (found.problems, found.is_compared) == ([], True)
    assert found.derived is not None
    assert found.derived.facts > 50
    assert (await rebuild(database)).days == 0


async def test_a_run_that_was_killed_is_gone_on_with(
    database: Database, tmp_path: Path
) -> None:
    """Before it wrote a manifest, or named one to the database.

    Facts that lie there are compared before they count.
    """
    place = tmp_path / "archive"
    await write_days(database)
    async with owner(database) as connection:
        await connection.execute(OLDER)
    await drop_all(database, place)
    days = (await rebuild(database)).days
    assert days == await asked(database, KNOWN) == 4
    async with owner(database) as connection:
        await connection.execute(FORGET)
    written = digests(place)
    last = max(place.glob(f"*/*/rules-{DERIVATION}/manifest.json"))
    last.unlink()
    del written[str(last.relative_to(place))]

    assert (await rebuild(database)).days == days
    assert days == await asked(database, KNOWN)
    assert last.is_file()
    assert digests(place).items() >= written.items()

    async with owner(database) as connection:
        await connection.execute("delete from recorder.later_facts")
    facts = max(place.glob(f"*/*/rules-{DERIVATION}/facts-*.parquet"))
    facts.write_bytes(facts.read_bytes() + b" ")
    with pytest.raises(ArchiveError, match="SHA-256 differs"):
        await rebuild(database)
    assert await asked(database, KNOWN) == days - 1
