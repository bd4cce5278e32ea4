"""Facts that end before their log does are reported and repaired."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recorder.cli.main import main
from recorder.facts import DERIVATION
from recorder.intake.deriving import Deriver
from recorder.store import derivation
from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer, pods
from tests.support.builders import NODES, a_frame, a_node
from tests.support.fact_rows import (
    ask,
    current_facts,
    derive_anew,
    facts_of,
)
from tests.support.postgres import Database

OF_LOG = """
    select array[rules, built_to] from recorder.derivation
    where state = 'current'
"""
COUNT = "select count(*) from recorder.fact"


@pytest.fixture
async def writer(database: Database) -> AsyncIterator[Writer]:
    made = Writer(database.dsn("writer"), SPEC, holder="a")
    yield made
    await made.close()


async def write(writer: Writer, first: int, count: int) -> None:
    """Write pods with their facts, as intake does."""
    teller = Observer(await writer.take_lease())
    batch = teller.batch(
        *pods(first, count), a_frame(NODES, "MODIFIED", a_node("n", first))
    )
    await Deriver(writer).derive(batch)
    await writer.append(batch)


async def test_a_log_of_other_rules_is_gone_on_with_and_gets_no_facts(
    database: Database, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(writer, 1, 3)
    written = await ask(database, COUNT)
    monkeypatch.setattr(derivation, "DERIVATION", 99)
    await write(writer, 10, 3)

    assert await ask(database, COUNT) == written == 4
    assert await ask(database, OF_LOG) == [DERIVATION, 4]


async def test_a_release_that_returns_writes_nothing_behind_the_end(
    database: Database, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(writer, 1, 3)
    with monkeypatch.context() as other:
        other.setattr(derivation, "DERIVATION", 99)
        await write(writer, 10, 3)
    await write(writer, 20, 3)

    assert await ask(database, COUNT) == 4
    assert await ask(database, OF_LOG) == [DERIVATION, 4]


async def test_a_log_of_before_facts_goes_on_and_is_derived_anew(
    database: Database, writer: Writer
) -> None:
    await write(writer, 1, 3)
    await ask(database, "update recorder.derivation set state = 'former'")
    await write(writer, 10, 3)
    assert await current_facts(database) == []
    assert await ask(database, OF_LOG) == [0, 0]

    done = await derive_anew(database)
    await write(writer, 20, 1)

    assert done.derivation is not None
    rows = await facts_of(database, done.derivation)
    assert {row[3] for row in rows} == set(range(1, 9))
    assert await ask(database, OF_LOG) == [DERIVATION, None]


async def test_a_writer_goes_on_into_the_derivation_that_became_current(
    database: Database, writer: Writer
) -> None:
    """One that waits for the head while it changes hands, too."""
    await write(writer, 1, 3)
    async with asyncio.TaskGroup() as group:
        group.create_task(write(writer, 10, 500))
        group.create_task(derive_anew(database))
    await write(writer, 900, 2)
    live = await current_facts(database)

    await derive_anew(database)

    assert live[-1][3] > 505
    assert await current_facts(database) == live


async def asked(database: Database, folder: Path, *words: str) -> Result:
    place = ["--data-dir", str(folder), "--database-url"]
    return await asyncio.to_thread(
        CliRunner().invoke,
        main,
        [*place, database.dsn("reader"), *words],
        standalone_mode=False,
    )


@pytest.mark.parametrize(
    "command",
    [
        ("why", "node/n"),
        ("impact", "node/n"),
        ("incidents",),
        ("replay", "node/n"),
        ("log", "--facts"),
        ("log", "1/3", "--facts"),
    ],
    ids=" ".join,
)
async def test_every_answer_of_facts_says_that_they_end(
    database: Database,
    writer: Writer,
    tmp_path: Path,
    command: tuple[str, ...],
) -> None:
    await write(writer, 1, 3)
    await ask(
        database, "update recorder.derivation set rules = 0, built_to = 2"
    )

    answer = await asked(database, tmp_path, *command)

    assert answer.return_value == 4
    assert "facts end at entry 1/2: run `recorder rederive`" in answer.stderr


async def test_an_entry_before_the_end_of_facts_is_answered_whole(
    database: Database, writer: Writer, tmp_path: Path
) -> None:
    await write(writer, 1, 3)
    await ask(
        database, "update recorder.derivation set rules = 0, built_to = 2"
    )

    answer = await asked(database, tmp_path, "log", "1/2", "--facts")

    assert (answer.return_value, answer.stderr) == (0, "")
    assert "1/2" in answer.stdout
