"""Five hundred workloads: the command, the API and stats agree."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from recorder.answers.job_order import JobOrder
from recorder.answers.job_questions import JobFilter, JobsQuestion
from recorder.answers.jobs import Jobs, ask_disruptions, ask_jobs
from recorder.answers.naming import Reference
from recorder.answers.node_questions import StatsQuestion, WhyWorkloadQuestion
from recorder.answers.ports import Reading
from recorder.answers.stats import ask_stats
from recorder.answers.why_workload import ask_why_workload
from recorder.explain.knowledge import shipped
from recorder.model.document import plain
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.wiring.reading import open_logs
from tests.api.serving import Client, serving_beside, settings_for
from tests.api.test_workloads import DISRUPTIONS, WORKLOADS, listed
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer
from tests.support.sampling import sampled
from tests.support.seeded_jobs import FATES, Truth, drawn, end
from tests.support.written_log import WrittenLog

SHOWN: dict[JobOrder, Callable[[Any], Any]] = {
    JobOrder.BEGAN: lambda one: one["beganAt"],
    JobOrder.LAST_ENDING: lambda one: (one["lastEnding"] or {"at": ""})["at"],
    JobOrder.GPUS: lambda one: one["gpus"],
    JobOrder.NAME: lambda one: f"{one['namespace']}/{one['name']}",
    JobOrder.GPU_HOURS_LOST: lambda one: one["gpuHoursLost"],
}
"""What each order sorts by."""

COUNT = 500
(SEED, *_) = sampled("seeds of workloads", range(1000), 1)
"""Another one for each commit."""

STORY = drawn(SEED, COUNT)
RULES = shipped()
NOW = end()
EVER = Window(None, None)


@pytest.fixture(scope="module")
def database(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        log = WrittenLog(writer)
        await log.lease()
        for batch in STORY.batches():
            await log.append(*batch)
        await log.end()

    with filled_database(embedded_server, fill) as found:
        yield found


@pytest.fixture(scope="module")
def every(database: Database) -> Jobs:
    """All workloads, as the command lists them."""

    async def ask() -> Jobs:
        async with opened(database) as reading:
            return await jobs(reading)

    return asyncio.run(ask())


@asynccontextmanager
async def opened(database: Database) -> AsyncIterator[Reading]:
    settings = Settings(database_url=database.dsn("reader"))
    async with open_logs(settings) as logs:
        yield await logs.read(1)


async def jobs(reading: Reading, **wanted: Any) -> Jobs:
    question = JobsQuestion(window=EVER, wanted=JobFilter(**wanted))
    return await ask_jobs(reading, question, RULES, now=NOW)


def key(kind: str, namespace: str, name: str) -> str:
    return f"{kind} {namespace}/{name}"


def of(truth: Truth) -> str:
    return key(truth.kind, truth.namespace, truth.name)


async def test_each_workload_is_listed_once_with_what_ended_it(
    database: Database, every: Jobs
) -> None:
    async with opened(database) as reading:
        died = await jobs(reading, ended_by=("any",))
    rows = {key(o.kind, o.namespace, o.name): o for o in every.workloads}

    assert len(rows) == len(every.workloads) == COUNT
    assert rows.keys() == {of(truth) for truth in STORY.truths}
    for truth in STORY.truths:
        row = rows[of(truth)]
        last = row.last_ending
        by = None if last is None else last.ended_by.value
        assert by == FATES[truth.fate], truth
        assert row.state == truth.state, truth
        assert row.gang_size == truth.members, truth
        had = 0 if truth.fate == "waits" else truth.members
        assert row.gpus == had * truth.gpus, truth
        assert 0 <= row.hours_in_full <= row.hours_wanted, truth
    assert {key(o.kind, o.namespace, o.name) for o in died.workloads} == {
        of(truth)
        for truth in STORY.truths
        if FATES[truth.fate] not in {None, "completion"}
    }


async def test_the_list_says_what_why_says(
    database: Database, every: Jobs
) -> None:
    async with opened(database) as reading:
        for row in every.workloads[:: COUNT // 25]:
            object_ = Reference.parse(
                f"{row.kind.lower()}/{row.namespace}/{row.name}", None
            )
            why = await ask_why_workload(
                reading,
                WhyWorkloadQuestion(object=object_, window=EVER),
                RULES,
                now=NOW,
            )
            assert row.state == why.state, row
            assert row.endings == len(why.endings), row
            assert plain(row.last_ending) == plain(
                why.endings[-1] if why.endings else None
            )


async def test_the_command_the_api_and_stats_agree(
    database: Database, every: Jobs
) -> None:
    async with opened(database) as reading:
        ended = await ask_disruptions(
            reading, JobsQuestion(window=EVER), RULES, now=NOW
        )
        stats = await ask_stats(
            reading, StatsQuestion(window=EVER), RULES, now=NOW
        )
    with serving_beside(settings_for(database.dsn("reader"))) as address:
        async with aiohttp.ClientSession() as session:
            served = Client(address, session)
            rows = await pages_of(served, WORKLOADS, size=COUNT)
            disruptions = await pages_of(served, DISRUPTIONS)

    assert [one["name"] for one in rows] == [o.name for o in every.workloads]
    for row, one in zip(rows, every.workloads, strict=True):
        assert row["gpuHoursLost"] == one.gpu_hours_lost
        assert row["state"] == one.state.value.upper()
        assert row["endings"] == one.endings
    assert [one["ending"]["id"] for one in disruptions] == [
        str(one.ending.id) for one in ended.disruptions
    ]
    hours = sum(o.ending.gpu_hours_lost or 0 for o in ended.disruptions)
    assert every.totals.gpu_hours_lost == pytest.approx(hours, abs=1e-3)
    by_nodes = [o for o in ended.disruptions if o.ending.verdict is not None]
    assert by_nodes
    lost = sum(one.ending.gpu_hours_lost or 0 for one in by_nodes)
    assert stats.totals.gpu_hours_lost == pytest.approx(lost, abs=1e-2)
    assert stats.totals.workloads == len({o.workload for o in by_nodes})


async def test_pages_of_more_than_are_judged_at_once_are_the_list(
    database: Database, every: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database) as reading:
        died = await jobs(reading, ended_by=("node-failure",))
        monkeypatch.setattr("recorder.answers.jobs.JUDGED_MAX", 90)
        newest = await ask_jobs(
            reading, JobsQuestion(window=EVER, limit=40), RULES, now=NOW
        )
    monkeypatch.setattr("api.resolvers.answers.workloads.JUDGED_MAX", 90)
    with serving_beside(settings_for(database.dsn("reader"))) as address:
        async with aiohttp.ClientSession() as session:
            served = Client(address, session)
            page = await listed(served, WORKLOADS, first=3)
            rows = await pages_of(served, WORKLOADS)
            ended = await pages_of(served, WORKLOADS, endedBy=["node-failure"])
            by_name = await pages_of(served, WORKLOADS, orderBy="NAME")

    names = [one.name for one in every.workloads]
    assert [one["name"] for one in rows] == names
    assert [one["name"] for one in ended] == [o.name for o in died.workloads]
    by = SHOWN[JobOrder.NAME]
    assert [one["name"] for one in by_name] == [
        one["name"] for one in sorted(rows, key=by)
    ]
    assert [one.name for one in newest.workloads] == names[-40:]
    assert newest.totals.workloads == page["totals"]["workloads"] == COUNT
    assert newest.totals.gpu_hours_lost is None
    assert page["totals"]["gpuHoursLost"] is None
    assert {one["facet"] for one in page["facets"]} == {"KIND", "NAMESPACE"}


async def test_an_order_is_that_of_the_whole_list(
    database: Database, every: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database) as reading:
        costly = await ask_jobs(
            reading,
            JobsQuestion(window=EVER, limit=20, order=JobOrder.GPU_HOURS_LOST),
            RULES,
            now=NOW,
        )
    with serving_beside(settings_for(database.dsn("reader"))) as address:
        async with aiohttp.ClientSession() as session:
            served = Client(address, session)
            by: dict[str, Any] = {}
            ended: list[Any] = []
            *others, last = SHOWN
            for order in (*sampled("orders of jobs", others, 1), last):
                by, value = {"orderBy": order.name}, SHOWN[order]
                of_log = await pages_of(served, WORKLOADS, size=COUNT, **by)
                fleet = await pages_of(served, WORKLOADS, clusters=["*"], **by)
                ended = await pages_of(served, DISRUPTIONS, size=COUNT, **by)
                assert [one["name"] for one in fleet] == [
                    one["name"] for one in of_log
                ]
                assert {one["name"] for one in of_log} == {
                    one.name for one in every.workloads
                }
                values = [value(one) for one in of_log]
                assert values == sorted(values), order
                assert len({one["ending"]["id"] for one in ended}) == len(
                    ended
                )
            hours = [one["ending"]["gpuHoursLost"] or 0 for one in ended]

            monkeypatch.setattr("recorder.answers.jobs.JUDGED_MAX", 90)
            with pytest.raises(
                AssertionError, match="cannot sort 500 workloads by gpu"
            ):
                await listed(served, WORKLOADS, first=3, **by)
    assert list(SHOWN)[-1] is JobOrder.GPU_HOURS_LOST
    assert hours == sorted(hours)
    assert [one.gpu_hours_lost for one in costly.workloads] == sorted(
        one.gpu_hours_lost for one in every.workloads
    )[-20:]
    assert costly.totals == every.totals


async def pages_of(
    served: Client, query: str, size: int = 200, **asked: Any
) -> list[Any]:
    found: list[Any] = []
    after = None
    while True:
        page = await listed(served, query, first=size, after=after, **asked)
        found += [one["node"] for one in page["edges"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            return found
