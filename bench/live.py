"""A real API server that is being recorded, and a load on it.

The parts are what people run: the API server with its usual storage, the
embedded PostgreSQL with fsync, ``recorder record`` in a process of its own.
The writer is another process, and the wait for rows uses the notifications
that every commit sends, so that it costs nothing.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from bench import writing
from bench.listing import recording
from bench.measuring import server_folder
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.waiting import until

__all__ = ["CHANNEL", "Live", "Written", "live_cluster", "watched_log"]

CHANNEL = "recorder"
LIVE = """
    select count(*) filter (where state = 'live') = count(*) and count(*) > 10
    from recorder.resume_point where source = 'watch'
"""
SIZE = "select coalesce(max(size), 0) from recorder.log_head"
VERSIONS = """
    select version from recorder.entry
    where log_id = 1 and position > $1 and version is not null
"""


@dataclass(slots=True)
class LogSize:
    """The size of the log, from its notifications."""

    entries: int = 0
    at: float = 0.0
    """By the steady clock, when the notification came."""

    _notified: asyncio.Event = field(default_factory=asyncio.Event)

    def notify(self, *notification: object) -> None:
        """Take a notification of asyncpg's."""
        self.at = time.monotonic()
        self.entries = int(str(notification[-1]).partition(":")[2])
        self._notified.set()

    async def reach(self, entries: int, *, seconds: float = 120) -> float:
        """Wait for a size; return when its notification came."""
        async with asyncio.timeout(seconds):
            while self.entries < entries:
                self._notified.clear()
                await self._notified.wait()
        return self.at


@asynccontextmanager
async def watched_log(
    dsn: str,
) -> AsyncIterator[tuple[asyncpg.Connection, LogSize]]:
    """Connect, and get notified of every commit."""
    connection = await asyncpg.connect(dsn)
    size = LogSize()
    await connection.add_listener(CHANNEL, size.notify)
    try:
        yield connection, size
    finally:
        await connection.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The result of one load."""

    changes: int
    seconds: float
    """From the first answer to the last."""

    delay: float
    """Seconds from the last answer to the commit of the last row."""

    after: int
    """Size of the log before the load."""

    versions: Sequence[int]
    """Those in the responses, in order."""


@dataclass(slots=True, kw_only=True)
class Live:
    """A cluster and its log."""

    cluster: Cluster
    data: Path
    """The folder of the embedded server."""

    recorder: int
    """The process."""

    connection: asyncpg.Connection
    size: LogSize
    loads: int = 0

    async def write(self, changes: int, *, rate: float = 0.0) -> Written:
        """Run the writer, and wait until all of it is committed."""
        self.loads += 1
        before = await self.connection.fetchval(SIZE)
        answers = await answers_of_writer(
            self.cluster.kubeconfig, changes, rate, f"load-{self.loads}"
        )
        answered = [at for _, at in answers]
        arrived = await self.size.reach(before + changes)
        return Written(
            changes=changes,
            seconds=max(answered) - min(answered),
            delay=arrived - max(answered),
            after=before,
            versions=sorted(version for version, _ in answers),
        )

    async def check(self, written: Written) -> None:
        """Check that every change is a row, and that there is no other."""
        rows = await self.connection.fetch(VERSIONS, written.after)
        versions = sorted(row["version"] for row in rows)
        assert versions == written.versions, "every change, once"


async def answers_of_writer(
    kubeconfig: Path, changes: int, rate: float, prefix: str
) -> list[tuple[int, float]]:
    """Run the writer; return the version and the time of each answer."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.writing", str(kubeconfig)),
        *(str(changes), f"--rate={rate}", f"--prefix={prefix}"),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, "the writer wrote"
    lines = [line.split() for line in out.decode().splitlines()]
    return [(int(version), float(at)) for version, at in lines]


@asynccontextmanager
async def live_cluster() -> AsyncIterator[Live]:
    """Start everything, and wait until every stream is live."""
    options = Options(
        controller_manager=False, scheduler=False, json_storage=False
    )
    with server_folder() as data, server_folder() as folder:
        async with (
            Cluster.start(folder / "cluster", options) as cluster,
            open_database(Settings(data_dir=data)) as database,
            watched_log(database.dsn("reader")) as (connection, size),
        ):
            await writing.prepare(cluster.api)
            with recording(data, cluster.kubeconfig) as pid:
                await until(
                    lambda: connection.fetchval(LIVE),
                    "every stream is live",
                    seconds=60,
                )
                yield Live(
                    cluster=cluster,
                    data=data,
                    recorder=pid,
                    connection=connection,
                    size=size,
                )
