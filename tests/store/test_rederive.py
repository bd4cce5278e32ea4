"""A log that is derived again has the facts that were written live.

Row by row, in every column but that of the derivation; also if it was
stopped, killed or recorded in between.
"""

import asyncio
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from recorder.keeping.rederiving import Rederiving, rederive
from recorder.model.errors import LogError
from recorder.store.long_work import connect_to
from recorder.store.rederivation import Builder, PartMovedError, Rederivation
from tests.support.fact_rows import (
    ask,
    current_facts,
    derive_anew,
    facts_of,
    play,
)
from tests.support.postgres import Database

TAPES = sorted(
    (Path(__file__).parents[1] / "corpus/tapes").glob("*.tape.jsonl.zst")
)
DEMO = "demo.tape.jsonl.zst"
STATES = """
    select array_agg(state order by derivation_id) from recorder.derivation
"""


async def play_demo(database: Database, folder: Path) -> None:
    with as_file(files("recorder.sources.tape.demo") / DEMO) as tape:
        await play(database, tape, folder)


@pytest.mark.parametrize("many", [50_000, 100], ids=["whole", "in parts"])
async def test_the_demo_derived_anew_has_the_facts_written_live(
    database: Database, tmp_path: Path, many: int
) -> None:
    await play_demo(database, tmp_path)
    live = await current_facts(database)

    done = await derive_anew(database, many=many)

    assert done.derivation is not None
    assert len(live) > 100
    assert await facts_of(database, done.derivation) == live
    assert await ask(database, STATES) == ["former", "current"]


@pytest.mark.parametrize("tape", TAPES, ids=lambda t: t.name.split(".")[0])
async def test_an_incident_derived_anew_has_the_facts_written_live(
    database: Database, tmp_path: Path, tape: Path
) -> None:
    await play(database, tape, tmp_path)
    live = await current_facts(database)

    await derive_anew(database)

    assert live
    assert await current_facts(database) == live


async def test_there_is_nothing_to_do_where_all_facts_are_of_our_rules(
    database: Database, tmp_path: Path
) -> None:
    await play_demo(database, tmp_path)

    done = await rederive(
        database.dsn("writer"), 1, Rederiving(), asyncio.Event()
    )

    assert done.derivation is None
    assert await ask(database, STATES) == ["current"]


async def test_what_was_interrupted_goes_on_where_it_was(
    database: Database, tmp_path: Path
) -> None:
    await play_demo(database, tmp_path)
    live = await current_facts(database)
    size = await ask(database, "select size from recorder.log_head")
    connection = await connect_to(database.dsn("writer"))
    begun = Rederivation(connection, 1)
    await begun.begin()
    await begun.add_parts(size, 3)
    for part in await begun.parts():
        builder = await Builder.opened(connection, 1, (begun.number, part))
        await builder.step(part.after + 15 * part.part)
    assert await current_facts(database) == live
    await connection.close()

    done = await derive_anew(database, many=10)

    assert done.derivation == begun.number
    assert await current_facts(database) == live


async def test_two_cannot_build_the_same_part(
    database: Database, tmp_path: Path
) -> None:
    await play_demo(database, tmp_path)
    connection = await connect_to(database.dsn("writer"))
    begun = Rederivation(connection, 1)
    await begun.begin()
    await begun.add_parts(100, 1)
    (part,) = await begun.parts()
    place = begun.number, part
    first = await Builder.opened(connection, 1, place)
    second = await Builder.opened(connection, 1, place)
    await first.step(50)
    rows = await facts_of(database, begun.number)

    with pytest.raises(PartMovedError):
        await second.step(50)

    assert await facts_of(database, begun.number) == rows
    with pytest.raises(LogError, match="already"):
        await derive_anew(database)
    await connection.close()


async def test_a_part_that_fails_says_why_and_is_gone_on_with(
    database: Database, tmp_path: Path
) -> None:
    await play_demo(database, tmp_path)
    live = await current_facts(database)
    await ask(database, "revoke insert on recorder.fact from recorder_writer")

    with pytest.raises(LogError, match="permission denied"):
        await derive_anew(database, many=10)

    assert await current_facts(database) == live
    await ask(database, "grant insert on recorder.fact to recorder_writer")
    await derive_anew(database, many=10)
    assert await current_facts(database) == live
    assert await ask(database, STATES) == ["former", "current"]
