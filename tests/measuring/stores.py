"""Prometheus itself, with samples of the past."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from tests.notification.test_alertmanager import until_ready
from tests.support.builders import START
from tests.support.programs import found

__all__ = ["Line", "STEP", "described", "prometheus_with"]

STEP = 15
"""Seconds between scrapes."""

Line = tuple[str, Mapping[str, str], Iterable[tuple[float, float]]]
"""A series: its name, its labels, and its samples, each with the seconds since
the start of the story."""


def described(lines: Iterable[Line]) -> str:
    """Return series in the text format of OpenMetrics."""
    text = []
    by_name: dict[str, list[Line]] = {}
    for line in lines:
        by_name.setdefault(line[0], []).append(line)
    for name, series in by_name.items():
        text.append(f"# TYPE {name} gauge")
        for _, labels, samples in series:
            written = ",".join(f'{k}="{v}"' for k, v in labels.items())
            text += [
                f"{name}{{{written}}} {value} {START.timestamp() + seconds}"
                for seconds, value in samples
            ]
    return "\n".join([*text, "# EOF\n"])


@asynccontextmanager
async def prometheus_with(
    folder: Path, lines: Iterable[Line]
) -> AsyncIterator[str]:
    """Run it; yield its base URL."""
    samples, data = folder / "samples.txt", folder / "data"
    samples.write_text(described(lines))
    words = ("tsdb", "create-blocks-from", "openmetrics", "--quiet")
    loading = await asyncio.create_subprocess_exec(
        *(found("promtool"), *words, samples, data)
    )
    assert await loading.wait() == 0
    (folder / "prometheus.yml").write_text("")
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        found("prometheus"),
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={data}",
        "--storage.tsdb.retention.time=50y",
        f"--web.listen-address=127.0.0.1:{port}",
        stderr=asyncio.subprocess.DEVNULL,
    )
    base = f"http://127.0.0.1:{port}"
    try:
        async with aiohttp.ClientSession() as session:
            await until_ready(session, base)
        yield base
    finally:
        process.kill()
        await process.wait()
