"""What the server refuses, and what is reported and done about it."""

import time
from pathlib import Path

import pytest

from recorder.model.observation import (
    ABSENT,
    ListPage,
    RequestFailed,
    StreamClosed,
)
from recorder.sources.watch.errors import Asked, ThrottledError, error_for
from tests.support.fake_cluster import Failure, FakeCluster
from tests.watch.watching import NODES, PODS, Memory, recording


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "the credentials were not accepted"),
        (403, 'permission "list" on "v1/pods" is missing'),
        (429, "the server asked to retry later"),
        (500, "the server failed"),
        (503, "the server failed"),
        (418, "unexpected response"),
    ],
)
async def test_a_refusal_is_reported_once_and_the_rest_continues(
    tmp_path: Path, status: int, words: str
) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        times = 12 if status == 401 else 3  # a 401 is given more time
        fake.failures.append(
            Failure(status, verb="list", plural="pods", times=times)
        )
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.of(ListPage, NODES))
            await memory.until(lambda: memory.of(ListPage, PODS))

    (failed,) = memory.of(RequestFailed)
    assert (failed.resource, failed.status) == (PODS, status)
    assert failed.reason.startswith('cannot list v1/pods of cluster "fake": ')
    assert words in failed.reason
    assert "\n" not in failed.reason


async def test_a_refused_watch_is_retried_from_its_place(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as fake:
        memory = Memory({PODS: str(fake.revision)})
        fake.failures.append(
            Failure(403, verb="watch", plural="pods", times=12)
        )
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.frames(PODS))

    (failed,) = memory.of(RequestFailed)
    assert 'permission "watch" on "v1/pods" is missing' in failed.reason
    assert not memory.of(ListPage, PODS)


async def test_retry_after_is_obeyed(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        fake.failures.append(Failure(429, plural="pods", retry_after=1))
        began = time.monotonic()
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.of(ListPage, PODS))

    assert time.monotonic() - began >= 1


def test_retry_after_is_read_from_head_and_body() -> None:
    asked = Asked("c", "list", "v1/pods")
    body = b'{"kind":"Status","details":{"retryAfterSeconds":3}}'

    from_head = error_for(asked, 429, body, retry_after="7")
    from_body = error_for(asked, 429, body)

    assert isinstance(from_head, ThrottledError)
    assert isinstance(from_body, ThrottledError)
    assert (from_head.retry_after, from_body.retry_after) == (7, 3)


async def test_a_proxys_page_is_one_line(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        page = "<html>\n<h1>502 Bad Gateway</h1>\n" + "x" * 5000
        fake.failures.append(Failure(502, plural="pods", body=page))
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.of(RequestFailed))

    reason = memory.of(RequestFailed)[0].reason
    assert "502 Bad Gateway" in reason
    assert len(reason.splitlines()) == 1
    assert len(reason) < 500


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_server_that_has_just_started_is_not_believed(
    tmp_path: Path, status: int
) -> None:
    """It refuses everything until it knows its roles and its kinds."""
    async with FakeCluster() as fake:
        memory = Memory({PODS: str(fake.revision)})
        fake.failures.append(Failure(status, plural="pods", times=3))
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: memory.frames(PODS))

    assert not memory.of(RequestFailed)
    assert ABSENT not in {c.reason for c in memory.of(StreamClosed, PODS)}


async def test_what_was_reported_deleted_is_listed_when_it_is_back(
    tmp_path: Path,
) -> None:
    """A watch would go on as if its objects had not been taken for gone."""
    memory = Memory()
    async with FakeCluster() as fake:
        fake.put("pods", "a")
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("pods"))
            missing = Failure(404, plural="pods", times=1_000)
            fake.failures.append(missing)
            fake.cut("pods")
            await memory.until(lambda: memory.of(RequestFailed, PODS))
            missing.times = 0
            await memory.until(lambda: fake.watching("pods"))

    assert len(memory.of(ListPage, PODS)) == 2
