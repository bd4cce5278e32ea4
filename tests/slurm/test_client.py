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


def test_the_interval_is_twenty_times_the_last_answer() -> None:
    source = SlurmSource(
        SlurmClient("http://127.0.0.1:9", "slurm", str),
        NodeMapping(),
        cluster="lab",
        interval=5,
    )
    assert source.wait == 5
    source.took = 1.8  # /jobs/state/ of 20,000 jobs
    assert source.wait == 36
