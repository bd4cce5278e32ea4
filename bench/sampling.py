"""The samples of a long run: one line of a table every few seconds.

Everything is read from outside: the kernel's account of the process, its own
metrics, the database, etcd's revision. The lag is the age of the oldest change
that the API server has answered and that is not committed, by the clock of its
writer.
"""

import asyncio
import re
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg

from bench.listing import process
from bench.measuring import say
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.cluster.cluster import Cluster

__all__ = ["Recorder", "Sample", "Answers", "sampled", "started", "table"]

STATE = """
    select (select coalesce(max(size), 0) from recorder.log_head) as entries,
      (select count(*) from recorder.object_head) as heads,
      pg_database_size(current_database()) as bytes
"""
PENDING = """
    select r.name, p.pending from recorder.resume_point p
    join recorder.resource r using (resource_id) where p.source = 'watch'
"""
QUEUE = re.compile(r"^recorder_queue_bytes (\S+)$", re.MULTILINE)
RSS = re.compile(r"VmRSS:\s+(\d+) kB")


@dataclass(slots=True)
class Answers:
    """The responses to what was written, until they are committed."""

    waiting: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    """Version and time of each answer, by resource."""

    answers: int = 0

    def note(self, resource: str, version: int) -> None:
        """Note a response."""
        self.answers += 1
        waiting = self.waiting.setdefault(resource, [])
        waiting.append((version, time.monotonic()))

    def lag(self, committed: dict[str, int]) -> float:
        """Return the age of the oldest answer that is not committed."""
        now = oldest = time.monotonic()
        for resource, waiting in self.waiting.items():
            newest = committed.get(resource, 0)
            left = [w for w in waiting if w[0] > newest]
            self.waiting[resource] = left
            oldest = min([oldest, *(at for _, at in left)])
        return now - oldest


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """A recorder that runs, and where to query its state."""

    pid: int
    metrics: str
    connection: asyncpg.Connection
    dsn: str
    tasks: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One line."""

    second: float
    phase: str
    writes: int
    """Revisions of etcd, renewals of Leases included."""

    answers: int
    """Of those, what the load wrote."""

    entries: int
    lag: float
    queue_bytes: int
    rss_mib: float
    files: int
    tasks: int
    heads: int
    database_mib: float


@asynccontextmanager
async def started(
    cluster: Cluster, data: Path, **settings: str
) -> AsyncIterator[Recorder]:
    """Start the embedded server and a recorder to observe."""
    tasks = data / "tasks"
    address = f"127.0.0.1:{cluster.ports.take()}"
    environment = {
        "KUBECONFIG": str(cluster.kubeconfig),
        "RECORDER_DATA_DIR": str(data),
        "RECORDER_HEALTH_LISTEN": address,
        **{f"RECORDER_{k.upper()}": v for k, v in settings.items()},
    }
    module = ("-m", "bench.counted", str(tasks), "record")
    async with open_database(Settings(data_dir=data)) as database:
        dsn = database.dsn("reader")
        connection = await asyncpg.connect(dsn)
        with process(*module, environment=environment) as pid:
            yield Recorder(
                pid=pid,
                metrics=f"http://{address}/metrics",
                connection=connection,
                dsn=dsn,
                tasks=tasks,
            )
        await connection.close()


@dataclass(slots=True)
class Series:
    """The lines so far, and the current phase of the load."""

    samples: list[Sample] = field(default_factory=list)
    phase: str = "start"


@asynccontextmanager
async def sampled(
    cluster: Cluster, recorder: Recorder, answers: Answers, *, every: float
) -> AsyncIterator[Series]:
    """Take a sample every so many seconds while entered."""
    series = Series()
    began = time.monotonic()

    async def take() -> None:
        say(_line(None))
        while True:
            sample = await _sample(cluster, watched, answers, began, series)
            series.samples.append(sample)
            say(_line(sample))
            await asyncio.sleep(every)

    # A connection carries one query at a time, and others query too.
    connection = await asyncpg.connect(recorder.dsn)
    watched = replace(recorder, connection=connection)
    async with asyncio.TaskGroup() as group:
        taking = group.create_task(take())
        yield series
        taking.cancel()
    await connection.close()


async def _sample(
    cluster: Cluster,
    recorder: Recorder,
    answers: Answers,
    began: float,
    series: Series,
) -> Sample:
    state = await recorder.connection.fetchrow(STATE)
    rows = await recorder.connection.fetch(PENDING)
    committed = {name: int(pending or 0) for name, pending in rows}
    return Sample(
        second=time.monotonic() - began,
        phase=series.phase,
        writes=await cluster.etcd_client.revision(),
        answers=answers.answers,
        entries=state["entries"],
        lag=answers.lag(committed),
        queue_bytes=await _queue_bytes(recorder.metrics),
        rss_mib=_rss_mib(recorder.pid),
        files=_open_files(recorder.pid),
        tasks=_tasks(recorder.tasks),
        heads=state["heads"],
        database_mib=state["bytes"] / 2**20,
    )


async def _queue_bytes(url: str) -> int:
    try:
        async with aiohttp.ClientSession() as session, session.get(url) as r:
            found = QUEUE.search(await r.text())
    except aiohttp.ClientError:
        return 0  # it does not listen yet
    return int(float(found[1])) if found else 0


def _rss_mib(pid: int) -> float:
    found = RSS.search(Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def _open_files(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def _tasks(file: Path) -> int:
    return int(file.read_text() or 0) if file.exists() else 0


def _line(sample: Sample | None) -> str:
    if sample is None:
        return (
            f"{'s':>6} {'phase':8} {'writes':>9} {'answers':>9}"
            f" {'entries':>9} {'lag s':>6} {'queue KiB':>9} {'RSS MiB':>8}"
            f" {'files':>5} {'tasks':>5} {'heads':>7} {'db MiB':>7}"
        )
    return (
        f"{sample.second:6.0f} {sample.phase:8} {sample.writes:9,}"
        f" {sample.answers:9,} {sample.entries:9,} {sample.lag:6.2f}"
        f" {sample.queue_bytes / 1024:9,.0f} {sample.rss_mib:8.1f}"
        f" {sample.files:5} {sample.tasks:5} {sample.heads:7,}"
        f" {sample.database_mib:7,.0f}"
    )


def table(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the lines, and their summary, for JSON."""
    lags = [sample.lag for sample in samples]
    half = samples[len(samples) // 2 :]
    return {
        "lag_seconds_median": statistics.median(lags),
        "lag_seconds_max": max(lags),
        "rss_mib_at_half": half[0].rss_mib,
        "rss_mib_at_end": samples[-1].rss_mib,
        "rss_mib_max": max(sample.rss_mib for sample in samples),
        "samples": [asdict(sample) for sample in samples],
    }
