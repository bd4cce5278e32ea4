"""The same question of the same log has the same answer, byte for byte."""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from sqlalchemy import ColumnElement, func

from recorder.knowledge import shipped
from recorder.report.impact import ImpactQuestion, ask_impact
from recorder.report.incidents import IncidentsQuestion, ask_incidents
from recorder.report.ports import Reading
from recorder.report.why import WhyQuestion, ask_why
from recorder.report.window import Window
from recorder.store import read_fact_pages, read_facts
from recorder.store.tables import Query
from tests.corpus.conftest import Corpus
from tests.corpus.logs import reading_of, truth_of
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
        found.append(said.document())
    asked = ImpactQuestion(
        nodes=nodes, rack=None, labels=(), window=Window(None, None)
    )
    impact = await ask_impact(reading, asked, shipped(), now=now)
    listed = await ask_incidents(
        reading, IncidentsQuestion(window=Window(None, None)), shipped(),
        now=now,
    )  # fmt: skip
    return [*found, impact.document(), listed.document()]


async def answered(corpus: Corpus, name: str) -> bytes:
    log = corpus.logs[name]
    async with reading_of(corpus.database.dsn("reader"), log) as reading:
        return orjson.dumps(await answers(reading, name))


@pytest.mark.parametrize("name", INCIDENTS)
async def test_answers_do_not_depend_on_the_order_of_rows(
    corpus: Corpus, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = read_facts.facts_query
    first = await answered(corpus, name)

    def shuffled(log: int, asked: Sequence[ColumnElement[bool]]) -> Query:
        return original(log, asked).order_by(func.random())

    monkeypatch.setattr(read_facts, "facts_query", shuffled)
    monkeypatch.setattr(read_fact_pages, "facts_query", shuffled)
    for _ in range(3):
        assert await answered(corpus, name) == first
