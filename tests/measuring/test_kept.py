"""What Prometheus knows of an incident is kept once, and is no fault alone.

GPU 3 of n1 gets hot, its peers stay cool, and the machine reboots. Samples are
those of a real Prometheus; the log is in a real database.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlencode

import msgspec
import pytest

from recorder.answers.html import html
from recorder.answers.markdown import markdown
from recorder.answers.metrics import ask_metrics
from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    MetricsQuestion,
    PostmortemQuestion,
    WhyQuestion,
)
from recorder.answers.postmortem import ask_postmortem
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.explain.verdict import Verdict
from recorder.facts.metrics import METRICS, Series
from recorder.keeping.sending import receiver_at
from recorder.keeping.spool import Spool
from recorder.measuring.asking import Asked, taken
from recorder.measuring.following import Measuring
from recorder.measuring.ports import Sampled, StoreError
from recorder.measuring.prometheus import prometheus
from recorder.measuring.store_file import MetricsStore, Selector
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.wiring.measuring import SpooledDoor
from recorder.wiring.reading import open_logs
from tests.claims.test_door import Doorway
from tests.measuring.stores import STEP, Line, answers, prometheus_with
from tests.measuring.story import BACK, LOST, LogDoor, every, gpus, written
from tests.support.builders import START, at
from tests.support.postgres import Database
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
    return msgspec.structs.replace(
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
    """A store that does not answer."""

    def __init__(self) -> None:
        self.asked = 0

    async def samples(self, *_: object, **__: object) -> NoReturn:
        self.asked += 1
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
    description = msgspec.structs.replace(SHARED, **changes)
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


async def test_a_store_that_is_away_is_asked_while_it_remembers(
    database: Database, log: WrittenLog
) -> None:
    door, store = LogDoor(log), Away()
    async with measuring(database, door, store, remembers="2h") as (
        reading,
        one,
    ):
        for minutes in (15, 30, 60):
            now = at(BACK + 60 * minutes)
            assert await one.keep(reading, now=now) == 0
        assert (one.waiting, door.events) == (1, [])
        assert one.trouble == "no answer within 30s"
        asked = store.asked
        assert await one.keep(reading, now=at(BACK + 3 * 3600)) == 1
        assert await one.keep(reading, now=at(BACK + 4 * 3600)) == 0
    (event,) = door.events
    assert store.asked == asked + 1
    assert event["data"]["trouble"] == (
        "not kept while the store remembered it: no answer within 30s"
    )


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


async def test_nothing_is_asked_before_its_window_is_over(
    database: Database, log: WrittenLog
) -> None:
    door, store = LogDoor(log), Away()
    async with measuring(database, door, store) as (reading, one):
        assert await one.keep(reading, now=at(BACK + 11 * 60)) == 0
        assert (store.asked, one.waiting) == (0, 0)


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


@pytest.mark.usefixtures("log")
async def test_what_a_killed_process_posted_is_in_the_log_once(
    database: Database, tmp_path: Path, store_url: str
) -> None:
    """Killed before it posts, and after it has written to the spool."""
    one = Doorway(tmp_path)
    secret = one.tokens.add("measure", claims=("recorder/metrics", METRICS))
    (tmp_path / "token").write_text(secret)
    (tmp_path / "token").chmod(0o600)
    spool = Spool(tmp_path / "spool")
    away = receiver_at("http://127.0.0.1:9", tmp_path / "token", None)
    now = at(BACK + 3600)
    async with one.listening(), one.recording():
        for door in (
            SpooledDoor(spool, away),
            SpooledDoor(spool, away),
            SpooledDoor(
                spool, receiver_at(one.address, tmp_path / "token", None)
            ),
        ):
            async with measured(database, door, store_url, "hot") as (
                reading,
                work,
            ):
                assert await work.keep(reading, now=now) == 1
        # The door may say that its log is too slow: what waits is sent again.
        async with asyncio.timeout(30):
            while spool.count():
                await door.flush()
    named = [claim.identity and claim.identity.name for claim in one.claims()]
    assert sorted(map(str, named)) == ["node/n1", "node/n2"]


async def test_a_store_is_not_asked_faster_than_it_allows(
    store_url: str,
) -> None:
    async with prometheus(of("", store_url)) as store:
        began = asyncio.get_running_loop().time()
        for _ in range(30):
            await store.samples("up", end=at(), span=timedelta(minutes=1))
        took = asyncio.get_running_loop().time() - began
    assert took >= 29 / 100
