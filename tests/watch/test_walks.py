"""What a refused watch missed is read from the server's past."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recorder.model.observation import HistoryWalked, ListPage, WatchFrame
from recorder.model.reference import Resource
from tests.support.fake_cluster import STANDARD, Failure, FakeCluster, Kind
from tests.watch.watching import FAST, NODES, PODS, Memory, recording

CONFIG_MAPS = Kind("configmaps", "ConfigMap", "", "v1")
"""A kind that is not recorded."""

WALKING = replace(FAST, walk_time=5, walk_first_time=5)


def recovered(memory: Memory) -> list[str]:
    """Return what was recovered of Pods, as name and version in order."""
    return [
        f"{name} {version} {kind}".removesuffix(" MODIFIED")
        for kind, name, version in memory.frames(PODS, recovered=True)
    ]


def unheard(fake: FakeCluster, changes: int) -> Memory:
    """Change a Pod and a Node so often, after their witnesses were deleted."""
    fake.put("pods", "a")
    fake.put("nodes", "n", namespace="")
    memory = Memory({PODS: str(fake.revision), NODES: str(fake.revision)})
    for _ in range(changes):
        fake.put("nodes", "n", namespace="")
        fake.put("pods", "a")
    fake.begin_caches()
    return memory


async def test_versions_that_the_cache_forgot_come_before_the_list(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as fake:
        memory = Memory()
        fake.put("pods", "stays")
        fake.put("pods", "goes")
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.of(ListPage, PODS))
        memory.resume = {PODS: str(fake.revision)}
        for _ in range(3):
            fake.put("pods", "stays")
        fake.put("pods", "goes")
        fake.delete("pods", "goes")
        fake.put("pods", "came")
        fake.delete("pods", "came")
        fake.put("pods", "new")
        fake.begin_caches()
        before = len(memory.seen)
        async with recording(fake, tmp_path, memory, settings=WALKING):
            await memory.until(lambda: memory.of(HistoryWalked, PODS))
            await memory.until(lambda: fake.watching("pods"))

    reports = [
        type(o)
        for o in memory.seen[before:]
        if isinstance(o, WatchFrame | HistoryWalked | ListPage)
        and o.resource == PODS
    ]
    assert reports == [WatchFrame] * 8 + [HistoryWalked, ListPage]
    assert recovered(memory) == [
        "stays 103",
        "stays 104",
        "stays 105",
        "goes 106",
        "goes 107 DELETED",
        "came 108",
        "came 109 DELETED",
        "new 110",
    ]
    walked = memory.of(HistoryWalked, PODS)[0]
    assert walked.possible == []
    assert "every version is accounted for" in walked.proved
    assert memory.of(ListPage, PODS)[-1].resource_version == walked.until


async def test_a_walk_waits_for_what_others_account_for(
    tmp_path: Path,
) -> None:
    """More versions than are read, but each has its object."""
    async with FakeCluster() as fake:
        memory = unheard(fake, 120)
        settings = replace(WALKING, walks=1, walk_accounts=0)
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: memory.of(ListPage, PODS))
            await memory.until(lambda: memory.of(ListPage, NODES))

    assert [w.possible for w in memory.of(HistoryWalked, PODS)] == [[]]
    assert [w.possible for w in memory.of(HistoryWalked, NODES)] == [[]]
    assert len(recovered(memory)) == 120


async def test_a_server_without_past_versions_is_listed_as_it_is(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as fake:
        fake.lists_exact_versions = False
        fake.put("pods", "a")
        memory = Memory({PODS: str(fake.revision)})
        fake.put("pods", "a")
        fake.put("pods", "a")
        fake.begin_caches()
        async with recording(fake, tmp_path, memory, settings=WALKING):
            await memory.until(lambda: memory.of(ListPage, PODS))
            await memory.until(lambda: fake.watching("pods"))

    assert recovered(memory) == []
    walked = memory.of(HistoryWalked, PODS)
    assert [w.possible for w in walked] == [None]
    assert "resourceVersionMatch is not known" in walked[0].proved


async def test_what_was_compacted_stays_possible(tmp_path: Path) -> None:
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        memory = Memory({PODS: str(fake.revision)})
        fake.put("pods", "a")
        fake.put("pods", "a")
        fake.compact()
        fake.put("pods", "a")
        fake.put("pods", "a")
        fake.begin_caches()
        async with recording(fake, tmp_path, memory, settings=WALKING):
            await memory.until(lambda: memory.of(ListPage, PODS))

    assert recovered(memory) == ["a 103", "a 104", "a 105"]
    walked = memory.of(HistoryWalked, PODS)[0]
    assert walked.possible
    assert "earlier versions of 1 objects" in " ".join(walked.possible)


async def test_the_minutes_before_a_first_start_are_read(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as fake:
        fake.put("nodes", "still", namespace="")
        fake.put("pods", "a")
        fake.compact()
        fake.put("pods", "a")
        fake.put("pods", "gone")
        fake.delete("pods", "gone")
        fake.put("pods", "a")
        memory = Memory()
        async with recording(fake, tmp_path, memory, settings=WALKING):
            await memory.until(lambda: memory.of(ListPage, PODS))
            await memory.until(lambda: memory.of(ListPage, NODES))

    assert recovered(memory) == [
        "a 102",
        "a 103",
        "gone 104",
        "gone 105 DELETED",
        "a 106",
    ]
    assert not memory.frames(NODES, recovered=True)
    assert not memory.of(HistoryWalked)


async def test_walks_share_what_they_may_ask_for_in_a_minute(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as fake:
        memory = unheard(fake, 10)
        settings = replace(
            WALKING, walk_time=2, walk_first_time=0, walk_minute_requests=6
        )
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: memory.of(ListPage, PODS))
            await memory.until(lambda: memory.of(ListPage, NODES))

    assert len([q for _, q in fake.requests if "Exact" in str(q)]) <= 10
    found = memory.frames(PODS, recovered=True)
    found += memory.frames(NODES, recovered=True)
    assert 1 <= len(found) <= 6
    assert "in a minute was used" in " ".join(
        walked.proved for walked in memory.of(HistoryWalked)
    )


async def test_nothing_is_read_of_the_past_where_that_is_turned_off(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        memory = Memory({PODS: str(fake.revision)})
        fake.put("pods", "a")
        fake.put("pods", "a")
        fake.begin_caches()
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.of(ListPage, PODS))

    assert recovered(memory) == []
    assert not [query for _, query in fake.requests if "Exact" in str(query)]


@pytest.mark.parametrize("verb", ["watch", "list"])
async def test_what_was_forbidden_meanwhile_is_read_once_it_is_allowed(
    tmp_path: Path, verb: str
) -> None:
    """By a cache that is new, as after a restart of the server."""
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        memory = Memory({PODS: str(fake.revision)})
        failure = Failure(403, verb=verb, plural="pods", times=5)  # type: ignore[arg-type]
        fake.failures.append(failure)
        fake.put("pods", "a")
        fake.put("pods", "brief")
        fake.delete("pods", "brief")
        fake.put("pods", "a")
        fake.begin_caches()
        async with recording(fake, tmp_path, memory, settings=WALKING):
            await memory.until(lambda: memory.of(HistoryWalked, PODS))
            await memory.until(lambda: fake.watching("pods"))

    assert failure.times == 0
    assert recovered(memory) == [
        "a 102",
        "brief 103",
        "brief 104 DELETED",
        "a 105",
    ]
    assert memory.of(HistoryWalked, PODS)[-1].possible == []


async def test_a_kind_that_is_defined_is_read_from_its_beginning(
    tmp_path: Path,
) -> None:
    jobsets = Kind("jobsets", "JobSet", "jobset.x-k8s.io", "v1alpha2")
    memory = Memory()
    async with (
        FakeCluster() as fake,
        recording(fake, tmp_path, memory, settings=WALKING),
    ):
        await memory.until(lambda: fake.watching("customresourcedefinitions"))
        fake.add_crd(jobsets)
        fake.put("jobsets", "a")
        fake.put("jobsets", "a")
        await memory.until(lambda: fake.watching("jobsets"))

    frames = memory.frames(
        Resource("jobset.x-k8s.io", "v1alpha2", "jobsets"), recovered=True
    )
    assert [(kind, name) for kind, name, _ in frames] == [
        ("MODIFIED", "a"),
        ("MODIFIED", "a"),
    ]


async def test_an_event_is_the_only_witness_of_a_pod(
    tmp_path: Path,
) -> None:
    """Between two lists, in a cluster where much else is written."""
    async with FakeCluster((*STANDARD, CONFIG_MAPS)) as fake:
        fake.put("pods", "a")
        since = str(fake.revision)
        memory = Memory({PODS: since, Resource("", "v1", "events"): since})
        fake.put("pods", "a")
        for _ in range(150):
            fake.put("configmaps", "much")
        brief = fake.put("pods", "brief")["metadata"]
        about = {**brief, "kind": "Pod", "apiVersion": "v1"}
        fake.put("events", "started", involvedObject=about)
        fake.put("pods", "brief")
        fake.delete("pods", "brief")
        for _ in range(300):
            fake.put("configmaps", "much")
        fake.begin_caches()
        settings = replace(
            WALKING, walk_looks=1, walk_accounts=0, walk_stage=1000
        )
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: memory.of(HistoryWalked, PODS))

    assert recovered(memory) == [
        "a 102",
        "brief 253",
        "brief 255",
        "brief 256 DELETED",
    ]
    assert memory.of(HistoryWalked, PODS)[0].possible, "others may have come"


def _another_version(fake: FakeCluster) -> None:
    fake.ignores_versions = True


def _no_list(fake: FakeCluster) -> None:
    fake.failures.append(Failure(403, verb="list", plural="pods", times=3))


def _a_server_that_fails(fake: FakeCluster) -> None:
    fake.failures.append(Failure(500, verb="list", plural="pods", times=4))


def _another_past(fake: FakeCluster) -> None:
    fake.rewind(fake.snapshot())


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (_another_version, "it is of version 103"),
        (_no_list, ""),
        (_a_server_that_fails, ""),
        (_another_past, ""),
    ],
)
async def test_a_wrong_past_leaves_the_gap(
    tmp_path: Path, fault: Callable[[FakeCluster], None], says: str
) -> None:
    """Nothing of it is taken for true, and the resource is watched again."""
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        memory = Memory({PODS: str(fake.revision)})
        fake.put("pods", "a")
        fake.put("pods", "a")
        fake.begin_caches()
        fault(fake)
        async with recording(fake, tmp_path, memory, settings=WALKING):
            await memory.until(lambda: memory.of(ListPage, PODS))
            await memory.until(lambda: fake.watching("pods"))

    true = {
        f"{change.object['metadata']['name']} {change.revision}"
        for change in fake.history
        if change.plural == "pods"
    }
    assert {*recovered(memory)} <= true
    walked = memory.of(HistoryWalked, PODS)
    assert says in " ".join(one.proved for one in walked)
    if [one for one in walked if one.possible == []]:
        assert recovered(memory) == ["a 102", "a 103"]
