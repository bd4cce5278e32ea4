"""A version that is never entered is accounted for all the same."""

from dataclasses import replace
from pathlib import Path

from recorder.model.observation import HistoryWalked, ListPage
from recorder.model.reference import Resource
from tests.support.fake_cluster import STANDARD, FakeCluster, Kind
from tests.watch.test_walks import WALKING, unheard
from tests.watch.watching import NODES, PODS, Memory, recording

LEASES = Resource("coordination.k8s.io", "v1", "leases")
KINDS = (*STANDARD, Kind("leases", "Lease", "coordination.k8s.io"))
BLIND = replace(WALKING, walk_accounts=0, walk_looks=0)
"""Nothing is read for lack of an owner."""


async def test_renewals_of_leases_are_no_versions_of_another_resource(
    tmp_path: Path,
) -> None:
    """Of many Leases; one began meanwhile."""
    async with FakeCluster(KINDS) as fake:
        fake.put("pods", "a")
        fake.put("leases", "n0", namespace="kube-node-lease")
        since = str(fake.revision)
        memory = Memory({PODS: since, LEASES: since})
        for number in range(60):
            fake.put("leases", f"n{number % 3}", namespace="kube-node-lease")
        fake.put("pods", "a")
        for number in range(60):
            fake.put("leases", f"n{number % 3}", namespace="kube-node-lease")
        fake.begin_caches()
        async with recording(fake, tmp_path, memory, settings=BLIND):
            await memory.until(lambda: memory.of(ListPage, PODS))
        asked = [
            query["resourceVersion"]
            for path, query in fake.requests
            if path.endswith("/leases") and "fieldSelector" in query
        ]

    assert [w.possible for w in memory.of(HistoryWalked, PODS)] == [[]]
    assert not memory.frames(LEASES, recovered=True)
    assert len(asked) < 140, "each is read once, and not for each walk"


async def test_an_object_between_renewals_is_not_taken_for_one(
    tmp_path: Path,
) -> None:
    async with FakeCluster(KINDS) as fake:
        fake.put("pods", "a")
        fake.put("leases", "n", namespace="kube-node-lease")
        since = str(fake.revision)
        memory = Memory({PODS: since, LEASES: since})
        for _ in range(30):
            fake.put("leases", "n", namespace="kube-node-lease")
        fake.put("pods", "brief")
        fake.delete("pods", "brief")
        for _ in range(30):
            fake.put("leases", "n", namespace="kube-node-lease")
        fake.begin_caches()
        async with recording(fake, tmp_path, memory, settings=BLIND):
            await memory.until(lambda: memory.of(ListPage, PODS))

    assert [bool(w.possible) for w in memory.of(HistoryWalked, PODS)] == [True]


async def test_heartbeats_that_an_earlier_recorder_counted_are_of_nodes(
    tmp_path: Path,
) -> None:
    """Nodes are live from where they were; Pods lack what came before."""
    async with FakeCluster() as fake:
        memory = unheard(fake, 60)
        memory.resume[NODES] = str(fake.revision)
        async with recording(fake, tmp_path, memory, settings=BLIND):
            await memory.until(lambda: memory.of(ListPage, PODS))

    assert [w.possible for w in memory.of(HistoryWalked, PODS)] == [[]]
    assert not memory.frames(NODES, recovered=True)


async def test_stages_do_not_wait_for_events_that_are_heard(
    tmp_path: Path,
) -> None:
    """A wait for each of them would be longer than the test."""
    async with FakeCluster() as fake:
        memory = unheard(fake, 450)
        memory.resume[Resource("", "v1", "events")] = str(fake.revision)
        settings = replace(
            BLIND, walk_time=60, walk_hears=60, walk_stage=600, walk_stages=3
        )
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: memory.of(ListPage, PODS))

    assert [w.possible for w in memory.of(HistoryWalked, PODS)][-1] == []


async def test_what_others_account_for_is_not_looked_at(
    tmp_path: Path,
) -> None:
    """Where nothing changed the whole span is one stage, and is read first."""
    namespaces = Resource("", "v1", "namespaces")
    async with FakeCluster() as fake:
        memory = unheard(fake, 300)
        memory.resume[namespaces] = memory.resume[PODS]
        settings = replace(WALKING, walk_stage=100, walk_time=20)
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: memory.of(ListPage, namespaces))
        looks = [
            query
            for path, query in fake.requests
            if path.endswith("/namespaces") and "Exact" in str(query)
        ]

    assert [w.possible for w in memory.of(HistoryWalked, namespaces)] == [[]]
    assert len(looks) < 20
