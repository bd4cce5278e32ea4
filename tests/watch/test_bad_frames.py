"""Frames that cannot be taken are described; the stream continues."""

import dataclasses
import hashlib
from pathlib import Path

import pytest

from recorder.model.observation import (
    InputRefused,
    ListPage,
    StreamClosed,
    WatchFrame,
)
from tests.support.fake_cluster import FakeCluster
from tests.watch.watching import FAST, PODS, Memory, recording

BAD = {
    "garbage": b"\x00\x01\x02 not json",
    "invalid UTF-8": b'{"type":"ADDED","object":{"metadata":{"a":"\xff"}}}',
    "unknown type": b'{"type":"MELTED","object":{}}',
    "other error": b'{"type":"ERROR","object":{"code":500,"message":"no"}}',
    "giant": b'{"type":"ADDED","object":"' + b"x" * 3000 + b'"}',
}

SPOILED = b"as it is", b"as \xff is"
"""What of a frame is replaced on its way."""


@pytest.mark.parametrize("what", BAD)
async def test_a_bad_frame_is_described_and_the_stream_goes_on(
    tmp_path: Path, what: str
) -> None:
    settings = dataclasses.replace(FAST, frame_bytes_max=2000)
    line, memory = BAD[what], Memory()
    async with (
        FakeCluster() as fake,
        recording(fake, tmp_path, memory, settings=settings),
    ):
        await memory.until(lambda: fake.watching("pods"))
        fake.send("pods", line + b"\n")
        fake.put("pods", "a")
        await memory.until(lambda: memory.frames(PODS))

    (refused,) = memory.of(InputRefused)
    assert refused.resource == PODS
    assert refused.length == len(line)
    assert refused.sha256 == hashlib.sha256(line).hexdigest()
    assert line.startswith(refused.head)
    assert memory.frames(PODS) == [("ADDED", "a", "101")]
    assert not memory.of(StreamClosed, PODS)


async def test_a_frame_that_was_spoiled_is_read_at_its_version(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.put("pods", "a")
        await memory.until(lambda: memory.frames(PODS))
        fake.spoils = SPOILED
        fake.put("pods", "a", data="as it is")
        fake.put("pods", "b")
        await memory.until(lambda: len(memory.frames(PODS)) == 2)

    reports = [
        (type(one), getattr(one, "recovered", None))
        for one in memory.seen
        if isinstance(one, InputRefused | WatchFrame)
    ]
    assert reports == [
        (WatchFrame, False),
        (InputRefused, None),
        (WatchFrame, True),
        (WatchFrame, False),
    ]
    assert memory.frames(PODS, recovered=True) == [("MODIFIED", "a", "102")]
    (refused,) = memory.of(InputRefused)
    assert refused.resource is None, "nothing is missing"
    assert refused.reason.endswith("v1/pods was read again at version 102")
    assert b"as \xff is" in refused.head


async def test_a_spoiled_frame_that_is_not_repeated_stays_a_gap(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.lists_exact_versions, fake.spoils = False, SPOILED
        fake.put("pods", "a", data="as it is")
        fake.put("pods", "b")
        await memory.until(lambda: memory.frames(PODS))

    (refused,) = memory.of(InputRefused)
    assert refused.resource == PODS
    assert memory.frames(PODS, recovered=True) == []


async def test_a_giant_object_in_a_list_is_stepped_over(
    tmp_path: Path,
) -> None:
    settings = dataclasses.replace(FAST, page_bytes_max=2000, page_limit=64)
    memory = Memory()
    async with FakeCluster() as fake:
        for name in "abcde":
            fake.put("pods", name)
        fake.put("pods", "c", data="x" * 5000)
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: fake.watching("pods"))

    pages = memory.of(ListPage, PODS)
    assert sum(len(page.items) for page in pages) == 4
    assert {page.resource_version for page in pages} == {"106"}
    assert [page.more for page in pages][-1] is False
    (refused,) = memory.of(InputRefused)
    assert refused.length > 5000
