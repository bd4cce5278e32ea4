"""A server restored from a backup: one epoch begins, before anything new.

Each way in which a rewind shows itself, and what must not be taken for one.
How two documents are compared is in `test_sameness`.
"""

import dataclasses
from functools import partial
from pathlib import Path

import pytest

from recorder.model.observation import (
    EpochBegan,
    ListPage,
    Observation,
    StreamClosed,
    WatchFrame,
)
from tests.support.fake_cluster import FakeCluster
from tests.watch.watching import FAST, NODES, PODS, Memory, recording

EXACT = "resourceVersionMatch"
PAST = pytest.mark.parametrize("lists_exact_versions", [True, False])
"""Whether the server still has an object as of a version."""


def _epochs(memory: Memory) -> list[EpochBegan]:
    return memory.of(EpochBegan)


def _after_epoch(memory: Memory) -> list[Observation]:
    start = memory.seen.index(_epochs(memory)[0])
    return memory.seen[start + 1 :]


def _listed(memory: Memory) -> set[object]:
    return {
        o.resource for o in _after_epoch(memory) if isinstance(o, ListPage)
    }


async def test_a_lower_head_begins_an_epoch(tmp_path: Path) -> None:
    """Only a delete was lost, so no object that is alive shows it."""
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        fake.put("pods", "a")
        backup = fake.snapshot()
        fake.delete("pods", "a")
        fake.put("pods", "b")
        fake.delete("pods", "b")
        await memory.until(lambda: len(memory.frames(PODS)) == 4)
        fake.rewind(backup)
        await memory.until(lambda: _epochs(memory))
        await memory.until(
            lambda: any(
                isinstance(o, ListPage) and o.resource == PODS
                for o in _after_epoch(memory)
            )
        )

    assert len(_epochs(memory)) == 1
    assert "v1/pods is at 101 and was at 104" in _epochs(memory)[0].reason


@PAST
async def test_an_object_gone_back_begins_an_epoch(
    tmp_path: Path, *, lists_exact_versions: bool
) -> None:
    """The new history has overtaken the old one in revisions."""
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        fake.lists_exact_versions = lists_exact_versions
        await memory.until(lambda: fake.watching("pods"))
        fake.put("pods", "a", spec={"n": 1})
        backup = fake.snapshot()
        fake.put("pods", "a", spec={"n": 2})
        await memory.until(lambda: len(memory.frames(PODS)) == 2)
        fake.rewind(backup)
        for n in range(10):
            fake.put("nodes", f"n{n}")
        await memory.until(lambda: _epochs(memory))

    assert "v1/pods default/a has version 101 and had 102" in (
        _epochs(memory)[0].reason
    )


@PAST
async def test_other_content_at_one_version_begins_an_epoch(
    tmp_path: Path, *, lists_exact_versions: bool
) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        fake.lists_exact_versions = lists_exact_versions
        await memory.until(lambda: fake.watching("pods"))
        fake.put("pods", "a", spec={"n": 1})
        backup = fake.snapshot()
        fake.put("pods", "a", spec={"n": 2})
        await memory.until(lambda: len(memory.frames(PODS)) == 2)
        fake.rewind(backup)
        fake.put("pods", "a", spec={"n": 3})
        await memory.until(lambda: _epochs(memory))

    assert "other content at version 102" in _epochs(memory)[0].reason


async def test_everything_is_listed_anew_after_the_epoch(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        for plural in fake.kinds:
            await memory.until(partial(fake.watching, plural))
        backup = fake.snapshot()
        fake.put("pods", "lost")
        fake.put("nodes", "lost")
        await memory.until(lambda: memory.frames(NODES))
        fake.rewind(backup)
        fake.put("pods", "new")
        await memory.until(lambda: _epochs(memory))
        await memory.until(lambda: len(_listed(memory)) == len(fake.kinds))
        await memory.until(lambda: fake.watching("pods"))
        fake.put("pods", "newer")
        await memory.until(
            lambda: memory.frames(PODS)[-1:] == [("ADDED", "newer", "102")]
        )

    assert len(_epochs(memory)) == 1
    first: dict[object, type] = {}
    for o in _after_epoch(memory):
        if isinstance(o, ListPage | WatchFrame):
            first.setdefault(o.resource, type(o))
    assert set(first.values()) == {ListPage}


async def test_the_live_streams_of_the_old_history_are_ended(
    tmp_path: Path,
) -> None:
    """One stream is lost; the others hang on connections that look alive."""
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        for plural in fake.kinds:
            await memory.until(partial(fake.watching, plural))
        backup = fake.snapshot()
        fake.put("pods", "lost")
        await memory.until(lambda: memory.frames(PODS))
        nodes = [s for s in fake.streams if s.kind.plural == "nodes"]
        for node in nodes:  # survives the restart, silently
            del fake.streams[node]
        fake.rewind(backup)
        await memory.until(lambda: _epochs(memory))
        nodes[0].queue.put_nowait(b'{"type":"ADDED","object":{}}\n')
        await memory.until(lambda: fake.watching("nodes"))
        nodes[0].queue.put_nowait(None)

    reports = [
        o
        for o in memory.seen
        if getattr(o, "resource", None) == NODES or isinstance(o, EpochBegan)
    ]
    kinds = [type(o) for o in reports]
    at = kinds.index(EpochBegan)
    assert kinds[at - 1] is StreamClosed
    assert kinds[at + 1] is ListPage
    assert not memory.frames(NODES)


async def test_a_rewind_while_away_is_noticed_at_the_start(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as fake:
        backup = fake.snapshot()
        fake.put("pods", "lost")
        memory = Memory({PODS: str(fake.revision)})
        fake.rewind(backup)
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.of(ListPage, PODS))

    places = [type(o) for o in memory.seen]
    assert places.index(EpochBegan) < places.index(ListPage)


async def test_an_ordinary_loss_begins_no_epoch(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        for n in range(30):
            fake.put("pods", f"p{n}")
        await memory.until(lambda: len(memory.frames(PODS)) == 30)
        fake.cut()
        fake.put("pods", "p3", spec={})
        fake.delete("pods", "p4")
        await memory.until(lambda: memory.frames(PODS)[-1][0] == "DELETED")

        reads = {q["fieldSelector"] for _, q in fake.requests if EXACT in q}
        assert len(reads) >= 20
    assert not _epochs(memory)


async def test_the_log_forgets_slowly_and_one_rewind_stays_one(
    tmp_path: Path,
) -> None:
    """The log may have what was alive until everything is listed again."""

    class Slow(Memory):
        def _learn(self, observation: Observation) -> None:
            if not isinstance(observation, EpochBegan | ListPage):
                super()._learn(observation)

    memory = Slow()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("pods"))
        backup = fake.snapshot()
        fake.put("pods", "lost")
        await memory.until(lambda: memory.frames(PODS))
        fake.rewind(backup)
        fake.put("pods", "lost", spec={"other": 1})
        await memory.until(lambda: _epochs(memory))
        for _ in range(3):
            await memory.until(lambda: fake.watching("pods"))
            fake.cut()
        await memory.until(lambda: fake.watching("pods"))
        fake.put("pods", "b")
        await memory.until(lambda: memory.frames(PODS)[-1][1] == "b")

    assert len(_epochs(memory)) == 1


@PAST
async def test_a_rewind_that_later_writes_cover_is_found(
    tmp_path: Path, *, lists_exact_versions: bool
) -> None:
    """Every version is as high again; only an object went without a frame."""
    settings = dataclasses.replace(FAST, reconcile_wait=1.0)
    memory = Memory()
    async with FakeCluster() as fake:
        fake.lists_exact_versions = lists_exact_versions
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: fake.watching("pods"))
            backup = fake.snapshot()
            fake.put("pods", "lost")
            await memory.until(lambda: memory.frames(PODS))
            fake.rewind(backup)
            for n in range(9):
                fake.put("pods", "a", spec={"n": n})
            if not lists_exact_versions:
                await memory.until(lambda: memory.frames(PODS)[1:])
                fake.bookmark()
            await memory.until(lambda: _epochs(memory))
            await memory.until(lambda: PODS in _listed(memory))

    if lists_exact_versions:
        assert len(memory.frames(PODS)) == 1
        assert "default/lost did not exist" in _epochs(memory)[0].reason
    else:
        assert "lacks the object" in _epochs(memory)[0].reason


async def test_an_object_deleted_while_away_is_no_rewind(
    tmp_path: Path,
) -> None:
    settings = dataclasses.replace(FAST, reconcile_wait=1.0)
    memory = Memory()
    async with FakeCluster() as fake:
        fake.lists_exact_versions = False
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: fake.watching("pods"))
            await fake.down()
            fake.delete("pods", "a")
            await fake.up()
            await memory.until(lambda: memory.frames(PODS))
            await memory.until(lambda: fake.watching("pods"))
            fake.bookmark()
            lists = "limit", "500"
            await memory.until(
                lambda: [q for _, q in fake.requests if lists in q.items()][5:]
            )

    assert not _epochs(memory)
    assert "reconcile-mismatch" not in {
        c.reason for c in memory.of(StreamClosed)
    }
