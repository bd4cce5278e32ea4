"""How soon a standby takes over when the writer dies, or hangs.

Two recorders, one PostgreSQL 15, a steady load. The writer gets SIGKILL, or
SIGSTOP, which leaves its connections open; the seconds are those until the
other has committed entries of its own. Afterwards every change that the API
server answered must be in the log once, whatever the first held, and one that
hung must not write when it continues.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import asyncpg

from bench import writing
from bench.live import LIVE, SIZE, VERSIONS, answers_of_writer
from bench.measuring import Number, say, server_folder
from recorder.store.engine import make_engine
from recorder.store.schema import migrate
from recorder.wiring.database import roles_sql
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.waiting import until
from tests.support.postgres import (
    Database,
    DatabaseServer,
    fresh_database,
    start_debian,
)

__all__ = ["bench"]

RATE = 200.0
CHANGES = 4_000
BEFORE_SECONDS = 3.0
"""Of the load, before the signal."""

TRIES = 3
"""In every run of the benchmark."""

HEAD = "select holder, term from recorder.log_head where log_id = 1"
WENT_ON = """
    select exists (select from recorder.batch where log_id = 1 and term > $1)
"""
SIGNALS = (signal.SIGKILL, signal.SIGSTOP)


def bench(runs: int) -> list[Number]:
    with start_debian(roles_sql()) as server:
        say(f"  PostgreSQL {server.version}")
        seconds, lost = asyncio.run(_measured(server, runs * TRIES))
    return [
        *(
            Number(
                name=f"takeover after {number.name}",
                unit="s",
                values=values,
                best="max",
                target="<= 10",
            )
            for number, values in seconds.items()
        ),
        Number(
            name="  entries lost",
            unit="entries",
            values=lost,
            best="max",
            target="0",
        ),
    ]


async def _measured(
    server: DatabaseServer, tries: int
) -> tuple[dict[signal.Signals, list[float]], list[float]]:
    seconds: dict[signal.Signals, list[float]] = {s: [] for s in SIGNALS}
    lost: list[float] = []
    with server_folder() as folder:
        async with _pair(server, folder) as pair:
            for turn in range(tries):
                for number in SIGNALS:
                    took, missing = await pair.try_once(number, f"t{turn}")
                    say(f"  {number.name}: {took:.2f} s, {missing} lost")
                    seconds[number].append(took)
                    lost.append(missing)
    return seconds, lost


@asynccontextmanager
async def _pair(
    server: DatabaseServer, folder: Path
) -> AsyncIterator["_Pair"]:
    options = Options(
        controller_manager=False, scheduler=False, json_storage=False
    )
    async with (
        Cluster.start(folder / "cluster", options) as cluster,
        fresh_database(server) as database,
    ):
        await _migrated(database)
        await writing.prepare(cluster.api)
        reader = await asyncpg.connect(database.dsn("reader"))
        with ExitStack() as stack:
            pair = _Pair(cluster, database, reader, folder, stack)
            pair.start()
            await until(
                lambda: reader.fetchval(LIVE), "one records", seconds=60
            )
            pair.start()
            yield pair
        await reader.close()


async def _migrated(database: Database) -> None:
    engine = make_engine(database.dsn("owner"))
    try:
        await migrate(engine)
    finally:
        await engine.dispose()


class _Pair:
    """Two recorders of one cluster: who holds the lease writes."""

    def __init__(
        self,
        cluster: Cluster,
        database: Database,
        reader: asyncpg.Connection,
        folder: Path,
        stack: ExitStack,
    ) -> None:
        self._cluster = cluster
        self._database = database
        self._reader = reader
        self._folder = folder
        self._stack = stack
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start one; without the lease it stands by."""
        started = subprocess.Popen(
            [sys.executable, "-m", "recorder", "record"],
            env={
                **os.environ,
                "KUBECONFIG": str(self._cluster.kubeconfig),
                "RECORDER_DATABASE_URL": self._database.dsn("writer"),
                "RECORDER_DATA_DIR": str(self._folder / "data"),
                "RECORDER_HEALTH_LISTEN": "",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._running[started.pid] = started
        self._stack.callback(started.wait, 30)
        self._stack.callback(started.kill)

    async def try_once(
        self, number: signal.Signals, name: str
    ) -> tuple[float, int]:
        """Signal the writer; return the seconds, and how much was lost."""
        size = await self._reader.fetchval(SIZE)
        async with asyncio.TaskGroup() as group:
            load = group.create_task(
                answers_of_writer(
                    self._cluster.kubeconfig,
                    CHANGES,
                    RATE,
                    f"{name}-{number.name.lower()}",
                )
            )
            await asyncio.sleep(BEFORE_SECONDS)
            holder, term = await self._reader.fetchrow(HEAD)
            pid = int(holder.split("/")[1])
            began = time.monotonic()
            self._running[pid].send_signal(number)
            await until(self._after(term), "the other goes on", every=0.01)
            seconds = time.monotonic() - began
            if number is signal.SIGSTOP:
                self._running[pid].send_signal(signal.SIGCONT)
            else:
                self.start()
        return seconds, await self._lost(load.result(), size)

    def _after(self, term: int) -> Callable[[], Awaitable[bool]]:
        async def went_on() -> bool:
            return bool(await self._reader.fetchval(WENT_ON, term))

        return went_on

    async def _lost(self, answers: list[tuple[int, float]], size: int) -> int:
        """Count the changes without a row; there is never another row."""
        wanted = sorted(version for version, _ in answers)
        there: list[int] = []

        async def complete() -> bool:
            rows = await self._reader.fetch(VERSIONS, size)
            there[:] = sorted(row["version"] for row in rows)
            return len(there) >= len(wanted)

        try:
            await until(complete, "all is there", seconds=20, every=0.5)
        except TimeoutError as error:
            say(f"  {error}")
        assert len(set(there)) == len(there), "nothing twice"
        assert set(there) <= set(wanted), "nothing that never was"
        return len(wanted) - len(there)
