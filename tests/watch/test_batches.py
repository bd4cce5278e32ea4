"""Many deletes under one revision, and bookmarks: nothing is skipped.

The rule by itself is in `test_place`.
"""

from pathlib import Path

from recorder.model.observation import StreamClosed, WatchFrame
from tests.support.fake_cluster import FakeCluster
from tests.watch.watching import EVENTS, PODS, Memory, recording

NAMES = [f"e{n:02}" for n in range(40)]


async def test_a_batch_cut_in_the_middle_is_seen_whole(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        for name in NAMES:
            fake.put("events", name)
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("events"))
            fake.flowing.clear()
            fake.delete("events", *NAMES)
            # Five frames and a half come through before the cut.
            size = len(fake.frames[-1][2])
            fake.cut("events")
            fake.cut_after["events"] = size * 5 + size // 2
            fake.flowing.set()
            await memory.until(lambda: memory.of(StreamClosed, EVENTS)[1:])
            await memory.until(
                lambda: {n for _, n, _ in memory.frames(EVENTS)} == set(NAMES)
            )

    versions = {version for _, _, version in memory.frames(EVENTS)}
    assert versions == {str(fake.revision)}


async def test_a_bookmark_moves_the_place(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.put("nodes", "n")  # another resource moves the revision
        fake.bookmark("pods")
        await memory.until(lambda: memory.of(WatchFrame, PODS))
        fake.compact()
        fake.cut("pods")
        await memory.until(lambda: fake.watching("pods"))

        asked = [q for p, q in fake.requests if p == "/api/v1/pods"]
        resumed = [q for q in asked if "watch" in q][-1]
        assert resumed["resourceVersion"] == str(fake.revision)
    assert memory.of(WatchFrame, PODS)[0].type == "BOOKMARK"
