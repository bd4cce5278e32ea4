"""What is counted adds up, by whatever it is counted."""

import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import (
    GroupBy,
    ImpactQuestion,
    IncidentsQuestion,
    StatsQuestion,
)
from recorder.answers.reliability import OF_WORKLOADS
from recorder.answers.stats import ask_stats
from recorder.explain.knowledge import shipped
from recorder.model.window import Window
from tests.corpus.conftest import Corpus
from tests.corpus.logs import names, reading_of

EVERY = tuple(by for by in GroupBy if by not in OF_WORKLOADS)


@pytest.mark.parametrize("name", names())
async def test_the_parts_are_the_whole(corpus: Corpus, name: str) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        now = reading.log.recorded_at
        assert now is not None
        stats = await ask_stats(
            reading,
            StatsQuestion(window=Window(), by=EVERY),
            shipped(),
            now=now,
        )
        listed = await ask_incidents(
            reading, IncidentsQuestion(window=Window()), shipped(), now=now
        )

    total = stats.totals
    attributed = [
        hit.gpu_hours_attributed
        for one in listed.incidents
        for hit in one.hits
    ]
    assert total.incidents == len(listed.incidents)
    assert total.verdicts == sum(len(o.verdicts) for o in listed.incidents)
    assert total.gpu_hours_lost == pytest.approx(sum(attributed))
    assert [counted.by for counted in stats.counts] == [*EVERY]
    for counted in stats.counts:
        by, groups = counted.by, counted.groups
        keys = [group.key for group in groups]
        lost = sum(group.gpu_hours_lost for group in groups)

        assert len(keys) == len(set(keys)), by
        assert lost == pytest.approx(total.gpu_hours_lost, abs=1e-9), by
        if by is not GroupBy.NAMESPACE:
            assert sum(g.verdicts for g in groups) == total.verdicts, by
            assert sum(g.reboots for g in groups) == total.reboots, by
            assert sum(g.not_back for g in groups) == total.not_back, by
        assert all(g.incidents <= total.incidents for g in groups), by


@pytest.mark.parametrize("name", ["crash", "rack-loss-jobset", "two-reboots"])
async def test_a_node_lost_what_its_impact_says(
    corpus: Corpus, name: str
) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        now = reading.log.recorded_at
        assert now is not None
        stats = await ask_stats(
            reading,
            StatsQuestion(window=Window(), by=[GroupBy.NODE]),
            shipped(),
            now=now,
        )
        (counted,) = stats.counts
        assert counted.groups
        for group in counted.groups:
            impact = await ask_impact(
                reading,
                ImpactQuestion(nodes=(group.key or "",), window=Window()),
                shipped(),
                now=now,
            )
            lost = sum(hit.gpu_hours_attributed for hit in impact.workloads)

            # No end of the record is the same for both by the microsecond.
            assert group.gpu_hours_lost == pytest.approx(lost, abs=2e-3)


async def test_a_rack_is_counted_by_its_label(corpus: Corpus) -> None:
    dsn = corpus.database.dsn("reader")
    log = corpus.logs["rack-loss-jobset"]
    async with reading_of(dsn, log) as reading:
        now = reading.log.recorded_at
        assert now is not None
        stats = await ask_stats(
            reading,
            StatsQuestion(window=Window(), by=[GroupBy.RACK]),
            shipped(),
            now=now,
        )

    (counted,) = stats.counts
    (rack,) = counted.groups
    assert (rack.key, rack.incidents, rack.nodes) == ("rack-2", 1, 2)
    assert stats.vouched == 1


async def test_a_gap_is_not_vouched_for(corpus: Corpus) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs["crash-in-gap"]) as reading:
        now = reading.log.recorded_at
        assert now is not None
        stats = await ask_stats(
            reading, StatsQuestion(window=Window()), shipped(), now=now
        )

    assert stats.vouched is not None
    assert 0 < stats.vouched < 1
