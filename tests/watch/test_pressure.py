"""A full sink, a stop, and a clock that is set."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recorder.model.observation import ClockJumped, ListPage, WatchFrame
from recorder.sources.watch import Clock
from tests.support.fake_cluster import FakeCluster
from tests.watch.watching import FAST, PODS, Memory, recording


async def test_a_full_sink_stops_the_reading_and_drops_nothing(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        memory.room.clear()
        for n in range(300):
            fake.put("pods", f"p{n}", data="x" * 100_000)
        await memory.until(lambda: memory.is_waited_for)
        await asyncio.sleep(0.2)  # further reading would show
        (stream,) = [s for s in fake.streams if s.kind.plural == "pods"]
        assert stream.queue.qsize() > 50, "the server could write it all"
        assert not memory.of(WatchFrame, PODS)

        memory.room.set()
        await memory.until(lambda: len(memory.frames(PODS)) == 300)

    versions = [int(version) for _, _, version in memory.frames(PODS)]
    assert versions == sorted(set(versions))


async def test_a_stop_ends_everything_at_once(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        before = asyncio.all_tasks()
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("pods"))
            memory.room.clear()
            fake.put("pods", "a")
            await memory.until(lambda: memory.is_waited_for)
            began = asyncio.get_running_loop().time()
        took = asyncio.get_running_loop().time() - began
        await memory.until(lambda: not fake.streams)
        left = {t for t in asyncio.all_tasks() - before if "follow" in str(t)}
    assert not left
    assert took < FAST.watch_shortest / 2, "it waited for a watch to end"


async def test_a_stop_before_anything_answers(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        fake.kubeconfig(tmp_path)
        await fake.down()
        async with recording(fake, tmp_path, memory):
            await asyncio.sleep(0.1)

    assert not memory.of(ListPage)


async def test_a_clock_that_is_set_is_reported(tmp_path: Path) -> None:
    shift = timedelta(0)
    clock = Clock(now=lambda: datetime.now(UTC) + shift)
    memory = Memory()
    async with (
        FakeCluster() as fake,
        recording(fake, tmp_path, memory, clock=clock),
    ):
        await memory.until(lambda: fake.watching("pods"))
        shift = timedelta(days=1)
        await memory.until(lambda: memory.of(ClockJumped))
        shift = timedelta(0)
        await memory.until(lambda: memory.of(ClockJumped)[1:])

    forward, back = memory.of(ClockJumped)
    assert round(forward.seconds) == 86400
    assert round(back.seconds) == -86400


async def test_a_page_that_waited_is_timed_by_the_clock_as_it_is(
    tmp_path: Path,
) -> None:
    """It came, the clock was set back, and its history was confirmed late."""
    memory, whole = Memory(), str(FAST.page_limit)
    async with FakeCluster() as fake:

        def is_confirming() -> bool:
            asked = [
                query.get("limit", "")
                for path, query in fake.requests
                if path.endswith("/pods") and "watch" not in query
            ]
            return asked.count(whole) == 2 and asked[-1] != whole

        day, late = timedelta(days=1), timedelta(minutes=1)
        clock = Clock(
            now=lambda: datetime.now(UTC) + (late - day) * is_confirming(),
            monotonic=lambda: (
                time.monotonic() + late.total_seconds() * is_confirming()
            ),
        )
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory, clock=clock):
            await memory.until(lambda: fake.watching("pods"))
            began = datetime.now(UTC)
            fake.put("pods", "b")
            fake.cut("pods")
            fake.compact()
            await memory.until(lambda: memory.of(ListPage, PODS)[1:])
        ended = datetime.now(UTC)

    assert is_confirming()
    page = memory.of(ListPage, PODS)[-1]
    assert began <= page.observed_at + day <= ended
