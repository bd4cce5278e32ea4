"""Lists in pages."""

import dataclasses
from pathlib import Path

from recorder.model.observation import ListPage
from tests.support.fake_cluster import STANDARD, FakeCluster, Kind
from tests.watch.watching import FAST, PODS, Memory, recording

SMALL = dataclasses.replace(FAST, page_limit=3)


async def test_a_list_comes_in_pages_of_one_version(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        for n in range(8):
            fake.put("pods", f"p{n}")
        async with recording(fake, tmp_path, memory, settings=SMALL):
            await memory.until(lambda: fake.watching("pods"))

    pages = memory.of(ListPage, PODS)
    assert [len(page.items) for page in pages] == [3, 3, 2]
    assert [page.more for page in pages] == [True, True, False]
    assert {page.resource_version for page in pages} == {"108"}


async def test_an_expired_page_begins_the_list_anew(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        for n in range(8):
            fake.put("pods", f"p{n}")
        async with recording(fake, tmp_path, memory, settings=SMALL):
            await memory.until(lambda: memory.of(ListPage, PODS))
            fake.put("pods", "p8")
            fake.compact()
            await memory.until(lambda: fake.watching("pods"))

    pages = memory.of(ListPage, PODS)
    assert [page.more for page in pages][-1] is False
    last = [p for p in pages if p.resource_version == "109"]
    assert sum(len(page.items) for page in last) == 9


async def test_only_one_namespace_of_leases_is_asked_for(
    tmp_path: Path,
) -> None:
    leases = Kind("leases", "Lease", "coordination.k8s.io")
    memory = Memory()
    async with FakeCluster((*STANDARD, leases)) as fake:
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("leases"))

        asked = {p for p, _ in fake.requests if p.endswith("/leases")}
    assert asked == {
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    }
