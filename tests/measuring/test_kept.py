"""What Prometheus knows of an incident is kept once, and is no fault alone.

GPU 3 of n1 gets hot, its peers stay cool, and the machine reboots. Samples are
those of a real Prometheus; the log is in a real database.
"""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from msgspec import structs

from recorder.answers.gaps import ask_gaps
from recorder.answers.html import html
from recorder.answers.incidents import ask_incidents
from recorder.answers.markdown import markdown
from recorder.answers.metrics import ask_metrics
from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    IncidentsQuestion,
    MetricsQuestion,
    PostmortemQuestion,
    WhyQuestion,
)
from recorder.answers.postmortem import ask_postmortem
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.explain.verdict import Verdict
from recorder.facts.metrics import METRICS, Kept, Series
from recorder.keeping.playing import Playing, play_tape
from recorder.measuring.asking import Asked, event_of, taken
from recorder.measuring.following import Measuring
from recorder.measuring.ports import Sampled, Store, StoreError
from recorder.measuring.prometheus import prometheus
from recorder.measuring.store_file import MetricsStore, Selector
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.sources.tape.export import Cut, cut_tape
from recorder.wiring.measuring import SpooledDoor
from recorder.wiring.reading import open_logs
from tests.api.serving import served_by
from tests.measuring.lives import STEPS, Lives
from tests.measuring.stores import STEP, Line, answers, prometheus_with
from tests.measuring.story import BACK, LOST, LogDoor, every, gpus, written
from tests.support.builders import START, at
from tests.support.memory_log import MemoryLog
from tests.support.postgres import Database
from tests.support.sampling import sampled
from tests.support.written_log import WrittenLog

SHARED = MetricsStore(
    url="http://unused.example",
    selectors=(
        Selector(metrics=("DCGM_*",), match='Hostname="{node}"'),
        Selector(match='node="{node}"'),
    ),
    requests_a_minute=6_000,
)
ENDED = 300
PAST: list[Line] = [
    *gpus("n1", hot=3, story="hot"),
    *gpus("n2", until=BACK, story="hot"),
    *gpus("n1", hot=3, story="both"),
    *gpus("n2", hot=5, until=BACK, story="both"),
    *gpus("n1", story="flat"),
    *gpus("n1", until=ENDED, story="ended"),
    ("up", {"node": "down", "job": "dcgm"}, every(-600, 600, 0)),
    ("up", {"node": "quiet", "job": "dcgm"}, every(-600, 600, 1)),
    ("node_load1", {"node": "other"}, every(-600, 600, 1)),
]
"""What one store has of several stories, by a label."""


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Prometheus that has what happened."""
    with prometheus_with(tmp_path_factory.mktemp("store"), PAST) as url:
        yield url


def of(story: str, url: str = SHARED.url) -> MetricsStore:
    """Return the description of a store by which it has one story."""
    return structs.replace(
        SHARED,
        url=url,
        selectors=tuple(
            Selector(
                metrics=one.metrics,
                match=f'{one.match},story="{story}"' if story else one.match,
            )
            for one in SHARED.selectors
        ),
    )


class Away:
    """A store that does not answer, until it is there."""

    def __init__(self) -> None:
        self.asked = 0
        self.there: Store | None = None

    async def samples(self, *words: Any, **more: Any) -> Sequence[Sampled]:
        self.asked += 1
        if self.there is not None:
            return await self.there.samples(*words, **more)
        msg = "no answer within 30s"
        raise StoreError(msg)


@pytest.fixture
async def log(database: Database) -> AsyncIterator[WrittenLog]:
    """The log of the story."""
    begun = await written(database.dsn("writer"))
    yield begun
    await begun.end()


@asynccontextmanager
async def reading_of(database: Database) -> AsyncIterator[Any]:
    async with open_logs(
        Settings(database_url=database.dsn("reader"))
    ) as logs:
        (one,) = await logs.meant(None)
        yield await logs.read(one.id)


@asynccontextmanager
async def measuring(
    database: Database, door: Any, store: Any, **changes: Any
) -> AsyncIterator[tuple[Any, Measuring]]:
    """Measure by a store that is no Prometheus."""
    description = structs.replace(SHARED, **changes)
    async with reading_of(database) as reading:
        yield reading, Measuring(description, store, door, shipped())


@asynccontextmanager
async def measured(
    database: Database, door: Any, url: str, story: str
) -> AsyncIterator[tuple[Any, Measuring]]:
    """Measure by what a Prometheus has of a story."""
    description = of(story, url)
    async with (
        reading_of(database) as reading,
        prometheus(description) as store,
    ):
        yield reading, Measuring(description, store, door, shipped())


async def asked_of(
    url: str, story: str, asked: Asked, *, patient: bool = False
) -> Any:
    """Return the data of the event about a node; None to ask again."""
    description = of(story, url)
    async with prometheus(description) as store:
        events = await taken(
            asked, description, store, shipped(), patient=patient
        )
    return events and events[-1]["data"]


async def why(reading: Any, *, now: datetime | None = None) -> Verdict:
    answer = await ask_why(
        await reading.again(),
        WhyQuestion(node="n1", window=Window(None, None)),
        shipped(),
        now=now or at(9000),
    )
    (verdict,) = answer.verdicts
    return verdict


async def test_a_hot_gpu_supports_the_fault_that_a_controller_reports(
    database: Database, log: WrittenLog, store_url: str
) -> None:
    door = LogDoor(log)
    async with measured(database, door, store_url, "hot") as (reading, one):
        before = await why(reading)
        assert await one.keep(reading, now=at(BACK + 3600)) == 1
        await door.commit()
        after = await why(reading)
        again = await reading.again()
        assert await one.keep(again, now=at(BACK + 3600)) == 0
    async with measured(database, door, store_url, "hot") as (_, anew):
        assert await anew.keep(again, now=at(BACK + 3600)) == 0

    peer, event = door.events
    assert event["type"] == METRICS
    assert peer["data"]["peer_of"] == event["data"]["node"] == "n1"
    assert event["data"]["peer"] == peer["data"]["node"] == "n2"
    assert before.cause == after.cause == "thermal-fault"
    assert before.confidence == after.confidence
    (fault,) = [step for step in after.steps if step.role == "fault"]
    hot = "GPU 3 at 97 °C from 03:08, its peers at 67 °C, those of n2 at 67 °C"
    assert hot in fault.says
    assert any(one.source == "cloudevents" for one in after.evidence)
    assert str(after.evidence[-1].entry) in [str(e) for e in fault.entries]


async def test_a_peer_that_is_as_hot_leaves_no_support(
    database: Database, log: WrittenLog, store_url: str
) -> None:
    """The same samples of n1, which alone would support the fault."""
    door = LogDoor(log)
    async with measured(database, door, store_url, "both") as (reading, one):
        before = await why(reading)
        await one.keep(reading, now=at(BACK + 3600))
        await door.commit()
        after = await why(reading)

    peer, event = [one["data"] for one in door.events]
    assert event["peer_highest"]["DCGM_FI_DEV_GPU_TEMP"] == 97
    assert (event["node"], peer["node"]) == ("n1", "n2")
    assert before.cause == after.cause == "thermal-fault"
    assert structs.asdict(before) == structs.asdict(after)


async def test_a_flat_line_speaks_against_it(
    database: Database, log: WrittenLog, store_url: str
) -> None:
    door = LogDoor(log)
    async with measured(database, door, store_url, "flat") as (reading, one):
        await one.keep(reading, now=at(BACK + 3600))
        await door.commit()
        found = await why(reading)

    (against,) = found.contradictions
    assert against.says == ("no GPU was above 67 °C by DCGM_FI_DEV_GPU_TEMP")
    assert found.confidence == "possible"


async def test_a_series_that_ended_has_no_later_values(
    store_url: str,
) -> None:
    """As a range query would make them up: five minutes of them."""
    asked = Asked("1/1", "n1", at(-600), at(600))
    data = await asked_of(store_url, "ended", asked)
    query = {
        "query": 'DCGM_FI_DEV_GPU_TEMP{gpu="3",story="ended"}',
        "start": str(asked.begin.timestamp()),
        "end": str(asked.end.timestamp()),
        "step": str(STEP),
    }
    ranged = answers(f"{store_url}/api/v1/query_range?{urlencode(query)}")
    assert ranged is not None
    (made_up,) = msgspec.json.decode(ranged)["data"]["result"]

    series = msgspec.convert(data["series"], list[Series])
    last = max(s for one in series for s, _ in one.samples())
    assert last == START.timestamp() + ENDED - STEP
    assert made_up["values"][-1][0] >= START.timestamp() + ENDED + 240


async def test_why_nothing_is_there_is_named(store_url: str) -> None:
    names = ("node_load1", "DCGM_FI_DEV_GPU_TEMP")
    reasons = {}
    asked = Asked("1/1", "unknown", at(-600), at(600))
    for node in ("down", "quiet", "unknown"):
        about = asked._replace(node=node)
        lacking = (await asked_of(store_url, "", about))["lacking"]
        reasons[node] = [lacking.get(name) for name in names]
        if node == "quiet":
            why = lacking["node_boot_time_seconds"]
            assert why == "the store has no such series"
    assert await asked_of(store_url, "", asked, patient=True) is None
    assert reasons["down"] == ["the target did not answer"] * 2
    assert reasons["quiet"] == ["the store has nothing of it then"] * 2
    assert reasons["unknown"] == ["no target of this node is scraped"] * 2


async def test_of_a_store_that_was_away_for_ten_minutes_nothing_is_lost(
    database: Database, log: WrittenLog, store_url: str
) -> None:
    door, store, story = LogDoor(log), Away(), of("hot", store_url)
    async with reading_of(database) as reading, prometheus(story) as there:
        one = Measuring(story, store, door, shipped())
        assert await one.keep(reading, now=at(BACK + 13 * 60)) == 0
        store.there = there
        assert await one.keep(reading, now=at(BACK + 17 * 60)) == 0
        assert (store.asked, one.waiting) == (1, 1)
        assert await one.keep(reading, now=at(BACK + 23 * 60)) == 1
    _, event = door.events
    assert len(event["data"]["series"]) == 9
    assert "trouble" not in event["data"]


async def test_a_store_that_is_away_for_long_leaves_a_gap_of_this_source(
    database: Database, log: WrittenLog
) -> None:
    """It is asked while it remembers, and the gap ends with the window."""
    door, store = LogDoor(log, BACK + 4 * 3600), Away()
    whole, now = Window(), at(BACK + 5 * 3600)
    async with measuring(database, door, store, remembers="2h") as (
        reading,
        one,
    ):
        # Its window is not over yet.
        assert await one.keep(reading, now=at(BACK + 11 * 60)) == 0
        assert (store.asked, one.waiting) == (0, 0)
        for minutes in (15, 30, 60):
            late = at(BACK + 60 * minutes)
            assert await one.keep(reading, now=late) == 0
        assert (one.waiting, door.events) == (1, [])
        assert one.trouble == "no answer within 30s"
        asked = store.asked
        assert await one.keep(reading, now=at(BACK + 3 * 3600)) == 1
        assert await one.keep(reading, now=at(BACK + 4 * 3600)) == 0
        before = await ask_gaps(reading, whole, now=now)
        await door.commit()
        await door.commit()
        grown = await reading.again()
        after = await ask_gaps(grown, whole, now=now)
        known = await ask_why(
            grown, WhyQuestion(node="n1", window=whole), shipped(), now=now
        )
        fleet = await ask_incidents(
            grown, IncidentsQuestion(window=whole), shipped(), now=now
        )
    assert store.asked == asked + 1
    (event,) = door.events
    lost = "not kept while the store remembered it: no answer within 30s"
    assert event["data"]["trouble"] == lost
    assert before.gaps == []
    (gap,) = after.gaps
    assert (gap.source, gap.resource, gap.reason) == (
        "cloudevents",
        METRICS,
        lost,
    )
    times = [event["data"][name] for name in ("begin", "end")]
    assert [gap.since, gap.until] == [*map(datetime.fromisoformat, times)]
    assert gap.possible == ("metrics of node n1",)
    assert [*after.outages[0].gaps] == [gap.opened]
    assert gap in after.coverage.gaps
    # Causes are found in metrics, incidents are not.
    assert gap in known.coverage.gaps
    assert gap not in fleet.coverage.gaps
    assert all(one.resource != METRICS for one in grown.streams)


class Unscraped:
    """A store that has nothing of any node."""

    def __init__(self) -> None:
        self.asked = 0

    async def samples(self, *_: object, **__: object) -> list[Sampled]:
        self.asked += 1
        return []


@pytest.mark.usefixtures("log")
async def test_what_is_not_scraped_is_asked_for_twice(
    database: Database,
) -> None:
    """However often the log is judged meanwhile."""
    door, store = LogDoor(WrittenLog(database.dsn("writer"))), Unscraped()
    asked = []
    async with measuring(database, door, store) as (reading, one):
        for minutes in (12, 13, 20, 24, 26, 30):
            await one.keep(reading, now=at(BACK + 60 * minutes))
            asked.append(store.asked)
    first, *others, last, final = asked
    assert first > 0
    assert set(others) == {first}
    assert last == final > first
    for event in door.events:
        assert set(event["data"]["lacking"].values()) == {
            "no target of this node is scraped"
        }
    # One that has forgotten what nothing asked for in time has nothing either.
    door = LogDoor(WrittenLog(database.dsn("writer")))
    async with measuring(database, door, store, remembers="2h") as (
        reading,
        one,
    ):
        assert await one.keep(reading, now=at(BACK + 4 * 3600)) == 1
    (event,) = door.events
    assert event["data"]["trouble"] == "not kept while the store remembered it"


async def test_what_was_kept_and_what_was_lost_are_exported(
    database: Database, log: WrittenLog, store_url: str, tmp_path: Path
) -> None:
    """As lines of JSON, and in a tape that answers as the log does."""
    door, whole, now = LogDoor(log), Window(), at(9000)
    gone = Asked("1/9", "n2", at(-600), at(600))
    lost = Kept(
        incident=gone.incident,
        node=gone.node,
        begin=gone.begin,
        end=gone.end,
        trouble="away",
    )
    tape = tmp_path / "a.tape.jsonl.zst"
    about = MetricsQuestion(nodes=["n1", "n2"], metrics=["*"])
    async with measured(database, door, store_url, "hot") as (reading, one):
        await one.keep(reading, now=at(BACK + 3600))
        await door.put(event_of(gone, lost, ()))
        await door.commit()
        grown = await reading.again()
        await cut_tape(
            grown, Cut(path=tape, window=whole), asyncio.Event(), now=now
        )
    await play_tape(
        Playing(path=tape, cluster="played"),
        Settings(data_dir=tmp_path),
        database.dsn("writer"),
        asyncio.Event(),
    )
    async with served_by(database.dsn("reader")) as client:
        reply = await client.request(
            "GET", "export.ndjson?log=1&source=cloudevents&raw=true"
        )
    exported = [json.loads(line) for line in reply.body.splitlines()]
    documents = [json.loads(json.dumps(one["data"])) for one in door.events]
    assert [
        one["raw"]["data"]
        for one in exported
        if one.get("operation") == "cloudevent"
    ] == documents

    answers = []
    async with open_logs(
        Settings(database_url=database.dsn("reader"))
    ) as logs:
        for number in (1, 2):
            reading = await logs.read(number)
            kept = await ask_metrics(reading, about, shipped(), now=now)
            gaps = await ask_gaps(reading, whole, now=now)
            answers.append(
                (
                    [structs.replace(one, entry=None) for one in kept.kept],
                    [
                        (gap.reason, gap.since, gap.until, gap.possible)
                        for gap in gaps.gaps
                        if gap.resource == METRICS
                    ],
                )
            )
    of_log, of_tape = answers
    assert of_tape == of_log
    assert len(of_log[0]) == 3
    assert [reason for reason, *_ in of_log[1]] == ["away"]


async def test_a_postmortem_of_a_node_and_of_its_job_draws_what_was_kept(
    database: Database, log: WrittenLog, store_url: str
) -> None:
    door = LogDoor(log)
    async with measured(database, door, store_url, "hot") as (reading, one):
        await one.keep(reading, now=at(BACK + 3600))
        await door.commit()
        grown = await reading.again()
        reports = [
            await ask_postmortem(grown, question, shipped(), now=at(9000))
            for question in (
                PostmortemQuestion(node="n1", window=Window()),
                PostmortemQuestion(
                    workload=Reference.parse("job/train/llm"), window=Window()
                ),
            )
        ]
        asked = MetricsQuestion(nodes=["n1"])
        metrics = await ask_metrics(grown, asked, shipped(), now=at(9000))

    for report in reports:
        text, page = markdown(report), html(report)
        for says in (
            "n1: GPU 3 up to 97 °C, the others up to 67 °C",
            "n2 (healthy peer of n1): GPU 7 up to 67 °C, the others up to",
        ):
            assert says in page
            assert says in text.replace("\\", "")
        assert "by DCGM\\_FI\\_DEV\\_GPU\\_TEMP: `▁▁▁" in text
        assert page.count('<path class="line') == 16
        assert page.count('<path class="line first') == 2
        assert 'class="mark"' in page
        # The fact of the claim is a line without its samples.
        assert "metrics of n1, 2026-11-21 02:38:20+00:00 to" in page
    kept, peer = metrics.kept
    assert {s.thing for s in kept.series} >= {f"GPU {n}" for n in range(8)}
    assert all(s.values for s in kept.series)
    (chart,) = kept.charts
    # Hatched from the loss to the end of the window.
    strokes = [float(one.split()[0]) for one in chart.missing.split("M")[1:]]
    window = (kept.until - kept.since).total_seconds()
    lost = (at(LOST - STEP) - kept.since).total_seconds() / window * 960
    assert min(strokes) == pytest.approx(lost, abs=1)
    assert max(strokes) >= 960 - 16
    assert peer.peer_of == "n1"


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("log")
async def test_what_a_killed_process_keeps_is_in_the_log_once(
    database: Database, tmp_path: Path, store_url: str
) -> None:
    """Killed at an await, or at a step on disk or to the door."""
    story = structs.replace(of("hot", store_url), requests_a_minute=10**9)

    async def keep(door: SpooledDoor) -> None:
        async with (
            reading_of(database) as reading,
            prometheus(story) as store,
        ):
            work = Measuring(story, store, door, shipped())
            await work.keep(reading, now=at(BACK + 3600))

    lives = Lives(tmp_path, keep)
    async with lives.way.listening():
        async with lives.way.recording():
            assert await lives.one() == 0
        wanted = [claim.raw for claim in lives.way.claims()]
        nodes = [json.loads(raw)["data"]["node"] for raw in wanted]
        assert nodes == ["n2", "n1"]
        kills = [*lives.kills()]
        of_steps = [one for one in kills if "," in one.place]
        assert len(of_steps) >= 2 * len(STEPS)
        for kill in [
            *sampled("kills of measuring, in steps", of_steps, 2),
            *sampled("kills of measuring", kills, 2),
        ]:
            lives.way.log = MemoryLog()
            async with lives.way.recording():
                assert await lives.one(kill) == -signal.SIGKILL, kill
                # The door may say that its log is too slow.
                async with asyncio.timeout(30):
                    while await lives.one() or lives.spool.count():
                        pass
            found = [claim.raw for claim in lives.way.claims()]
            assert sorted(found) == sorted(wanted), kill


async def test_a_store_is_not_asked_faster_than_it_allows(
    store_url: str,
) -> None:
    async with prometheus(of("", store_url)) as store:
        began = asyncio.get_running_loop().time()
        for _ in range(30):
            await store.samples("up", end=at(), span=timedelta(minutes=1))
        took = asyncio.get_running_loop().time() - began
    assert took >= 29 / 100
