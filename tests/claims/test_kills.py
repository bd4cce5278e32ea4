"""Claims while the recorder and its sessions in PostgreSQL are killed."""

import asyncio
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import orjson
import pytest

from recorder.keeping.tokens import TokenFile
from recorder.model.entry import Operation
from tests.claims.posting import an_event, post
from tests.support.postgres import Database, connected
from tests.support.read_log import read_log

CLAIMS = 300
SENDERS = 6
KILLED_AT = {60: "recorder", 120: "sessions", 200: "both"}
"""What is killed, by how many claims were accepted before."""

END_SESSIONS = """
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
"""

pytestmark = pytest.mark.timeout(180)


class Killed:
    """A recorder that is started again whenever it was killed."""

    def __init__(self, database: Database, tokens: Path, port: int) -> None:
        self._database = database
        self._words = (database.dsn("writer"), str(tokens), str(port))
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.claims.posting", *self._words
        )

    async def kill(self, what: str) -> None:
        if what in {"sessions", "both"}:
            async with connected(self._database.superuser_dsn()) as owner:
                await owner.execute(END_SESSIONS)
        if what in {"recorder", "both"}:
            await self.end()
            await self.start()

    async def end(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()


@asynccontextmanager
async def killed(
    database: Database, folder: Path
) -> AsyncIterator[tuple[Killed, str, str]]:
    """Yield the recorder, its address, and a token for it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    token = TokenFile(folder / "senders").add("pdu", claims=("*", "*"))
    one = Killed(database, folder / "senders", port)
    await one.start()
    try:
        yield one, f"http://127.0.0.1:{port}", token
    finally:
        await one.end()


async def test_each_claim_is_entered_once_and_none_is_lost(
    any_database: Database, tmp_path: Path
) -> None:
    database = any_database
    accepted: list[str] = []
    waiting = iter(range(CLAIMS))

    async with (
        killed(database, tmp_path) as (recorder, address, token),
        aiohttp.ClientSession() as session,
    ):

        async def send() -> None:
            for number in waiting:
                while True:
                    try:
                        status, says = await post(
                            session, address, token, an_event(number)
                        )
                    except (aiohttp.ClientError, OSError):
                        status, says = 0, ""
                    if status == 202:
                        break
                    assert status in {0, 429, 503}, says
                    await asyncio.sleep(0.05)
                accepted.append(str(number))
                what = KILLED_AT.get(len(accepted))
                if what is not None:
                    await recorder.kill(what)

        async with asyncio.TaskGroup() as group:
            for _ in range(SENDERS):
                group.create_task(send())

    log = await read_log(database.dsn("reader"))
    entered = Counter(
        orjson.loads(draft.raw)["id"]
        for _, draft in log.entries
        if draft.operation is Operation.CLOUDEVENT
    )
    assert entered == Counter(accepted)
    assert len(entered) == CLAIMS
