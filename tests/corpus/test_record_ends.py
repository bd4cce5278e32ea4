"""Every tape is shown to the end of its record, its incident included."""

import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import ImpactQuestion, IncidentsQuestion
from recorder.answers.nouns import Selection
from recorder.answers.queries import EntryQuery
from recorder.answers.sentences import lasting
from recorder.explain.knowledge import shipped
from recorder.facts.coverage.account import Account
from recorder.facts.coverage.coverage import cover
from recorder.model.entry import Entry
from recorder.model.window import Window
from recorder.store.read import LogReading
from tests.corpus.conftest import Corpus
from tests.corpus.logs import names, reading_of
from tests.support.builders import at

NOW = at(10_000_000)


async def last_of(reading: LogReading) -> Entry:
    lines: list[Entry] = []
    pages = reading.pages(EntryQuery(Selection()), after=0)
    async for page in pages:
        lines.extend(page)
    return max(lines, key=lambda line: line.observed_at)


@pytest.mark.parametrize("name", names())
async def test_a_tape_lasts_until_its_last_entry(
    corpus: Corpus, name: str
) -> None:
    async with reading_of(
        corpus.database.dsn("reader"), corpus.logs[name]
    ) as reading:
        last = await last_of(reading)
        answer = await ask_incidents(
            reading, IncidentsQuestion(window=Window()), shipped(), now=NOW
        )
        shown = cover(
            Account(
                log=reading.log,
                streams=reading.streams,
                window=Window(),
                now=NOW,
            )
        )

    for coverage in (shown, answer.coverage):
        assert coverage.recorded_until == last.observed_at
        assert coverage.window.until is not None
        assert coverage.window.until > last.observed_at
        assert all(
            one.since < coverage.window.until for one in answer.incidents
        )


async def test_what_stays_lost_is_counted_to_the_end(corpus: Corpus) -> None:
    async with reading_of(
        corpus.database.dsn("reader"), corpus.logs["gpu-lost"]
    ) as reading:
        question = ImpactQuestion(
            nodes=("gpu-002",), rack=None, labels=(), window=Window()
        )
        answer = await ask_impact(reading, question, shipped(), now=NOW)

    (hit,) = answer.workloads
    end = answer.coverage.recorded_until
    assert end is not None
    assert hit.outcome == "down"
    hours = (end - hit.hit_at).total_seconds() / 3600 * hit.gpus
    assert hit.gpu_hours_lost == pytest.approx(hours, abs=1e-4)
    assert "1 workload is still down" in str(lasting(answer.workloads, end))
