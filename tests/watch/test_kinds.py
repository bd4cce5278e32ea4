"""Kinds that appear, vanish and come back, and two hundred of them."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from recorder.model.observation import (
    ABSENT,
    EXPIRED,
    EpochBegan,
    HistoryWalked,
    ListPage,
    RequestFailed,
    StreamClosed,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.watch import Pattern, Selection
from tests.support.fake_cluster import STANDARD, FakeCluster, Kind
from tests.watch.watching import FAST, NODES, PODS, Memory, recording

JOBSETS = Kind("jobsets", "JobSet", "jobset.x-k8s.io", "v1alpha2")
JOBSET = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets")


def is_gone(memory: Memory) -> bool:
    return ABSENT in {c.reason for c in memory.of(StreamClosed, JOBSET)}


async def test_a_kind_that_appears_is_followed(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: fake.watching("customresourcedefinitions"))
        fake.add_crd(JOBSETS)
        fake.put("jobsets", "a")
        await memory.until(lambda: fake.watching("jobsets"))
        fake.put("jobsets", "b")
        await memory.until(lambda: memory.frames(JOBSET))

    assert len(memory.of(ListPage, JOBSET)) == 1


async def test_a_kind_that_vanishes_is_reported_and_may_come_back(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster((*STANDARD, JOBSETS)) as fake:
        fake.put("jobsets", "a")
        fake.put("customresourcedefinitions", "jobsets.jobset.x-k8s.io")
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("jobsets"))
            # It reads what comes once the history is known to be the same.
            fake.bookmark("jobsets")
            await memory.until(lambda: memory.of(WatchFrame, JOBSET))
            fake.remove_crd("jobsets")
            since = str(fake.revision)
            await memory.until(lambda: is_gone(memory))
            # Else it may be back before it is asked when there was none of it.
            await memory.until(lambda: since in memory.marks(JOBSET))
            fake.add_crd(JOBSETS)
            fake.put("jobsets", "b")
            await memory.until(lambda: len(memory.of(ListPage, JOBSET)) == 2)

    frames = memory.frames(JOBSET)
    assert [frame[:2] for frame in frames] == [("DELETED", "a")]
    assert not memory.of(RequestFailed)
    reports = [
        o
        for o in memory.seen
        if isinstance(o, StreamClosed | ListPage) and o.resource == JOBSET
    ]
    assert isinstance(reports[-1], ListPage)
    closed = [c.reason for c in reports if isinstance(c, StreamClosed)]
    assert closed[-2:] == [ABSENT, EXPIRED]


async def test_the_last_frames_of_a_kind_come_after_its_definition_went(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster((*STANDARD, JOBSETS)) as fake:
        fake.put("jobsets", "a")
        fake.put("customresourcedefinitions", "jobsets.jobset.x-k8s.io")
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("jobsets"))
            fake.bookmark("jobsets")
            await memory.until(lambda: memory.of(WatchFrame, JOBSET))
            fake.late["jobsets"] = 0.3
            fake.remove_crd("jobsets")
            await memory.until(lambda: is_gone(memory))

    assert [f[:2] for f in memory.frames(JOBSET)] == [("DELETED", "a")]


async def test_a_kind_that_is_defined_again_goes_on_where_it_was_not(
    tmp_path: Path,
) -> None:
    """What came before its list is read, and not what was before it went."""
    memory = Memory()
    walking = replace(FAST, walk_time=5)
    async with FakeCluster((*STANDARD, JOBSETS)) as fake:
        fake.put("jobsets", "old")
        fake.put("customresourcedefinitions", "jobsets.jobset.x-k8s.io")
        async with recording(fake, tmp_path, memory, settings=walking):
            await memory.until(lambda: fake.watching("jobsets"))
            fake.bookmark("jobsets")
            await memory.until(lambda: memory.marks(JOBSET))
            fake.remove_crd("jobsets")
            since = str(fake.revision)
            await memory.until(lambda: since in memory.marks(JOBSET))
            fake.add_crd(JOBSETS)
            fake.put("jobsets", "new")
            fake.put("jobsets", "brief")
            fake.put("jobsets", "new")
            fake.delete("jobsets", "brief")
            await memory.until(lambda: len(memory.of(ListPage, JOBSET)) == 2)

    reports = [
        f"{name} {kind}"
        for kind, name, _ in memory.frames(JOBSET, recovered=True)
    ]
    assert reports == [
        "new MODIFIED",
        "brief MODIFIED",
        "new MODIFIED",
        "brief DELETED",
    ]
    walked = memory.of(HistoryWalked, JOBSET)
    assert [(one.since, one.possible) for one in walked] == [(since, [])]


@pytest.mark.parametrize("why", ["rewound", "not defined"])
async def test_a_kind_goes_on_nowhere_if_it_may_have_been(
    tmp_path: Path, why: str
) -> None:
    """An aggregated API has no definition, nor does one history prove what
    was in another."""
    memory = Memory()
    async with FakeCluster((*STANDARD, JOBSETS)) as fake:
        name = "jobsets.jobset.x-k8s.io"
        if why == "rewound":
            fake.put("customresourcedefinitions", name)
        else:
            fake.put("customresourcedefinitions", "another")
        fake.put("jobsets", "old")
        backup = fake.snapshot()
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("jobsets"))
            fake.bookmark("jobsets")
            await memory.until(lambda: memory.marks(JOBSET))
            before = memory.marks(JOBSET)
            kind = fake.kinds.pop("jobsets")
            if why == "rewound":
                fake.delete("customresourcedefinitions", name)
            fake.end("jobsets")
            fake.put("customresourcedefinitions", "one more")
            await memory.until(lambda: is_gone(memory))
            if why == "rewound":
                await memory.until(lambda: len(memory.marks(JOBSET)) == 2)
                fake.rewind(backup)
                await memory.until(lambda: memory.of(EpochBegan))
            fake.add_crd(kind)
            await memory.until(lambda: len(memory.of(ListPage, JOBSET)) == 2)

    assert not {EXPIRED} & {c.reason for c in memory.of(StreamClosed, JOBSET)}
    assert why == "rewound" or memory.marks(JOBSET) == before


async def test_a_kind_that_vanished_while_away_is_reported(
    tmp_path: Path,
) -> None:
    memory = Memory({JOBSET: "50"})
    async with FakeCluster() as fake, recording(fake, tmp_path, memory):
        await memory.until(lambda: memory.of(StreamClosed, JOBSET))

    assert [c.reason for c in memory.of(StreamClosed, JOBSET)] == [ABSENT]


async def test_an_extension_server_that_is_down_hides_nothing_else(
    tmp_path: Path,
) -> None:
    memory = Memory({JOBSET: "100"})
    async with FakeCluster((*STANDARD, JOBSETS)) as fake:
        fake.broken.add(JOBSETS.group)
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("pods"))
            assert not fake.watching("jobsets")
            fake.broken.clear()
            fake.put("customresourcedefinitions", "any")
            fake.put("jobsets", "a")
            await memory.until(lambda: memory.frames(JOBSET))

    assert not memory.of(StreamClosed, JOBSET)
    assert not memory.of(ListPage, JOBSET)


async def test_a_version_in_use_is_kept_while_it_is_served(
    tmp_path: Path,
) -> None:
    newer = Kind("jobsets", "JobSet", "jobset.x-k8s.io", "v1beta1")
    memory = Memory({JOBSET: "100"})
    async with FakeCluster(STANDARD) as fake:
        fake.kinds = {"new": newer, **fake.kinds, "jobsets": JOBSETS}
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("jobsets"))

        paths = {p for p, _ in fake.requests if p.endswith("/jobsets")}
    assert paths == {"/apis/jobset.x-k8s.io/v1alpha2/jobsets"}


async def test_legacy_discovery_gives_the_same(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster((*STANDARD, JOBSETS)) as fake:
        fake.aggregated = False
        fake.broken.add("broken.example.com")
        fake.kinds["widgets"] = Kind("widgets", "W", "broken.example.com")
        async with recording(fake, tmp_path, memory):
            for plural in ("pods", "nodes", "jobsets"):
                await memory.until(partial(fake.watching, plural))


async def test_two_hundred_kinds_are_treated_as_one(tmp_path: Path) -> None:
    kinds = [
        Kind(f"things{n}", f"Thing{n}", f"g{n % 20}.example.com")
        for n in range(200)
    ]
    memory = Memory()
    everything = Selection(include=[Pattern.parse("*")])
    async with FakeCluster((*STANDARD, *kinds)) as fake:
        for kind in kinds:
            fake.put(kind.plural, "x")
        backup = fake.snapshot()
        async with recording(fake, tmp_path, memory, selection=everything):
            await memory.until(lambda: len(fake.streams) == 205)
            fake.put("things7", "lost")
            await memory.until(lambda: memory.frames(_thing(7)))
            fake.rewind(backup)
            await memory.until(lambda: len(memory.of(ListPage)) == 410)
            await memory.until(lambda: len(fake.streams) == 205)
            for n in range(200):
                fake.put(f"things{n}", "x", spec={"n": n})
            await memory.until(
                lambda: all(memory.frames(_thing(n)) for n in range(200))
            )

        checks = [p for p, _ in fake.requests if p.endswith("kube-system")]
    assert len(checks) < 60
    assert len(memory.of(EpochBegan)) == 1
    assert len(memory.of(ListPage, NODES)) == 2
    assert len(memory.of(ListPage, PODS)) == 2


def _thing(n: int) -> Resource:
    return Resource(f"g{n % 20}.example.com", "v1", f"things{n}")
