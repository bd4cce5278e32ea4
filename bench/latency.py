"""From the API server's response to a row that can be selected.

A real API server and etcd, a writer in a process of its own at a steady rate,
the recorder as people run it, and a reader that selects new rows whenever it
is notified. The delay of a change is the time from the response to its writer
to the end of the first query that showed its row.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from bench.listing import recording
from bench.measuring import Number, say, server_folder
from bench.patching import prepare
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.waiting import until

__all__ = ["Reader", "bench", "p99", "written"]

RATE = 500
SECONDS = 20
WARM_UP_SECONDS = 3
CHANNEL = "recorder"
ROWS = """
    select position, version from recorder.entry
    where log_id = 1 and position > $1 order by position
"""


def bench(runs: int) -> list[Number]:
    with server_folder() as data, server_folder() as folder:
        delays = asyncio.run(_measured(data, folder, runs))
    return [
        Number(
            name=f"API server to row at {RATE} changes/s, {name}",
            unit="ms",
            values=[at(run) * 1000 for run in delays],
            target=target,
        )
        for name, at, target in (
            ("p50", statistics.median, ""),
            ("p99", p99, "<= 250"),
            ("longest", max, ""),
        )
    ]


def p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


async def _measured(data: Path, folder: Path, runs: int) -> list[list[float]]:
    options = Options(
        controller_manager=False, scheduler=False, json_storage=False
    )
    delays = []
    async with (
        Cluster.start(folder / "cluster", options) as cluster,
        open_database(Settings(data_dir=data)) as database,
    ):
        await prepare(cluster.api)
        with recording(data, cluster.kubeconfig):
            dsn = database.dsn("reader")
            async with Reader.listening(dsn) as reader:
                await until(reader.has_rows, "the recorder records")
                await written(cluster, WARM_UP_SECONDS, RATE)
                for _ in range(runs):
                    changes = await written(cluster, SECONDS, RATE)
                    await asyncio.sleep(1)
                    run = [reader.seen[v] - at for v, at in changes.items()]
                    say(f"  {len(run)} changes, p99 {p99(run) * 1000:.0f} ms")
                    delays.append(run)
    return delays


async def written(
    cluster: Cluster, seconds: float, rate: float
) -> dict[int, float]:
    """Run the writer; return when each version was answered."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.patching",
        str(cluster.kubeconfig),
        str(rate),
        str(seconds),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, "the writer wrote"
    lines = [line.split() for line in out.decode().splitlines()]
    return {int(version): float(at) for version, at in lines}


class Reader:
    """Selects new rows whenever it is notified."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._notified = asyncio.Event()
        self._position = 0
        self.seen: dict[int, float] = {}
        """When each version was first selected."""

    @classmethod
    @asynccontextmanager
    async def listening(cls, dsn: str) -> AsyncIterator["Reader"]:
        connection = await asyncpg.connect(dsn)
        reader = cls(connection)
        await connection.add_listener(
            CHANNEL, lambda *_: reader._notified.set()
        )
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(reader._read())
            yield reader
            reading.cancel()
        await connection.close()

    async def has_rows(self) -> bool:
        return self._position > 0

    async def _read(self) -> None:
        while True:
            await self._notified.wait()
            self._notified.clear()
            rows = await self._connection.fetch(ROWS, self._position)
            now = time.monotonic()
            for position, version in rows:
                self._position = position
                if version is not None:
                    self.seen[version] = now
