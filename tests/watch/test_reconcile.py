"""Comparing the log with a list: what the server never sent."""

import asyncio
import dataclasses
import random
from pathlib import Path

import pytest

from recorder.model.observation import ListPage, StreamClosed
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.follower import Follower
from recorder.sources.watch.outlet import Outlet
from recorder.sources.watch.reconcile import Reconciler
from recorder.sources.watch.rewind import RewindGuard
from recorder.sources.watch.target import Target
from tests.support.fake_cluster import FakeCluster
from tests.watch.watching import EVENTS, FAST, PODS, Memory, recording

OFTEN = dataclasses.replace(FAST, reconcile_every=0.2, reconcile_wait=1.0)

YOUNG = "2999-01-01T00:00:00Z"
"""Born too late to expire; older Events are not compared."""


async def _watched(fake: FakeCluster, memory: Memory) -> None:
    """Wait for the watches whose comparisons are waited for.

    A bookmark reaches those that are open, and a stream is compared only
    after it has sent something.
    """
    await memory.until(
        lambda: fake.watching("events") and fake.watching("pods")
    )


async def _settle(fake: FakeCluster, memory: Memory, rounds: int = 2) -> None:
    """Let some comparisons of the pods begin and end."""
    asked = _lists(fake)
    await memory.until(lambda: _lists(fake) >= asked + rounds)


def _lists(fake: FakeCluster) -> int:
    return sum(
        1
        for path, query in fake.requests
        if path == "/api/v1/pods" and query.get("limit") == "500"
    )


async def test_a_delete_that_was_never_sent_leads_to_a_list(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        fake.put("pods", "b")
        async with recording(fake, tmp_path, memory, settings=OFTEN):
            await memory.until(lambda: fake.watching("pods"))
            fake.lose("pods", "a")
            fake.bookmark()
            await memory.until(lambda: memory.of(StreamClosed, PODS))
            await memory.until(lambda: len(memory.of(ListPage, PODS)) == 2)

    assert memory.of(StreamClosed, PODS)[0].reason == "reconcile-mismatch"
    assert len(memory.of(ListPage, PODS)[1].items) == 1


@pytest.mark.parametrize("held", ["nothing", "an older version"])
async def test_an_object_that_the_log_lacks_leads_to_a_list(
    tmp_path: Path, held: str
) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory, settings=OFTEN):
            await memory.until(lambda: fake.watching("pods"))
            ((key, older),) = memory.objects.items()
            fake.put("pods", "a")
            await memory.until(lambda: memory.frames(PODS))
            del memory.objects[key]
            if held == "an older version":
                memory.objects[key] = older
            fake.bookmark()
            await memory.until(lambda: memory.of(StreamClosed, PODS))

    assert memory.of(StreamClosed, PODS)[0].reason == "reconcile-mismatch"


async def test_what_changes_while_it_is_compared_is_no_mismatch(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory, settings=OFTEN):
            await memory.until(lambda: fake.watching("pods"))
            for n in range(8):
                fake.put("pods", f"p{n}")
                if n % 2:
                    fake.delete("pods", f"p{n}")
                fake.bookmark("pods")
                await _settle(fake, memory, rounds=1)

    assert not memory.of(StreamClosed, PODS)
    assert len(memory.of(ListPage, PODS)) == 1


async def test_a_list_in_the_meantime_makes_a_comparison_void(
    tmp_path: Path,
) -> None:
    """What went before it was inferred, and is in no frame."""
    async with FakeCluster() as fake:
        fake.put("pods", "b")
        client = ClusterClient.from_kubeconfig(
            str(fake.kubeconfig(tmp_path)), settings=OFTEN
        )
        target = Target(resource=PODS, kind="Pod", namespaced=True)
        follower, known = Follower(target, "1"), Memory()
        guard = RewindGuard(
            client,
            Outlet(known),
            known=known,
            cluster_uid=fake.uid,
            redact=lambda raw, _: raw,
            followers=lambda: [follower],
        )
        reconciler = Reconciler(
            client,
            known,
            guard,
            followers=lambda: [follower],
            jitter=random.Random(0),
        )
        async with asyncio.TaskGroup() as group:
            comparing = group.create_task(reconciler._reconcile(follower, ""))
            await asyncio.sleep(0)
            assert follower.touched is not None, "it has begun"
            follower.place.reached(str(fake.revision))
            follower.lists += 1
        await client.close()

    assert comparing.done()
    assert follower.take_reason() is None


async def test_without_bookmarks_a_clean_end_is_waited_for(
    tmp_path: Path,
) -> None:
    settings = dataclasses.replace(OFTEN, watch_unmarked=1, reconcile_wait=3)
    memory = Memory()
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory, settings=settings):
            await memory.until(lambda: fake.watching("pods"))
            fake.put("nodes", "n")  # the list will be ahead of the stream
            fake.lose("pods", "a")
            await memory.until(
                lambda: (
                    "reconcile-mismatch"
                    in {c.reason for c in memory.of(StreamClosed, PODS)}
                )
            )


async def test_events_that_expired_are_no_mismatch(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        fake.put("events", "e")
        async with recording(fake, tmp_path, memory, settings=OFTEN):
            await _watched(fake, memory)
            fake.lose("events", "e")
            fake.bookmark()
            await _settle(fake, memory, rounds=3)

    assert not memory.of(StreamClosed, EVENTS)


async def test_an_event_that_was_never_sent_leads_to_a_list(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        fake.born = YOUNG
        fake.put("events", "e")
        async with recording(fake, tmp_path, memory, settings=OFTEN):
            await memory.until(lambda: fake.watching("events"))
            memory.versions_held[EVENTS].clear()
            fake.bookmark()
            await memory.until(lambda: len(memory.of(ListPage, EVENTS)) == 2)

    assert memory.of(StreamClosed, EVENTS)[0].reason == "reconcile-mismatch"


async def test_an_event_that_goes_on_while_it_is_compared_is_no_mismatch(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        fake.born = YOUNG
        fake.put("events", "e")
        async with recording(fake, tmp_path, memory, settings=OFTEN):
            await _watched(fake, memory)
            for n in range(8):
                fake.put("events", f"e{n // 2}", count=n)
                fake.bookmark()
                await _settle(fake, memory, rounds=1)

    assert not memory.of(StreamClosed, EVENTS)
