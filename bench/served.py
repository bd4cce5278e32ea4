"""A server of the API in a process of its own, to be measured."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

__all__ = ["Served", "served"]


@dataclass(slots=True)
class Served:
    """A server in a process of its own."""

    address: str
    pid: int
    session: aiohttp.ClientSession

    async def ask(self, query: str, **variables: Any) -> bytes:
        body = await self.post(query, **variables)
        assert b'"errors"' not in body, body[:500]
        return body

    async def post(self, query: str, **variables: Any) -> bytes:
        async with self.session.post(
            self.address + "graphql",
            json={"query": query, "variables": variables},
        ) as response:
            return await response.read()

    @property
    def mebibytes(self) -> float:
        """Its memory that is its own."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(x for x in status.splitlines() if x.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Served]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "recorder", "serve", "--listen", "127.0.0.1:0",
        env={**os.environ, "RECORDER_DATA_DIR": str(folder)},
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = (await process.stdout.readline()).decode().strip()
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            yield Served(address, process.pid, session)
    finally:
        process.terminate()
        await process.wait()
