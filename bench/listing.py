"""The first list of a large cluster: how much memory it takes.

The server is a process of its own, and the recorder is the command that
people run. Its memory is the high-water mark that the kernel keeps.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import asyncpg

from bench import listing_server
from bench.measuring import Number, say, server_folder
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.cluster.waiting import until

__all__ = ["bench", "process", "recording"]

PODS = 100_000
SECONDS_MAX = 300
SIZE = "select coalesce(max(size), 0) from recorder.log_head"


def bench(runs: int) -> list[Number]:
    del runs  # memory hangs on no clock, and a run takes a minute
    with server_folder() as folder:
        seconds, peak, first = asyncio.run(_listed(folder))
    return [
        Number(
            name=f"first list of {PODS:,} pods, memory at most",
            unit="MiB",
            values=[peak],
            target="<= 350",
        ),
        Number(name="  memory before it", unit="MiB", values=[first]),
        Number(
            name="  to the last committed entry",
            unit="s",
            values=[seconds],
        ),
    ]


async def _listed(folder: Path) -> tuple[float, float, float]:
    module = "bench.listing_server"
    async with open_database(Settings(data_dir=folder)) as database:
        with process("-m", module, str(PODS), str(folder)):
            kubeconfig = folder / listing_server.KUBECONFIG
            await until(
                lambda: asyncio.to_thread(kubeconfig.exists),
                "the server listens",
            )
            reader = await asyncpg.connect(database.dsn("reader"))
            with recording(folder, kubeconfig) as pid:
                began = time.monotonic()
                first = 0.0
                size = 0
                while size <= PODS:
                    await asyncio.sleep(0.2)
                    size = await reader.fetchval(SIZE)
                    if not size:
                        first = high_water_mib(pid)
                    assert time.monotonic() - began < SECONDS_MAX, size
                seconds = time.monotonic() - began
                await asyncio.sleep(3)
                peak = high_water_mib(pid)
            await reader.close()
    say(f"  {size:,} entries in {seconds:.0f} s, {peak:.0f} MiB")
    return seconds, peak, first


@contextmanager
def recording(
    folder: Path,
    kubeconfig: Path,
    *,
    reach_back: str = "10s",
    **settings: str,
) -> Iterator[int]:
    """Run ``recorder record``; yield its process."""
    environment = {
        "KUBECONFIG": str(kubeconfig),
        "RECORDER_DATA_DIR": str(folder),
        "RECORDER_HEALTH_LISTEN": "",
        "RECORDER_REACH_BACK": reach_back,
        **settings,
    }
    with process("-m", "recorder", "record", environment=environment) as pid:
        yield pid


@contextmanager
def process(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[int]:
    """Run a Python of ours; end it with SIGTERM."""
    started = subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
    )
    try:
        yield started.pid
    finally:
        started.send_signal(signal.SIGTERM)
        started.wait(30)


def high_water_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None, "the process lives"
    return int(found[1]) / 1024
