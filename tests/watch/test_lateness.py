"""Which frames say when nothing was missing, and which come too late for it.

What intake makes of that is in `tests/intake/test_settling.py`.
"""

from pathlib import Path

from recorder.model.observation import StreamClosed, WatchFrame
from recorder.sources.watch.frames import Frame, Refused
from recorder.sources.watch.lateness import Pace, behind
from tests.support.fake_cluster import FakeCluster
from tests.watch.watching import PODS, Memory, recording

REFUSED = Refused("unreadable", b"", "", 0)


def frame(version: int) -> Frame:
    return Frame("ADDED", b"{}", str(version), "u")


def late(memory: Memory) -> list[bool]:
    return [f.late for f in memory.of(WatchFrame, PODS)]


def names(memory: Memory) -> list[str]:
    return [name for _, name, _ in memory.frames(PODS)]


async def test_what_was_made_while_we_were_away_is_late(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.put("pods", "a")
        await memory.until(lambda: memory.frames(PODS))
        await fake.down()
        await memory.until(lambda: memory.of(StreamClosed, PODS))
        fake.put("pods", "b")
        fake.put("pods", "c")
        await fake.up()
        await memory.until(lambda: "c" in names(memory))
        fake.put("pods", "d")
        await memory.until(lambda: "d" in names(memory))

    reports = set(zip(names(memory), late(memory), strict=True))
    # Behind the newest that there was came nothing. The first one comes
    # again, from the version that was complete.
    assert reports == {
        ("a", False), ("a", True), ("b", True), ("c", False), ("d", False),
    }  # fmt: skip


async def test_a_frame_that_trickles_in_is_late(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.portion, fake.pause = 50, 0.2
        fake.put("pods", "a")
        await memory.until(lambda: memory.frames(PODS))

    assert late(memory) == [True]


def test_frames_are_late_up_to_the_version_that_there_was() -> None:
    first, ahead = behind([frame(10), REFUSED], "12")
    assert [f.late for f in first if isinstance(f, Frame)] == [True]
    assert ahead == "12"

    second, ahead = behind([frame(11), frame(12), frame(13)], ahead)
    assert [f.late for f in second if isinstance(f, Frame)] == [
        True, False, False,
    ]  # fmt: skip
    assert ahead is None
    assert behind(second, ahead) == (second, None)


def test_a_line_is_slow_until_nothing_came_for_a_while() -> None:
    pace = Pace(trickle=0.25, drained=2.0)

    def came(now: float, *, left: int = 0, whole: bool = True) -> bool:
        is_slow = pace.came(now)
        pace.left(left, whole=whole)
        return is_slow

    assert not came(0)
    assert not came(0.1, left=5, whole=False)
    assert not came(0.3)
    assert not came(10, left=5, whole=False)
    assert came(10.3)
    assert came(11.0), "what waited behind it"
    assert not came(13.0)
    assert not came(20, left=5, whole=False)
    assert came(20.3, left=5)
    assert came(20.5)
