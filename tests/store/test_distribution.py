"""What a node's timeline and `why` ask is led to rows by a node or an object.

That is the distribution column that a log over several workers would have.
The questions that ask otherwise are named here, with what they ask.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import asyncpg
import pytest

from recorder.answers.node_questions import TimelineQuestion, WhyQuestion
from recorder.answers.placements import ask_placements
from recorder.answers.queries import NodeNames
from recorder.answers.timeline import ask_timeline
from recorder.answers.why import ask_why
from recorder.explain.knowledge import load
from recorder.model.window import Window
from recorder.store import (
    read_documents,
    read_facts,
    read_gangs,
    read_gaps,
    read_logs,
)
from recorder.store.engine import Pooled
from recorder.store.statement import Record, Statement
from tests.corpus.logs import play, reading_of, tape_of
from tests.support.postgres import Database

BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 25, tzinfo=UTC)
ROWS = re.compile(r"(entry|fact)(_|$)")
LEADING = re.compile(r"\b(node_id|object_id) = ")
LED = 6
"""Statements that are led by a node or an object, wherever they read."""

OTHERWISE = {
    "FEW": "what the recorder said of itself, which is about nothing",
    "LOSSES": "which nodes were lost at the same time: of the whole fleet",
    "EVIDENCE": "beside facts of nodes, annotations of what has no node",
    "ALL_OF_NODES": "the same, of all facts",
    "FAMILY": "what an object owns, by its owner",
    "STANDING": "whether the last batches of a tape are retention's own, each"
    " by its first position; never asked of a live log",
}
CONDITIONS = ("Index Cond", "Recheck Cond", "Filter", "Join Filter")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[object]]:
    """Statements as they are asked, each with the values of its first time."""
    found: dict[str, list[object]] = {}
    of_pool = Pooled.fetch

    async def noted(
        pooled: Pooled, statement: Statement, **values: object
    ) -> Sequence[Record]:
        found.setdefault(statement.text, statement.values(values))
        return await of_pool(pooled, statement, **values)

    monkeypatch.setattr(Pooled, "fetch", noted)
    return found


def scans(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield by what each scan of rows of the log is led."""
    if ROWS.match(plan.get("Relation Name", "")):
        yield " ".join(str(plan.get(name, "")) for name in CONDITIONS)
    for part in plan.get("Plans", ()):
        yield from scans(part)


def named(text: str) -> str:
    """Name a statement as the code does."""
    modules: tuple[ModuleType, ...] = (
        read_documents,
        read_facts,
        read_gangs,
        read_gaps,
        read_logs,
    )
    for module in modules:
        for name, value in vars(module).items():
            if isinstance(value, Statement) and value.text == text:
                return name
    return " ".join(text.split())[:200]


async def test_all_but_these_questions_are_led_by_a_node_or_an_object(
    database: Database, asked: dict[str, list[object]]
) -> None:
    log = await play(
        database.dsn("writer"), tape_of("two-reboots"), name="reboots"
    )
    knowledge = load(())
    async with reading_of(database.dsn("reader"), log) as reading:
        for node in await reading.names(NodeNames()):
            question = WhyQuestion(node=node, window=Window(BEGIN, None))
            await ask_why(reading, question, knowledge, now=NOW)
            await ask_timeline(
                reading, TimelineQuestion(node=node), knowledge, now=NOW
            )
            await ask_placements(reading, node, Window())
    connection = await asyncpg.connect(database.superuser_dsn())
    led, others = 0, set()
    try:
        for text, given in asked.items():
            plan = json.loads(
                await connection.fetchval(
                    f"explain (format json) {text}", *given
                )
            )
            found = [*scans(plan[0]["Plan"])]
            if all(map(LEADING.search, found)):
                led += bool(found)
            else:
                others.add(named(text))
    finally:
        await connection.close()

    assert others == set(OTHERWISE)
    assert led == LED
