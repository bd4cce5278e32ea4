"""The crash matrix of a log derived anew: every write of it, cut off.

Not applied, or applied and not answered. Answers stay what they were, and
the next run continues and comes to the facts that were written live.
"""

import asyncio
import tempfile
from pathlib import Path
from typing import Literal

import pytest

from recorder.intake.deriving import Deriver
from recorder.keeping.rederiving import Rederiving, rederive, rederive_archive
from recorder.model.errors import LogUnavailableError
from recorder.store.long_work import connect_to
from recorder.store.rederivation import Rederivation
from recorder.store.writer import Writer
from tests.archive.test_answering import drop_all
from tests.archive.test_later_facts import KNOWN, OLDER
from tests.contract.test_log import SPEC, Observer
from tests.crash.checking import check_log
from tests.crash.script import BATCHES
from tests.crash.writes import on_the_wire
from tests.support.cut_proxy import cut_proxy
from tests.support.days import asked, owner, write_days
from tests.support.fact_rows import ask, current_facts
from tests.support.postgres import Database

COMMIT = "COMMIT;"
WRITES: dict[str, tuple[str, bool, list[str]]] = {
    # where it is cut, whether a derivation is begun before, what is heard
    "begin a derivation": (
        COMMIT,
        False,
        ["rederivation.GIVE_UP_BUILDING", "rederivation.BEGIN_BUILDING"],
    ),
    "divide it into parts": (
        "rederivation.ADD_PART",
        False,
        ["rederivation.ADD_PART"],
    ),
    "derive the rest, and change over": (
        COMMIT,
        True,
        [
            "COPY fact",
            "rederivation.MOVE_PART",
            "rederivation.END_CURRENT",
            "rederivation.MAKE_CURRENT",
        ],
    ),
}
NOTED = "later_facts.NOTE"
"""That a day in the archive has been derived anew."""

REDERIVING = {s for _, _, heard in WRITES.values() for s in heard} | {NOTED}


async def record(database: Database) -> None:
    """Write a log with its facts, as intake does."""
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    observer = Observer(await writer.take_lease())
    deriver = Deriver(writer)
    for observations in BATCHES:
        batch = observer.batch(*observations)
        await deriver.derive(batch)
        await writer.append(batch)
    await writer.close()


async def begin(database: Database) -> None:
    connection = await connect_to(database.dsn("writer"))
    begun = Rederivation(connection, 1)
    await begun.begin()
    await begun.add_parts(0, 1)
    await connection.close()


@pytest.mark.parametrize("fate", ["lost", "silent"])
@pytest.mark.parametrize("write", WRITES)
async def test_a_write_that_fails_leaves_answers_whole(
    database: Database, write: str, fate: Literal["lost", "silent"]
) -> None:
    await record(database)
    live = await current_facts(database)
    cut, begun, heard = WRITES[write]
    if begun:
        await begin(database)

    with tempfile.TemporaryDirectory(prefix="rec-") as folder:
        async with cut_proxy(database.dsn("writer"), Path(folder)) as proxy:
            proxy.at = COMMIT.encode() if cut == COMMIT else on_the_wire(cut)
            proxy.fate = fate
            how = Rederiving(again=True)
            with pytest.raises(LogUnavailableError):
                await rederive(proxy.dsn, 1, how, asyncio.Event())
            assert proxy.cuts == 1
            for statement in heard:
                assert on_the_wire(statement) in proxy.heard, statement

    assert await check_log(database.dsn("reader")) == []
    assert await current_facts(database) == live
    how = Rederiving(again=True)
    await rederive(database.dsn("writer"), 1, how, asyncio.Event())
    assert live
    assert await current_facts(database) == live
    assert await check_log(database.dsn("reader")) == []
    assert not await ask(
        database,
        "select count(*) from recorder.derivation where state = 'building'",
    )


@pytest.mark.parametrize("fate", ["lost", "silent"])
async def test_a_day_of_the_archive_is_noted_once(
    database: Database, tmp_path: Path, fate: Literal["lost", "silent"]
) -> None:
    await write_days(database)
    async with owner(database) as connection:
        await connection.execute(OLDER)
    await drop_all(database, tmp_path / "archive")
    never = asyncio.Event()
    with tempfile.TemporaryDirectory(prefix="rec-") as folder:
        async with cut_proxy(database.dsn("writer"), Path(folder)) as proxy:
            proxy.at, proxy.fate = on_the_wire(NOTED), fate
            with pytest.raises(LogUnavailableError):
                await rederive_archive(proxy.dsn, 1, never)
            assert proxy.cuts == 1

    noted = await asked(database, KNOWN)
    assert noted == (fate == "silent")
    days = (await rederive_archive(database.dsn("writer"), 1, never)).days
    assert noted + days == await asked(database, KNOWN) == 4
    assert not (await rederive_archive(database.dsn("writer"), 1, never)).days
