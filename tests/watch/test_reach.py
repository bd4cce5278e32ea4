"""A resource is live soon after a server answers, despite gaps."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from recorder.model.observation import (
    HistoryWalked,
    ListPage,
    StreamResumed,
)
from recorder.model.reference import Resource
from recorder.sources.watch.past import WalkEndedError
from recorder.sources.watch.target import Target
from recorder.sources.watch.turns import Turns, rank
from recorder.sources.watch.walk import READERS
from tests.support.fake_cluster import FakeCluster
from tests.watch.test_walks import recovered, unheard
from tests.watch.watching import FAST, NODES, PODS, Memory, recording

WALKING = replace(FAST, walk_time=10, walk_first_time=0)

SPAN = 400
"""Versions: more than are read while a server goes down."""


def reads(fake: FakeCluster) -> list[tuple[str, str]]:
    """Return the object that was requested, and the version."""
    return [
        (query["fieldSelector"], query["resourceVersion"])
        for path, query in fake.requests
        if path.endswith("/pods") and "fieldSelector" in query
    ]


async def test_the_watch_goes_on_where_the_server_says_that_it_can(
    tmp_path: Path,
) -> None:
    """Only what its cache lacks is read of the past, and nothing is listed."""
    async with FakeCluster() as fake:
        fake.names_oldest_version = True
        memory = unheard(fake, 3)
        began = fake.revision
        for _ in range(3):
            fake.put("pods", "a")
        async with recording(fake, tmp_path, memory, settings=WALKING):
            await memory.until(lambda: len(memory.frames(PODS)) == 3)
            await memory.until(lambda: memory.of(StreamResumed, PODS))

    assert len(recovered(memory)) == 3
    walked = memory.of(HistoryWalked, PODS)
    assert [(w.until, w.possible, w.resumes) for w in walked] == [
        (str(began), [], True)
    ]
    assert memory.of(ListPage, PODS) == []


async def test_what_is_still_possible_ends_with_a_list_of_that_version(
    tmp_path: Path,
) -> None:
    """What the watch sends after it is not lost with the rest."""
    async with FakeCluster() as fake:
        fake.names_oldest_version = True
        fake.put("pods", "a")
        memory = Memory({PODS: str(fake.revision)})
        fake.put("pods", "a")
        fake.put("pods", "a")
        fake.compact()
        fake.put("pods", "a")
        fake.begin_caches()
        began = fake.revision
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory, settings=WALKING):
            await memory.until(lambda: memory.frames(PODS))

    walked = memory.of(HistoryWalked, PODS)[0]
    assert walked.possible
    assert not walked.resumes
    assert [p.resource_version for p in memory.of(ListPage, PODS)] == [
        str(began)
    ]
    assert [int(v) for _, _, v in memory.frames(PODS)] == [began + 1]


async def test_a_long_span_is_put_in_stages(tmp_path: Path) -> None:
    """A process killed between two of them resumes after the first."""
    async with FakeCluster() as fake:
        memory = unheard(fake, 60)
        settings = replace(WALKING, walk_stage=20, walk_stages=4)
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: memory.of(ListPage, PODS))

    versions = [int(v) for _, _, v in memory.frames(PODS, recovered=True)]
    assert versions == sorted(versions)
    assert len(versions) == 60
    walked = memory.of(HistoryWalked, PODS)
    assert [w.possible for w in walked] == [[]] * len(walked)
    assert len(walked) > 2
    assert [w.since for w in walked[1:]] == [w.until for w in walked[:-1]]
    assert [w.resumes for w in walked] == [True] * (len(walked) - 1) + [False]


async def test_what_is_read_in_seconds_is_a_stage_already(
    tmp_path: Path,
) -> None:
    """Else a recorder that is killed repeatedly starts over each time."""
    async with FakeCluster() as fake:
        memory = unheard(fake, 200)
        async with recording(fake, tmp_path, memory, settings=WALKING):
            await memory.until(lambda: memory.of(ListPage, PODS))

    walked = memory.of(HistoryWalked, PODS)
    assert [w.possible for w in walked] == [[]] * len(walked)
    assert len(walked) > 1


async def test_what_a_lost_connection_interrupted_is_not_read_again(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as fake:
        memory = unheard(fake, SPAN)
        settings = replace(WALKING, walks=1, walk_time=60)
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: len(reads(fake)) > 20)
            await fake.down()
            before = len(reads(fake))
            await fake.up()
            await memory.until(lambda: memory.of(ListPage, PODS))

    assert 20 < before < SPAN
    assert memory.of(HistoryWalked, PODS)[-1].possible == []
    assert len(recovered(memory)) == SPAN
    again = [r for r, n in Counter(reads(fake)).items() if n > 1]
    assert len(again) <= READERS, "those under way had no answer"


async def test_it_is_live_when_its_time_is_over(tmp_path: Path) -> None:
    """What the minute has no requests for any more is a gap, and is listed."""
    async with FakeCluster() as fake:
        fake.names_oldest_version = True
        memory = unheard(fake, 150)
        settings = replace(
            WALKING, walks=1, walk_time=4, walk_minute_requests=100
        )
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: fake.watching("pods"))
            await memory.until(lambda: fake.watching("nodes"))

    found = {r: memory.frames(r, recovered=True) for r in (PODS, NODES)}
    assert 0 < sum(map(len, found.values())) < 150
    for resource, frames in found.items():
        if len(frames) < 150:
            assert memory.of(ListPage, resource)
            assert not [
                w for w in memory.of(HistoryWalked, resource) if w.resumes
            ]


async def test_the_most_informative_resources_have_their_turn_first() -> None:
    turns, order = Turns(1), list[str]()

    async def take(name: str, group: str = "") -> None:
        target = Target(resource=Resource(group, "v1", name), kind="")
        async with turns.turn(rank(target), 10):
            order.append(name)

    async with asyncio.TaskGroup() as group, turns.turn(0, 10):
        for name in ("namespaces", "deployments", "jobs", "pods", "nodes"):
            of = {"deployments": "apps", "jobs": "batch"}.get(name, "")
            group.create_task(take(name, of))
        await asyncio.sleep(0)
        with pytest.raises(WalkEndedError, match="before its turn came"):
            async with turns.turn(0, 0):
                pass

    assert order == ["nodes", "pods", "jobs", "deployments", "namespaces"]


async def test_an_object_that_went_earlier_is_not_said_to_go_in_a_later_stage(
    tmp_path: Path,
) -> None:
    """Its deletion was compacted; a stage that goes on cannot date it."""
    async with FakeCluster() as fake:
        memory = Memory()
        fake.put("pods", "gone")
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.of(ListPage, PODS))
        memory.resume = {PODS: str(fake.revision)}
        listed = len(memory.of(ListPage, PODS))
        fake.delete("pods", "gone")
        for _ in range(10):
            fake.put("pods", "a")
        fake.compact()
        for _ in range(80):
            fake.put("pods", "a")
        fake.begin_caches()
        settings = replace(WALKING, walk_stage=40, walk_stages=4)
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: len(memory.of(ListPage, PODS)) > listed)

    found = memory.frames(PODS, recovered=True)
    assert not [one for one in found if one[0] == "DELETED"]
    walked = memory.of(HistoryWalked, PODS)
    assert walked
    assert all(one.possible for one in walked)
