"""Outages of the API server and the database, as probes see them.

``python -m tests.recording.outages [SECONDS] [SCHEDULES]`` plays schedules on
a real cluster, with every outage as long as requested, two minutes by
default, and counts restarts that the shipped probes would have caused.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import aiohttp

from recorder.wiring.database import roles_sql
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.cluster.ports import Ports
from tests.cluster.waiting import until
from tests.conftest import TEMPLATE, migrated
from tests.support.postgres import (
    DatabaseServer,
    fresh_database,
    make_template,
    start_embedded,
)
from tests.support.recorded import Recorded

__all__ = ["Probes", "outages"]

EVERY_SECONDS = 0.2
PROBE_SECONDS = 1
"""The kubelet's own `timeoutSeconds`."""

FAILURES_TO_RESTART = 3
"""The kubelet's own `failureThreshold`."""

ANSWER_SECONDS = 30


class Probes:
    """Probes one process as a kubelet does, and never stops."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.restarts = 0
        """How often the liveness probe would have restarted it."""
        self.alive_at: float | None = None
        self.ready = ""
        """What readiness last answered, with its status."""

    @asynccontextmanager
    async def probing(self) -> AsyncIterator[None]:
        """Probe while entered."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self._probe())
            yield
            task.cancel()

    async def until_ready(self, *, says: str) -> None:
        """Wait until readiness answers what begins in this way."""
        await until(
            lambda: self.ready.startswith(says),
            f"/readyz says {says!r}, not {self.ready!r}",
            seconds=ANSWER_SECONDS,
        )

    async def _probe(self) -> None:
        timeout = aiohttp.ClientTimeout(total=PROBE_SECONDS)
        failed = 0
        async with aiohttp.ClientSession(timeout=timeout) as session:
            while True:
                with suppress(aiohttp.ClientError, TimeoutError):
                    self.ready = await self._get(session, "readyz")
                try:
                    alive = await self._get(session, "healthz") == "200 ok"
                except (aiohttp.ClientError, TimeoutError):
                    alive = False
                if alive:
                    failed = 0
                    self.alive_at = self.alive_at or time.monotonic()
                elif self.alive_at is not None:
                    failed += 1
                    if failed == FAILURES_TO_RESTART:
                        self.restarts += 1
                await asyncio.sleep(EVERY_SECONDS)

    async def _get(self, session: aiohttp.ClientSession, path: str) -> str:
        async with session.get(f"http://{self._address}/{path}") as answer:
            return f"{answer.status} {(await answer.text()).strip()}"


async def outages(
    cluster: Cluster, recorded: Recorded, *, seconds: float
) -> tuple[Probes, float]:
    """Take both away before the start and after it, in turns.

    Returns the probes, and how long after the start of the process the first
    one was answered.
    """
    ports = Ports()
    async with AsyncExitStack() as stack:
        stack.callback(ports.give_back)
        # Other tests share the server of the database.
        stack.push_async_callback(recorded.reopen_database)
        address = f"127.0.0.1:{ports.take()}"
        probes = Probes(address)
        await cluster.api_server.kill()
        await recorded.shut_database()
        began = time.monotonic()
        process = await recorded.spawn(health_listen=address)
        async with probes.probing():
            await probes.until_ready(says="503 waiting: cannot get")
            await asyncio.sleep(seconds)
            await cluster.api_server.start()
            await probes.until_ready(says="503 waiting: cannot open the log")
            await asyncio.sleep(seconds)
            await recorded.reopen_database()
            await probes.until_ready(says="200 recording")

            await cluster.api_server.kill()
            await probes.until_ready(says="503 waiting: cannot")
            await asyncio.sleep(seconds)
            await cluster.api_server.start()
            await probes.until_ready(says="200 recording")

            await recorded.shut_database()
            await probes.until_ready(says="503 waiting: ")
            await asyncio.sleep(seconds)
            await recorded.reopen_database()
            await probes.until_ready(says="200 recording")
        assert probes.alive_at is not None, process.said
        await recorded.stop()
        return probes, probes.alive_at - began


def _run(seconds: float, schedules: int) -> int:
    with start_embedded(roles_sql()) as server:
        return asyncio.run(_play(server, seconds, schedules))


async def _play(server: DatabaseServer, seconds: float, schedules: int) -> int:
    folder = Path(tempfile.mkdtemp(prefix="recorder-outages-"))
    restarts = 0
    await make_template(server, TEMPLATE, migrated)
    options = Options(machines=gpu_machines(1))
    for number in range(schedules):
        async with (
            Cluster.start(folder / str(number), options) as cluster,
            fresh_database(server, TEMPLATE) as database,
        ):
            place = folder / f"{number}-recorder"
            recorded = Recorded(cluster, database, place)
            await recorded.grant()
            probes, first = await outages(cluster, recorded, seconds=seconds)
        restarts += probes.restarts
        print(
            f"schedule {number + 1}: {probes.restarts} restarts in four"
            f" outages of {seconds:g} s; alive after {first:.1f} s",
            flush=True,
        )
    return restarts


if __name__ == "__main__":
    length = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    sys.exit(_run(length, count))
