"""What is asked of slurmrestd is bounded, and refusals are named."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from recorder.sources.slurm import (
    NodeMapping,
    SlurmClient,
    SlurmError,
    SlurmSource,
    client,
)


@asynccontextmanager
async def answering(status: int, body: bytes) -> AsyncIterator[SlurmClient]:
    """Serve one answer to all requests; yield a client."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, body=body)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        async with SlurmClient(f"http://{host}:{port}", "slurm", str) as one:
            yield one
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, b"Authentication failure", "refused the token"),
        (511, b'{"errors":[]}', "refused the token"),
        (500, b'{"errors":[{"error":"Unspecified error"}]}', "refused the"),
        (500, b'{"errors":[{"error":"no partitions"}]}', "500: no partitions"),
        (200, b"[" * 100_000, "did not answer as Slurm does"),
        (200, b" " * 70_000, "more than 65,536 bytes"),
    ],
)
async def test_what_is_no_answer_is_an_error(
    monkeypatch: pytest.MonkeyPatch, status: int, body: bytes, said: str
) -> None:
    most = 1 << (17 if body.startswith(b"[") else 16)
    monkeypatch.setattr(client, "BODY_MAX", most)
    async with answering(status, body) as one:
        with pytest.raises(SlurmError, match=said):
            await one.get("/slurm/v0.0.42/nodes", dict[str, Any])


def a_source(of: SlurmClient) -> SlurmSource:
    return SlurmSource(of, NodeMapping(), cluster="lab", interval=5)


async def test_jobs_that_are_as_they_were_are_not_read_again() -> None:
    """By a release without ``/jobs/state/``; a text may be no UTF-8."""
    body = b"""{"paths": {"/slurm/v0.0.40/jobs": {}}, "nodes": [], "jobs": [
      {"job_id": 7, "name": "\xff", "job_state": ["RUNNING"], "nodes": "g1",
       "submit_time": {"set": true, "number": 1790000000}}]}"""
    async with answering(200, body) as one:
        source = a_source(one)
        first, _ = await source._poll()
        again, _ = await source._poll()
    (job,) = first.jobs
    assert (job.job, job.name, job.state) == (7, "", "RUNNING")
    assert (job.submit, job.nodes) == (1_790_000_000, ("g1",))
    assert first.ids == again.ids == frozenset({7})
    assert again.jobs == []


def test_the_interval_is_twenty_times_the_last_answer() -> None:
    source = a_source(SlurmClient("http://127.0.0.1:9", "slurm", str))
    assert source.wait == 5
    source.took = 1.8  # /jobs/state/ of 20,000 jobs
    assert source.wait == 36
