"""The ends of streams: which are clean, which are losses, what comes next."""

import dataclasses
from functools import partial
from pathlib import Path

from recorder.model.observation import (
    InputRefused,
    ListPage,
    StreamClosed,
    StreamResumed,
    WatchFrame,
)
from tests.support.fake_cluster import FakeCluster
from tests.watch.watching import FAST, PODS, Memory, recording


async def test_an_end_at_its_time_is_clean(tmp_path: Path) -> None:
    settings = dataclasses.replace(FAST, watch_unmarked=1)
    memory = Memory()
    async with (
        FakeCluster() as fake,
        recording(fake, tmp_path, memory, settings=settings),
    ):
        await memory.until(lambda: memory.of(StreamClosed, PODS))
        fake.put("pods", "a")
        await memory.until(lambda: memory.frames(PODS))

    assert memory.of(StreamClosed, PODS)[0].reason == "timeout"
    assert len(memory.of(StreamResumed, PODS)) == 2
    assert len(memory.of(ListPage, PODS)) == 1


async def test_an_early_end_proves_nothing(tmp_path: Path) -> None:
    """A server ends the stream of a slow client just so."""
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.end("pods")
        await memory.until(lambda: memory.of(StreamClosed, PODS))
        await memory.until(lambda: fake.watching("pods"))
        fake.put("pods", "a")
        await memory.until(lambda: memory.frames(PODS))

    assert memory.of(StreamClosed, PODS)[0].reason == "ended early"
    assert len(memory.of(ListPage, PODS)) == 1


async def test_streams_that_end_at_once_are_not_asked_in_a_loop(
    tmp_path: Path,
) -> None:
    settings = dataclasses.replace(FAST, watch_again=0.2, backoff_first=0.2)
    memory = Memory()
    async with FakeCluster() as fake:
        fake.seconds = 0.0
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: len(memory.of(StreamClosed, PODS)) > 2)
        asked = [q for p, q in fake.requests if p == "/api/v1/pods"]
    assert len([q for q in asked if "watch" in q]) <= 4


async def test_a_truncated_frame_is_never_read(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.send("pods", b'{"type":"ADDED","object":{}}')  # no line feed
        fake.end("pods")
        await memory.until(lambda: memory.of(StreamClosed, PODS))

    assert "cut short" in memory.of(StreamClosed, PODS)[0].reason
    assert not memory.frames(PODS)
    assert not memory.of(InputRefused)


def _closed_more(memory: Memory, than: int) -> bool:
    return len(memory.of(StreamClosed, PODS)) > than


async def test_a_cut_at_any_byte_loses_nothing(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        memory = Memory({PODS: str(fake.revision)})
        for n in range(5):
            fake.put("pods", f"p{n}")
        length = sum(len(data) for _, _, data in fake.frames)
        async with recording(fake, tmp_path, memory):
            for at in range(1, length + 1, 97):
                # Only a watch that is open can be cut, and the next may have
                # less to send than it is cut after.
                await memory.until(lambda: fake.watching("pods"))
                fake.cut_after["pods"] = at
                before = len(memory.of(StreamClosed, PODS))
                fake.cut("pods")
                await memory.until(partial(_closed_more, memory, before))
            await memory.until(
                lambda: (
                    {n for _, n, _ in memory.frames(PODS)}
                    == {f"p{n}" for n in range(5)}
                )
            )

    assert not memory.of(ListPage, PODS)


async def test_a_silent_stream_is_given_up(tmp_path: Path) -> None:
    """Half open: the connection exists and nothing comes any more."""
    settings = dataclasses.replace(FAST, idle=0.3)
    memory = Memory()
    async with (
        FakeCluster() as fake,
        recording(fake, tmp_path, memory, settings=settings),
    ):
        await memory.until(lambda: fake.watching("pods"))
        fake.bookmark("pods")
        await memory.until(lambda: memory.of(WatchFrame, PODS))
        fake.end("pods")
        await memory.until(lambda: fake.watching("pods"))
        fake.flowing.clear()
        fake.put("pods", "a")
        await memory.until(lambda: len(memory.of(StreamClosed, PODS)) == 2)
        fake.flowing.set()
        await memory.until(lambda: memory.frames(PODS))

    assert "no response in time" in memory.of(StreamClosed, PODS)[1].reason
    assert memory.frames(PODS)[0] == ("ADDED", "a", "101")


async def test_a_dead_server_is_waited_for(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.bookmark("pods")
        await memory.until(lambda: memory.of(WatchFrame, PODS))
        await fake.down()
        await memory.until(lambda: memory.of(StreamClosed, PODS))
        fake.put("pods", "a")
        await fake.up()
        await memory.until(lambda: memory.frames(PODS))

    assert memory.frames(PODS) == [("ADDED", "a", "101")]
    assert len(memory.of(ListPage, PODS)) == 1
