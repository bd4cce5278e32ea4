"""The same question of the same log has the same answer, byte for byte."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentsQuestion,
    WhyQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.model.document import plain
from recorder.model.fact import StoredFact
from recorder.model.window import Window
from recorder.sources.tape.export import Cut, cut_tape
from recorder.store.statement import Record
from recorder.store.stored_facts import FactNames
from tests.corpus.conftest import Corpus
from tests.corpus.logs import play, reading_of, truth_of
from tests.corpus.truth import read_truth

INCIDENTS = ["kernel-deadlock", "rack-loss-jobset", "replaced", "drain"]


async def answers(reading: Reading, name: str) -> list[dict[str, Any]]:
    truth = read_truth(truth_of(name))
    nodes = tuple(node.name for node in truth.cluster.nodes)
    now = reading.log.recorded_at
    assert now is not None
    found = []
    for node in nodes:
        why = WhyQuestion(node=node, window=Window(None, None))
        said = await ask_why(reading, why, shipped(), now=now)
        found.append(plain(said))
    asked = ImpactQuestion(
        nodes=nodes, rack=None, labels=(), window=Window(None, None)
    )
    impact = await ask_impact(reading, asked, shipped(), now=now)
    listed = await ask_incidents(
        reading, IncidentsQuestion(window=Window(None, None)), shipped(),
        now=now,
    )  # fmt: skip
    return [
        *found,
        plain(impact),
        plain(listed),
    ]


async def answered(corpus: Corpus, name: str) -> bytes:
    log = corpus.logs[name]
    async with reading_of(corpus.database.dsn("reader"), log) as reading:
        return orjson.dumps(await answers(reading, name))


@pytest.mark.parametrize("name", INCIDENTS)
async def test_answers_do_not_depend_on_the_order_of_rows(
    corpus: Corpus, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = FactNames.stored
    first = await answered(corpus, name)
    chance = Random(name)

    async def shuffled(
        self: FactNames, rows: Sequence[Record]
    ) -> list[StoredFact]:
        return await original(self, chance.sample(rows, len(rows)))

    monkeypatch.setattr(FactNames, "stored", shuffled)
    for _ in range(3):
        assert await answered(corpus, name) == first


def without_log(documents: list[dict[str, Any]], log: int, name: str) -> str:
    """Write answers without number and name of their log, and the clock."""
    text = orjson.dumps(documents, option=orjson.OPT_INDENT_2).decode()
    text = text.replace(f'"cluster": "{name}"', '"cluster": "NAME"')
    text = re.sub(r'"now": "[^"]*"', '"now": "NOW"', text)
    return re.sub(rf"\b{log}/(\d+)", r"LOG/\1", text)


@pytest.mark.parametrize("name", ["crash", "drain", "kernel-deadlock"])
async def test_a_tape_that_is_cut_from_a_log_answers_as_the_log_does(
    corpus: Corpus, name: str, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.tape.jsonl.zst"
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        now = reading.log.recorded_at
        assert now is not None
        wanted = Cut(path=cut, window=Window(None, None))
        await cut_tape(reading, wanted, asyncio.Event(), now=now)
        of_log = await answers(reading, name)
    copy = f"{name}, cut"
    again = await play(corpus.database.dsn("writer"), cut, name=copy)

    async with reading_of(dsn, again) as reading:
        of_tape = await answers(reading, name)

    assert without_log(of_tape, again, copy) == without_log(
        of_log, corpus.logs[name], name
    )
