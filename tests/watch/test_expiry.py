"""A version that the server no longer holds leads to a list."""

from pathlib import Path

import pytest

from recorder.model.observation import ListPage, StreamClosed, StreamResumed
from tests.support.fake_api import Expiry
from tests.support.fake_cluster import FakeCluster
from tests.watch.watching import PODS, Memory, recording


@pytest.mark.parametrize("expiry", ["frame", "status"])
async def test_an_expired_version_is_reported_and_listed_again(
    tmp_path: Path, expiry: Expiry
) -> None:
    async with FakeCluster() as fake:
        fake.expiry = expiry
        fake.put("pods", "a")
        memory = Memory({PODS: str(fake.revision)})
        fake.put("pods", "b")
        fake.compact()
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.of(ListPage, PODS))
            await memory.until(lambda: fake.watching("pods"))
            fake.put("pods", "c")
            await memory.until(lambda: memory.frames(PODS))

    reports = [
        o
        for o in memory.seen
        if isinstance(o, StreamClosed | ListPage | StreamResumed)
        and o.resource == PODS
    ]
    assert [type(o) for o in reports] == [
        StreamClosed,
        ListPage,
        StreamResumed,
    ]
    assert memory.of(StreamClosed, PODS)[0].reason == "410"
    assert len(memory.of(ListPage, PODS)[0].items) == 2
    assert memory.frames(PODS) == [("ADDED", "c", "103")]


async def test_expiry_after_frames_keeps_the_frames(tmp_path: Path) -> None:
    memory = Memory()
    gone = b'{"type":"ERROR","object":{"kind":"Status","code":410}}\n'
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.flowing.clear()
        fake.put("pods", "a")
        fake.send("pods", gone)
        fake.flowing.set()
        await memory.until(lambda: len(memory.of(ListPage, PODS)) == 2)

    assert memory.frames(PODS) == [("ADDED", "a", "101")]
    assert memory.of(StreamClosed, PODS)[0].reason == "410"
