"""`recorder up` records and serves, as two processes that end together."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.api.serving import Client
from tests.cli.running import started
from tests.support.fake_cluster import FakeCluster
from tests.support.postgres import Database

SECONDS = 60
END_SECONDS = 20


@pytest.fixture
async def up(
    database: Database, tmp_path: Path
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """The command against a cluster, and the address that it says."""
    async with FakeCluster() as cluster:
        kubeconfig = cluster.kubeconfig(tmp_path, cluster.token or "any")
        async with started(
            "up",
            url=database.dsn("writer"),
            KUBECONFIG=str(kubeconfig),
            RECORDER_DATA_DIR=str(tmp_path),
            RECORDER_HEALTH_LISTEN="127.0.0.1:0",
            RECORDER_SERVE_LISTEN="127.0.0.1:0",
        ) as process:
            yield process, await said(process)


async def said(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    seen = []
    async with asyncio.timeout(SECONDS):
        while line := await process.stderr.readline():
            seen.append(line.decode())
            words = seen[-1].split()
            if words[:1] == ["page"]:
                return words[1]
    raise AssertionError("".join(seen))


def child_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    (child,) = children.read_text().split()
    return int(child)


async def answers(address: str) -> bool:
    try:
        async with aiohttp.ClientSession() as session:
            found = await Client(address, session).ask("{ clusters { name } }")
    except aiohttp.ClientError:
        return False
    return bool(found["clusters"])


async def gone(address: str) -> None:
    async with asyncio.timeout(END_SECONDS):
        while True:
            try:
                async with aiohttp.ClientSession() as session:
                    await session.get(address)
            except aiohttp.ClientError:
                return
            await asyncio.sleep(0.05)


async def ended(process: asyncio.subprocess.Process) -> int:
    assert process.stderr is not None
    async with asyncio.timeout(END_SECONDS):
        await process.stderr.read()
        return await process.wait()


async def test_both_end_when_one_is_asked_to_stop(
    up: tuple[asyncio.subprocess.Process, str],
) -> None:
    process, address = up
    assert await answers(address)

    process.send_signal(signal.SIGTERM)

    assert await ended(process) == 0
    await gone(address)


async def test_what_serves_ends_when_what_records_is_killed(
    up: tuple[asyncio.subprocess.Process, str],
) -> None:
    process, address = up
    assert await answers(address)

    process.kill()

    # Its error output is shared, and closed when both are gone.
    assert await ended(process) == -signal.SIGKILL
    await gone(address)


async def test_what_records_stops_when_what_serves_is_killed(
    up: tuple[asyncio.subprocess.Process, str],
) -> None:
    process, address = up

    os.kill(child_of(process.pid), signal.SIGKILL)

    assert await ended(process) == 1
    await gone(address)
