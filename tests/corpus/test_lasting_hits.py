"""A workload that is down costs until when it is known where Pods run.

Not until something was last seen of it: of what is down nothing may be seen
for days.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.explain.impact import Hit
from recorder.knowledge import shipped
from recorder.report.impact import ImpactQuestion, ask_impact
from recorder.report.incidents import IncidentsQuestion, ask_incidents
from recorder.report.window import Window
from recorder.store.engine import Record, fetch
from recorder.store.read import LogReading
from tests.corpus.conftest import Corpus
from tests.corpus.logs import reading_of, truth_of
from tests.corpus.truth import read_truth

DOWN = ["drain", "gpu-lost"]


def pods_known_until(reading: LogReading) -> datetime:
    (known,) = [
        stream.vouched_until
        for stream in reading.streams
        if stream.resource == "v1/pods"
    ]
    assert known is not None
    return known


async def hits(
    reading: LogReading, name: str, until: datetime | None = None
) -> list[Hit]:
    """Ask both questions; give what both say was hit."""
    window = Window(None, until)
    nodes = [n.name for n in read_truth(truth_of(name)).cluster.nodes]
    now = reading.log.recorded_at
    assert now is not None
    impact = await ask_impact(
        reading,
        ImpactQuestion(
            nodes=tuple(nodes), rack=None, labels=(), window=window
        ),
        shipped(),
        now=now,
    )
    listed = await ask_incidents(
        reading, IncidentsQuestion(window=window), shipped(), now=now
    )
    each = [hit for one in listed.incidents for hit in one.workloads]
    return [*impact.workloads, *each]


@pytest.mark.parametrize("name", DOWN)
async def test_what_is_down_costs_until_pods_are_known(
    corpus: Corpus, name: str
) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        found = await hits(reading, name)
        until = pods_known_until(reading)

    down = [hit for hit in found if hit.outcome == "down" and hit.gpus]
    assert len(down) >= 2
    for hit in down:
        hours = (until - hit.hit_at) / timedelta(hours=1) * hit.gpus
        assert hit.gpu_hours_lost == pytest.approx(hours, abs=1e-4)


@pytest.mark.parametrize("name", DOWN)
async def test_without_an_end_nothing_more_is_read(
    corpus: Corpus, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def told(engine: AsyncEngine, *given: Any) -> Sequence[Record]:
        asked.append(given[1])
        return await fetch(engine, *given)

    monkeypatch.setattr("recorder.store.stored_facts.fetch", told)
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        assert await hits(reading, name, pods_known_until(reading))
        with_end = list(asked)
        asked.clear()
        assert await hits(reading, name)

    assert asked
    assert asked == with_end
