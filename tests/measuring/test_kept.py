"""What Prometheus knows of an incident is kept once, and is no fault alone.

GPU 3 of n1 gets hot, its peers stay cool, and the machine reboots. Samples are
those of a real Prometheus; the log is in a real database.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import aiohttp
import msgspec
import pytest

from recorder.answers.html import html
from recorder.answers.markdown import markdown
from recorder.answers.metrics import ask_metrics
from recorder.answers.node_questions import (
    MetricsQuestion,
    PostmortemQuestion,
    WhyQuestion,
)
from recorder.answers.postmortem import ask_postmortem
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.explain.verdict import Verdict
from recorder.facts.metrics import METRICS
from recorder.keeping.sending import receiver_at
from recorder.keeping.spool import Spool
from recorder.measuring.asking import Asked, taken
from recorder.measuring.following import Measuring
from recorder.measuring.ports import Sampled, StoreError
from recorder.measuring.prometheus import Prometheus, prometheus
from recorder.measuring.store_file import MetricsStore, Selector
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.wiring.measuring import SpooledDoor
from recorder.wiring.reading import open_logs
from tests.claims.test_door import Doorway
from tests.measuring.stores import STEP, Line, prometheus_with
from tests.measuring.story import BACK, LogDoor, every, gpus, written
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
async def measuring(
    database: Database, door: Any, store: Any, **changes: Any
) -> AsyncIterator[tuple[Any, Measuring]]:
    settings = Settings(database_url=database.dsn("reader"))
    async with open_logs(settings) as logs:
        (one,) = await logs.meant(None)
        description = msgspec.structs.replace(SHARED, **changes)
        yield (
            await logs.read(one.id),
            Measuring(description, store, door, shipped()),
        )


@asynccontextmanager
async def asking(base: str) -> AsyncIterator[Prometheus]:
    async with prometheus(msgspec.structs.replace(SHARED, url=base)) as store:
        yield store


async def why(reading: Any, node: str = "n1") -> Verdict:
    answer = await ask_why(
        await reading.again(),
        WhyQuestion(node=node, window=Window(None, None)),
        shipped(),
        now=at(9000),
    )
    (verdict,) = answer.verdicts
    return verdict


async def test_a_hot_gpu_supports_the_fault_that_a_controller_reports(
    database: Database, log: WrittenLog, tmp_path: Path
) -> None:
    door = LogDoor(log)
    async with (
        prometheus_with(tmp_path, gpus("n1", hot=3)) as base,
        asking(base) as store,
        measuring(database, door, store) as (reading, one),
    ):
        before = await why(reading)
        assert await one.keep(reading, now=at(BACK + 3600)) == 1
        await door.commit()
        after = await why(reading)
        again = await reading.again()
        assert await one.keep(again, now=at(BACK + 3600)) == 0
        _, anew = reading, Measuring(SHARED, store, door, shipped())
        assert await anew.keep(again, now=at(BACK + 3600)) == 0

    (event,) = door.events
    assert event["type"] == METRICS
    assert before.cause == after.cause == "thermal-fault"
    assert before.confidence == after.confidence
    (fault,) = [step for step in after.steps if step.role == "fault"]
    assert "GPU 3 at 97 °C from 03:08, its peers at 67 °C" in fault.says
    assert any(one.source == "cloudevents" for one in after.evidence)
    assert str(after.evidence[-1].entry) in [str(e) for e in fault.entries]


async def test_a_flat_line_speaks_against_it(
    database: Database, log: WrittenLog, tmp_path: Path
) -> None:
    door = LogDoor(log)
    async with (
        prometheus_with(tmp_path, gpus("n1")) as base,
        asking(base) as store,
        measuring(database, door, store) as (reading, one),
    ):
        await one.keep(reading, now=at(BACK + 3600))
        await door.commit()
        found = await why(reading)

    (against,) = found.contradictions
    assert against.says == ("no GPU was above 67 °C by DCGM_FI_DEV_GPU_TEMP")
    assert found.confidence == "possible"


async def test_a_series_that_ended_has_no_later_values(
    tmp_path: Path,
) -> None:
    """As a range query would make them up: five minutes of them."""
    ended = 300
    asked = Asked("1/1", "n1", at(-600), at(600))
    lines = gpus("n1", until=ended)
    async with (
        prometheus_with(tmp_path, lines) as base,
        asking(base) as store,
        aiohttp.ClientSession() as session,
    ):
        found = await taken(asked, SHARED, store, shipped(), patient=False)
        query = {
            "query": 'DCGM_FI_DEV_GPU_TEMP{gpu="3"}',
            "start": str(asked.begin.timestamp()),
            "end": str(asked.end.timestamp()),
            "step": str(STEP),
        }
        async with session.get(
            f"{base}/api/v1/query_range", params=query
        ) as answer:
            ranged = (await answer.json())["data"]["result"][0]["values"]
    assert found is not None
    _, series = found
    last = max(s for one in series for s, _ in one.samples())
    assert last == START.timestamp() + ended - STEP
    assert ranged[-1][0] >= START.timestamp() + ended + 240


async def test_why_nothing_is_there_is_named(tmp_path: Path) -> None:
    lines: list[Line] = [
        ("up", {"node": "down", "job": "dcgm"}, every(-600, 600, 0)),
        ("up", {"node": "quiet", "job": "dcgm"}, every(-600, 600, 1)),
        ("node_load1", {"node": "other"}, every(-600, 600, 1)),
    ]
    reasons = {}
    async with prometheus_with(tmp_path, lines) as base, asking(base) as store:
        for node in ("down", "quiet", "unknown"):
            asked = Asked("1/1", node, at(-600), at(600))
            found = await taken(asked, SHARED, store, shipped(), patient=False)
            assert found is not None
            reasons[node] = {
                name: found[0].lacking.get(name)
                for name in ("node_load1", "DCGM_FI_DEV_GPU_TEMP")
            }
        patient = await taken(
            Asked("1/1", "unknown", at(-600), at(600)),
            SHARED, store, shipped(), patient=True,
        )  # fmt: skip
    assert patient is None
    assert reasons["down"] == dict.fromkeys(
        reasons["down"], "the target did not answer"
    )
    assert reasons["quiet"] == {
        "node_load1": "the store has nothing of it then",
        "DCGM_FI_DEV_GPU_TEMP": "the store has no such series",
    }
    assert reasons["unknown"] == dict.fromkeys(
        reasons["unknown"], "no target of this node is scraped"
    )


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
    (event,) = door.events
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


async def test_a_postmortem_draws_what_was_kept(
    database: Database, log: WrittenLog, tmp_path: Path
) -> None:
    door = LogDoor(log)
    async with (
        prometheus_with(tmp_path, gpus("n1", hot=3)) as base,
        asking(base) as store,
        measuring(database, door, store) as (reading, one),
    ):
        await one.keep(reading, now=at(BACK + 3600))
        await door.commit()
        grown = await reading.again()
        found = await ask_postmortem(
            grown,
            PostmortemQuestion(node="n1", window=Window()),
            shipped(),
            now=at(9000),
        )
        asked = MetricsQuestion(nodes=["n1"])
        metrics = await ask_metrics(grown, asked, shipped(), now=at(9000))

    text, page = markdown(found), html(found)
    assert (
        "n1: GPU 3 up to 97 °C, the others up to 67 °C, by"
        " DCGM\\_FI\\_DEV\\_GPU\\_TEMP: `▁▁▁"
    ) in text
    assert page.count("<path") == 8
    assert "GPU 3 up to 97 °C" in page
    (kept,) = metrics.kept
    assert {s.thing for s in kept.series} >= {f"GPU {n}" for n in range(8)}
    assert all(s.values for s in kept.series)


@pytest.mark.usefixtures("log")
async def test_what_a_killed_process_posted_is_in_the_log_once(
    database: Database, tmp_path: Path
) -> None:
    """Killed before it posts, and after it has written to the spool."""
    one = Doorway(tmp_path)
    secret = one.tokens.add("measure", claims=("recorder/metrics", METRICS))
    (tmp_path / "token").write_text(secret)
    (tmp_path / "token").chmod(0o600)
    spool = Spool(tmp_path / "spool")
    away = receiver_at("http://127.0.0.1:9", tmp_path / "token", None)
    now = at(BACK + 3600)
    async with (
        prometheus_with(tmp_path, gpus("n1", hot=3)) as base,
        asking(base) as store,
        one.listening(),
        one.recording(),
    ):
        for door in (
            SpooledDoor(spool, away),
            SpooledDoor(spool, away),
            SpooledDoor(
                spool, receiver_at(one.address, tmp_path / "token", None)
            ),
        ):
            async with measuring(database, door, store) as (reading, work):
                assert await work.keep(reading, now=now) == 1
        # The door may say that its log is too slow: what waits is sent again.
        async with asyncio.timeout(30):
            while spool.count():
                await door.flush()
    (claim,) = one.claims()
    assert claim.identity is not None
    assert claim.identity.name == "node/n1"


async def test_a_store_is_not_asked_faster_than_it_allows(
    tmp_path: Path,
) -> None:
    limited = msgspec.structs.replace(SHARED, requests_a_minute=6_000)
    async with prometheus_with(tmp_path, gpus("n1")) as base:
        described = msgspec.structs.replace(limited, url=base)
        async with prometheus(described) as store:
            began = asyncio.get_running_loop().time()
            for _ in range(30):
                await store.samples("up", end=at(), span=timedelta(minutes=1))
            took = asyncio.get_running_loop().time() - began
    assert took >= 29 / 100
