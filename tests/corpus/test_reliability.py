"""How reliably workloads ran agrees with what `recorder why` says of each."""

import pytest

from recorder.answers.naming import Reference
from recorder.answers.node_questions import StatsQuestion, WhyWorkloadQuestion
from recorder.answers.ports import Reading
from recorder.answers.reliability import OF_WORKLOADS, Reliability
from recorder.answers.stats import Stats, ask_stats
from recorder.answers.why_workload import ask_why_workload
from recorder.explain.knowledge import shipped
from recorder.model.outcomes import EndedBy
from recorder.model.window import Window
from tests.corpus.conftest import Corpus
from tests.corpus.logs import names, reading_of

SUMS = (
    "workloads",
    "interruptions",
    "stops",
    "completions",
    "node_days",
    "gpu_days",
    "ran_again",
    "hours_wanted",
    "hours_in_full",
    "gpu_hours_lost",
)
STOPS = {EndedBy.DELETION, EndedBy.SUSPENSION, EndedBy.DEADLINE}


async def counted(reading: Reading) -> Stats:
    assert reading.log.recorded_at is not None
    return await ask_stats(
        reading,
        StatsQuestion(window=Window(), by=OF_WORKLOADS),
        shipped(),
        now=reading.log.recorded_at,
    )


async def explained(reading: Reading, group: Reliability) -> None:
    """Compare the figures of a workload with the answer about it."""
    assert group.key is not None
    assert reading.log.recorded_at is not None
    why = await ask_why_workload(
        reading,
        WhyWorkloadQuestion(
            object=Reference.parse(group.key), window=Window()
        ),
        shipped(),
        now=reading.log.recorded_at,
    )
    by = [ending.ended_by for ending in why.endings]
    stops = sum(one in STOPS for one in by)
    done = by.count(EndedBy.COMPLETION)
    lost = sum(ending.gpu_hours_lost or 0 for ending in why.endings)

    assert (group.stops, group.completions) == (stops, done), group.key
    assert group.interruptions == len(by) - stops - done, group.key
    # No end of the record is the same for both by the microsecond.
    assert group.gpu_hours_lost == pytest.approx(lost, abs=2e-3), group.key


@pytest.mark.parametrize("name", names())
async def test_figures_add_up_and_agree_with_each_workload(
    corpus: Corpus, name: str
) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        stats = await counted(reading)
        assert stats.reliability
        by_workload = stats.reliability[0]
        for group in by_workload.groups:
            await explained(reading, group)

    assert [one.by for one in stats.reliability] == [*OF_WORKLOADS]
    for one in stats.reliability:
        total = one.totals
        for field in SUMS:
            parts = sum(getattr(group, field) for group in one.groups)
            whole = getattr(total, field)
            assert whole == pytest.approx(parts, abs=1e-4), (one.by, field)
        assert total.hours_in_full <= total.hours_wanted + 1e-4
        if total.interruptions:
            between = total.node_days / total.interruptions
            assert total.node_days_between == pytest.approx(between, abs=1e-5)
