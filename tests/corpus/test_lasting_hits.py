"""A workload that is down costs until the end of the window.

Where a question has no end, this is the end of the record, or of its proof
where that is later; not when the workload was last seen: a workload that is
down may not be seen for days.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.answers.impact import ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import ImpactQuestion, IncidentsQuestion
from recorder.explain.hit import Hit
from recorder.explain.knowledge import shipped
from recorder.model.outcomes import HitBy
from recorder.model.window import Window
from recorder.store.engine import fetch
from recorder.store.read import LogReading
from recorder.store.statement import Record, Statement
from tests.corpus.conftest import Corpus
from tests.corpus.logs import reading_of, truth_of
from tests.corpus.truth import read_truth

DOWN = ["drain", "gpu-lost"]
PREEMPTED = ["inference-preempts-training", "kueue-preemption"]


OF_NODES = {
    "v1/nodes",
    "v1/events",
    "v1/pods",
    "coordination.k8s.io/v1/leases",
}
OF_WORKLOADS = OF_NODES | {"batch/v1/jobs"}


def least_vouched_until(reading: LogReading, resources: set[str]) -> datetime:
    return min(
        stream.vouched_until
        for stream in reading.streams
        if stream.resource in resources and stream.vouched_until is not None
    )


async def hits(
    reading: LogReading,
    name: str,
    until: datetime | None = None,
    *,
    since: datetime | None = None,
) -> tuple[Sequence[Hit], Sequence[Hit]]:
    """Ask for the impact and for the incidents; return what each says."""
    window = Window(since, until)
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
    each = [hit for one in listed.incidents for hit in one.hits]
    return impact.workloads, each


@pytest.mark.parametrize("name", DOWN)
async def test_what_is_down_costs_until_the_record_ends(
    corpus: Corpus, name: str
) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        impact, listed = await hits(reading, name)
        last = reading.log.observed_at
        assert last is not None
        ends = [
            max(last, least_vouched_until(reading, resources))
            for resources in (OF_WORKLOADS, OF_NODES)
        ]

    for found, until in zip((impact, listed), ends, strict=True):
        down = [hit for hit in found if hit.outcome == "down" and hit.gpus]
        assert down
        for hit in down:
            hours = (until - hit.hit_at) / timedelta(hours=1) * hit.gpus
            assert hit.gpu_hours_lost == pytest.approx(hours, abs=1e-4)


@pytest.mark.parametrize("name", DOWN)
async def test_without_an_end_nothing_more_is_read(
    corpus: Corpus, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Statement] = []

    async def recording_fetch(
        engine: AsyncEngine, action: str, statement: Statement, **values: Any
    ) -> Sequence[Record]:
        asked.append(statement)
        return await fetch(engine, action, statement, **values)

    monkeypatch.setattr("recorder.store.stored_facts.fetch", recording_fetch)
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        assert any(
            await hits(reading, name, least_vouched_until(reading, OF_NODES))
        )
        with_end = list(asked)
        asked.clear()
        assert any(await hits(reading, name))

    assert asked
    assert asked == with_end


@pytest.mark.parametrize("name", PREEMPTED)
async def test_what_was_preempted_up_to_a_day_before_is_hit_while_it_waits(
    corpus: Corpus, name: str
) -> None:
    """Earlier, it belongs to another window: no gang is read for it."""
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        ((one, *_), _) = await hits(reading, name)
        found = [
            await hits(
                reading, name, since=one.hit_at + timedelta(hours=hours)
            )
            for hours in (23, 25)
        ]

    assert one.hit_by is HitBy.PREEMPTION
    assert one.running_again_at is None
    ((still, _), (later, _)) = found
    assert [hit.hit_at for hit in still] == [one.hit_at]
    assert not later


async def test_an_eviction_for_an_earlier_loss_is_no_hit_by_the_next(
    corpus: Corpus,
) -> None:
    """The gang still waits as the window begins; its node is back by then."""
    name = "two-reboots"
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        _, (first, second) = await hits(reading, name)
        again = first.running_again_at
        assert again is not None
        since = again - timedelta(seconds=1)
        ((hit,), _) = await hits(reading, name, since=since)

    assert hit.hit_by is HitBy.NODE_FAILURE
    assert (hit.hit_at, hit.pods_hit) == (second.hit_at, second.pods_hit)
