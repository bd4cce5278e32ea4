"""What every benchmark needs: a server of its own, its costs, several runs.

Processor time is shown beside wall time, because the machine may be shared: it
is the cost of a document, whatever else is running.
"""

import asyncio
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.memory import cold_read_ns
from recorder.model.settings import Settings
from recorder.wiring.database import open_database

__all__ = [
    "Number",
    "cpu_seconds",
    "machine",
    "percentiles",
    "postgres_cpu_seconds",
    "run_module",
    "say",
    "server_folder",
    "summary",
]

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One line of the table."""

    name: str
    unit: str
    values: Sequence[float]
    """Of each run."""

    target: str = ""
    best: str = "median"
    """How the runs become one: ``median``, ``max`` or ``min``."""

    @property
    def value(self) -> float:
        """The runs as one."""
        if self.best == "median":
            return statistics.median(self.values)
        return max(self.values) if self.best == "max" else min(self.values)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "median": statistics.median(self.values),
            "min": min(self.values),
            "max": max(self.values),
            "runs": len(self.values),
            "target": self.target,
        }


def percentiles(
    name: str, twentieths: Sequence[float], most: int
) -> list[Number]:
    """Return the middle and the slow end of times in milliseconds."""
    slow = [twentieths[18]]
    target = f"<= {most}"
    return [
        Number(name=f"{name}, p50", unit="ms", values=[twentieths[9]]),
        Number(name=f"{name}, p95", unit="ms", values=slow, target=target),
    ]


def say(text: str) -> None:
    """Print a progress message."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def server_folder() -> Iterator[Path]:
    """Yield a folder for an embedded server, which is deleted afterwards."""
    path = Path(tempfile.mkdtemp(prefix="recorder-bench-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def postgres_cpu_seconds(folder: Path) -> float:
    """Return the processor time of a server and of all its children so far."""
    pid = (folder / "postgres" / "postmaster.pid").read_text().split()[0]
    return cpu_seconds(int(pid))


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and its children so far."""
    return _ticks_of_all(str(pid)) / TICKS


def _ticks_of_all(pid: str) -> int:
    return _ticks(pid) + sum(map(_ticks_of_all, _children(pid)))


def _ticks(pid: str) -> int:
    """Return the time of a process and of the children that it outlived."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    fields = stat.rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


def _children(pid: str) -> list[str]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    try:
        return [child for task in tasks for child in task.read_text().split()]
    except OSError:
        return []


def run_module(module: str, *arguments: object) -> dict[str, Any]:
    """Run a module in a process of its own; return the JSON it prints."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        stdout=subprocess.PIPE,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def machine() -> dict[str, Any]:
    """Describe the machine of the measurements."""
    cpuinfo = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", cpuinfo)
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": model[1] if model else platform.processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(pages / 2**30),
        "python": platform.python_version(),
        "postgresql": asyncio.run(_postgres_version()),
        "kernel": platform.release(),
        "load": os.getloadavg()[0],
        "cold_read_ns": round(cold_read_ns()),
    }


async def _postgres_version() -> str:
    with server_folder() as folder:
        async with open_database(Settings(data_dir=folder)) as database:
            return database.says.removesuffix(f" in {folder}")


def summary(numbers: Sequence[Number], about: Mapping[str, Any]) -> str:
    """Write the table."""
    lines = [", ".join(f"{key} {value}" for key, value in about.items()), ""]
    width = max(len(number.name) for number in numbers)
    for number in numbers:
        low, high = min(number.values), max(number.values)
        lines.append(
            f"{number.name:{width}}  {number.value:>11,.4g} {number.unit:10}"
            f" {low:,.4g} to {high:,.4g} in {len(number.values)}"
            f"  {number.target}"
        )
    return "\n".join(lines)
