"""Pages over HTTP, beside PostGraphile on plain views of the same log.

Both are asked for the same rows and columns in turns, by as many clients, so
that other load on the machine affects both. PostGraphile has no verdicts:
incidents are compared with its list of boots, the nearest thing that a view
can show.
"""

import asyncio
import fcntl
import hashlib
import json
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import aiohttp

from bench.measuring import Number, say
from bench.served import served
from bench.two_logs import two_logs
from tests.api.auditing import NODE, NPM
from tests.cluster.binaries import cache

__all__ = ["bench"]

FOLDER = Path(__file__).with_name("postgraphile")
DOCUMENTS = 20_000
CLIENTS = 4
SECONDS = 3.0

OURS = {
    "one entry": """{ entries(log: 1, first: 1) {
      edges { node { name } } } }""",
    "100 entries of 13 columns": """{ entries(log: 1, first: 100) { nodes {
      name position source resource operation
      object { kind namespace name uid } resourceVersion node
      reason occurredAt observedAt recordedAt } } }""",
    "100 facts of 9 columns": """{ facts(log: 1, first: 100) { nodes {
      entry index kind node at actor observedAt object { kind name } } } }""",
    "incidents": """{ incidents(log: 2) { nodes {
      id happened cause sentence nodes from to } } }""",
}
THEIRS = {
    "one entry": """{ allEntries(condition: {log: 1}, orderBy: POSITION_ASC,
      first: 1) { edges { node { entry } } } }""",
    "100 entries of 13 columns": """{ allEntries(condition: {log: 1},
      orderBy: POSITION_ASC, first: 100) { nodes {
      entry position source resource operation kind namespace name uid
      resourceVersion node reason occurredAt observedAt recordedAt } } }""",
    "100 facts of 9 columns": """{ allFacts(condition: {log: 1},
      orderBy: POSITION_ASC, first: 100) { nodes {
      entry index fact node at actor observedAt kind name } } }""",
    "incidents": """{ allBoots(condition: {log: 2, isFirst: false},
      orderBy: AT_ASC) { nodes { entry node at oldBootId bootId } } }""",
}

Ask = Callable[[str], Awaitable[bytes]]


def bench(runs: int) -> list[Number]:
    return asyncio.run(_measured(runs))


async def _measured(runs: int) -> list[Number]:
    async with (
        two_logs(DOCUMENTS) as (folder, reader),
        served(folder) as ours,
        _postgraphile(reader) as theirs,
    ):
        return [
            number
            for name in OURS
            for number in await _in_turns(name, (ours.post, theirs), runs)
        ]


async def _in_turns(
    name: str, sides: tuple[Ask, Ask], runs: int
) -> list[Number]:
    queries = OURS[name], THEIRS[name]
    rates: tuple[list[float], list[float]] = ([], [])
    for ask, query in zip(sides, queries, strict=True):
        body = await ask(query)
        assert b'"errors"' not in body, body[:500]
    for _ in range(runs):
        for ask, query, found in zip(sides, queries, rates, strict=True):
            found.append(await _rate(ask, query))
    ratios = [one / other for one, other in zip(*rates, strict=True)]
    say(f"  {name}: {rates[0]} beside {rates[1]} a second")
    return [
        Number(name=f"{name}: requests", unit="1/s", values=rates[0]),
        Number(name="  of PostGraphile", unit="1/s", values=rates[1]),
        Number(name="  ratio", unit="", values=ratios, target=">= 2"),
    ]


async def _rate(ask: Ask, query: str) -> float:
    count, began = 0, time.perf_counter()

    async def client() -> None:
        nonlocal count
        while time.perf_counter() - began < SECONDS:
            await ask(query)
            count += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(CLIENTS):
            group.create_task(client())
    return count / (time.perf_counter() - began)


@asynccontextmanager
async def _postgraphile(dsn: str) -> AsyncIterator[Ask]:
    process = await asyncio.create_subprocess_exec(
        str(NODE), "serve.mjs", json.dumps(_connection(dsn)),
        cwd=await asyncio.to_thread(_installed),
        env={"NODE_ENV": "production"},
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        address = (await process.stdout.readline()).decode().strip()
        async with aiohttp.ClientSession() as session:

            async def ask(query: str) -> bytes:
                async with session.post(
                    address + "graphql", json={"query": query}
                ) as response:
                    return await response.read()

            yield ask
    finally:
        process.terminate()
        await process.wait()


def _connection(dsn: str) -> dict[str, object]:
    parts = urlsplit(dsn)
    more = {name: value[0] for name, value in parse_qs(parts.query).items()}
    return {
        "host": more.get("host") or parts.hostname,
        "port": int(more.get("port") or parts.port or 5432),
        "user": parts.username,
        "password": parts.password,
        "database": parts.path.lstrip("/"),
    }


def _installed() -> Path:
    """Return the folder with PostGraphile; install it if it is not there."""
    lock = (FOLDER / "package-lock.json").read_bytes()
    digest = hashlib.sha256(lock + (FOLDER / "serve.mjs").read_bytes())
    folder = cache() / f"postgraphile-{digest.hexdigest()[:16]}"
    with (cache() / "postgraphile.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(FOLDER, folder)
            subprocess.run(
                [NODE, NPM, "ci", "--ignore-scripts", "--no-audit",
                 "--no-fund", "--loglevel=error"],
                cwd=folder,
                check=True,
            )  # fmt: skip
            (folder / "done").touch()
    return folder
