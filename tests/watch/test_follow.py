"""The plain case: a list, then every change, then again from where it was.

Failures of any kind are in the files beside this one.
"""

from pathlib import Path

import orjson

from recorder.model.observation import ListPage, StreamResumed, WatchFrame
from tests.support.fake_cluster import FakeCluster
from tests.watch.watching import NODES, PODS, Memory, recording


async def test_a_list_comes_first_and_then_every_change(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("pods"))
            fake.put("pods", "a", spec={"nodeName": "n"})
            fake.put("pods", "b")
            fake.delete("pods", "a")
            await memory.until(lambda: len(memory.frames(PODS)) == 3)

    (page,) = memory.of(ListPage, PODS)
    assert (page.kind, page.more, page.resource_version) == (
        "Pod",
        False,
        "101",
    )
    assert [orjson.loads(item)["metadata"]["name"] for item in page.items] == [
        "a"
    ]
    assert memory.frames(PODS) == [
        ("MODIFIED", "a", "102"),
        ("ADDED", "b", "103"),
        ("DELETED", "a", "104"),
    ]


async def test_objects_are_kept_byte_for_byte(tmp_path: Path) -> None:
    memory = Memory()
    odd = (
        b'{"kind" : "Pod", "metadata":{"name":"p","uid":"u",'
        b'"resourceVersion":"200"}, "x":1e2}'
    )
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.send("pods", b'{"type":"ADDED","object":' + odd + b"}\n")
        await memory.until(lambda: memory.of(WatchFrame, PODS))

    assert memory.of(WatchFrame, PODS)[0].object == odd


async def test_a_known_version_is_resumed_without_a_list(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        memory = Memory({PODS: str(fake.revision)})
        fake.put("pods", "b")
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.frames(PODS))
            await memory.until(lambda: memory.of(ListPage, NODES))

    assert not memory.of(ListPage, PODS)
    assert memory.frames(PODS) == [("ADDED", "b", "102")]
    assert memory.of(StreamResumed, PODS)


async def test_a_quiet_resource_is_resumed_by_its_clean_end(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as fake:
        memory = Memory({PODS: str(fake.revision)})
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.of(StreamResumed, PODS))

    assert not memory.frames(PODS)
