"""Claims at a steady rate, with kills, and beside the watch.

Ten thousand claims at 500/s while the recorder, its sessions in PostgreSQL and
the sender are killed in turn: each must be in the log once, and none lost that
was accepted. Then changes at 200/s on a real API server, with and without as
many claims beside them, in turns: how long each takes until its row can be
selected.

``python -m bench.claims URL TOKEN CA FILE COUNT RATE`` is the sender: it goes
on behind the last claim that FILE names as accepted.
"""

import asyncio
import socket
import ssl
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import asyncpg
import orjson

from bench.latency import Reader, p99, written
from bench.listing import recording
from bench.measuring import Number, say, server_folder
from bench.patching import prepare
from recorder.keeping.tokens import TokenFile
from recorder.model.entry import Operation
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.cluster.certificates import Authority
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.waiting import until
from tests.support.read_log import read_log

__all__ = ["bench"]

CLAIMS = 10_000
RATE = 500
BATCH = 100
"""Of one request, which waits for a commit."""

CHANGES_RATE = 200
SECONDS = 5
TURNS = 8
"""Short ones, without claims and with them, so that other load of the machine
is in both."""
WARM_UP_SECONDS = 3
KILLS = ("recorder", "sessions", "sender") * 2
FOREVER = 1_000_000
ACCEPTED = 202
END_SESSIONS = """
    select pg_terminate_backend(pid) from pg_stat_activity
    where usename = current_user and pid <> pg_backend_pid()
"""


def bench(runs: int) -> list[Number]:
    with server_folder() as data, server_folder() as folder:
        losses = asyncio.run(_killed(data, folder))
    with server_folder() as data, server_folder() as folder:
        alone, beside = asyncio.run(_beside(data, folder, runs))
    return [
        *losses,
        *(
            Number(
                name=f"{CHANGES_RATE} changes/s, {name}",
                unit=unit,
                values=values,
                target=target,
            )
            for name, unit, values, target in (
                ("p99 until selected", "ms", alone, ""),
                (f"beside {RATE} claims/s, relative", "", beside, "<= 1.2"),
            )
        ),
    ]


# With kills.


async def _killed(data: Path, folder: Path) -> list[Number]:
    token = TokenFile(folder / "senders").add("a", claims=("*", "*"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    noted = folder / "accepted"
    async with open_database(Settings(data_dir=data)) as database:
        words_of_recorder = (
            database.dsn("writer"),
            str(folder / "senders"),
            str(port),
        )
        recorder = await _start("tests.claims.posting", *words_of_recorder)
        words = (f"http://127.0.0.1:{port}", token, "", str(noted))
        rate = (str(CLAIMS), str(RATE))
        sender = await _start("bench.claims", *words, *rate)
        began = time.monotonic()
        for number, what in enumerate(KILLS, 1):
            due = CLAIMS * number // (len(KILLS) + 1)
            await _until_accepted(noted, due)
            if what == "sessions":
                await _end_sessions(words_of_recorder[0])
            elif what == "recorder":
                await _end(recorder)
                recorder = await _start(
                    "tests.claims.posting",
                    *(
                        database.dsn("writer"),
                        str(folder / "senders"),
                        str(port),
                    ),
                )
            else:
                await _end(sender)
                sender = await _start("bench.claims", *words, *rate)
            say(f"  killed the {what} after {due} claims")
        await _until_accepted(noted, CLAIMS)
        seconds = time.monotonic() - began
        await _end(recorder)
        await sender.wait()
        log = await read_log(database.dsn("reader"))
    entered = Counter(
        orjson.loads(draft.raw)["id"]
        for _, draft in log.entries
        if draft.operation is Operation.CLOUDEVENT
    )
    lost = sum(str(number) not in entered for number in range(CLAIMS))
    doubled = sum(count > 1 for count in entered.values())
    name = f"{CLAIMS:,} claims at {RATE}/s with {len(KILLS)} kills"
    return [
        Number(name=f"{name}: lost", unit="", values=[lost], target="0"),
        Number(name=f"{name}: twice", unit="", values=[doubled], target="0"),
        Number(name=f"{name}: all accepted", unit="s", values=[seconds]),
    ]


async def _start(module: str, *words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *words
    )


async def _end(process: asyncio.subprocess.Process) -> None:
    process.kill()
    await process.wait()


async def _end_sessions(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(END_SESSIONS)
    await connection.close()


async def _until_accepted(noted: Path, count: int) -> None:
    async def done() -> bool:
        return _accepted(noted) >= count

    await until(done, f"{count} claims are accepted", seconds=600, every=0.02)


def _accepted(noted: Path) -> int:
    """Return how many claims a sender was answered with success."""
    lines = noted.read_text().split("\n")[:-1] if noted.exists() else []
    return int(lines[-1]) if lines else 0


# Beside the watch.


async def _beside(
    data: Path, folder: Path, runs: int
) -> tuple[Sequence[float], Sequence[float]]:
    authority = Authority(folder / "certificates")
    pair = authority.server()
    token = TokenFile(folder / "senders").add("a", claims=("*", "*"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    options = Options(
        controller_manager=False, scheduler=False, json_storage=False
    )
    door = {
        "RECORDER_AUDIT_LISTEN": address,
        "RECORDER_AUDIT_CERTIFICATE": str(pair.certificate),
        "RECORDER_AUDIT_KEY": str(pair.key),
        "RECORDER_INGEST_TOKEN_FILE": str(folder / "senders"),
    }
    alone, beside = list[float](), list[float]()
    async with (
        Cluster.start(folder / "cluster", options) as cluster,
        open_database(Settings(data_dir=data)) as database,
    ):
        await prepare(cluster.api)
        with recording(data, cluster.kubeconfig, **door):
            async with Reader.listening(database.dsn("reader")) as reader:
                await until(reader.has_rows, "the recorder records")
                await written(cluster, WARM_UP_SECONDS, CHANGES_RATE)
                words = (f"https://{address}", token, authority.certificate)
                for run in range(runs):
                    delays = list[float](), list[float]()
                    for turn in range(TURNS):
                        delays[0].extend(await _delays(cluster, reader))
                        noted = folder / f"accepted-{run}-{turn}"
                        async with _sending(*map(str, (*words, noted))):
                            await _until_accepted(noted, RATE)
                            delays[1].extend(await _delays(cluster, reader))
                    alone.append(p99(delays[0]) * 1000)
                    beside.append(p99(delays[1]) * 1000 / alone[-1])
                    say(f"  p99 {alone[-1]:.0f} ms, beside x {beside[-1]:.2f}")
    return alone, beside


@asynccontextmanager
async def _sending(*words: str) -> AsyncIterator[None]:
    rate = (str(FOREVER), str(RATE))
    sender = await _start("bench.claims", *words, *rate)
    try:
        yield
    finally:
        await _end(sender)


async def _delays(cluster: Cluster, reader: Reader) -> list[float]:
    """Return after how many seconds changes of a turn can be selected."""
    changes = await written(cluster, SECONDS, CHANGES_RATE)
    await asyncio.sleep(1)
    return [reader.seen[v] - at for v, at in changes.items()]


# The sender.


async def _send(
    address: str, token: str, ca: str, noted: Path, count: int, rate: float
) -> None:
    trust = ssl.create_default_context(cafile=ca) if ca else None
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/cloudevents-batch+json",
    }
    run = noted.name
    first = _accepted(noted)
    began = time.monotonic()
    async with aiohttp.ClientSession(headers=headers) as session:
        for number in range(first, count, BATCH):
            due = began + (number - first) / rate
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            body = orjson.dumps(
                [_event(run, one) for one in range(number, number + BATCH)]
            )
            while True:
                try:
                    async with session.post(
                        f"{address}/ingest", data=body, ssl=trust or True
                    ) as answer:
                        if answer.status == ACCEPTED:
                            break
                except (aiohttp.ClientError, OSError):
                    pass
                await asyncio.sleep(0.05)
            with noted.open("a") as file:
                file.write(f"{number + BATCH}\n")


def _event(run: str, number: int) -> dict[str, object]:
    return {
        "specversion": "1.0",
        "id": str(number),
        "source": f"pdu/{run}",
        "type": "machine.power",
        "subject": f"node/gpu-{number % 1000}",
        "time": "2026-11-26T03:00:00Z",
        "data": {"power": "off", "outlet": number % 24},
    }


if __name__ == "__main__":
    url, secret, authority, file, total, per_second = sys.argv[1:]
    asyncio.run(
        _send(
            url,
            secret,
            authority,
            Path(file),
            int(total),
            float(per_second),
        )
    )
