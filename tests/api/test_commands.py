"""The commands about the served API: serve, open, token, and beside."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import aiohttp
import pytest

from recorder.cli import main
from recorder.model.settings import Settings
from recorder.wiring.beside import ServedEndedError, served_beside
from tests.api.serving import Client
from tests.cli.running import started
from tests.cluster.ports import Ports
from tests.cluster.waiting import until
from tests.support.postgres import Database
from tests.support.wire import Wire

SECONDS = 30
END_SECONDS = 10
QUERY = '{ why(node: "gpu-002", cluster: "crash") { node } }'


@asynccontextmanager
async def running(
    database: Database, *words: str, **environment: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Run `recorder serve`; yield it and the address that it prints."""
    url = database.dsn("reader")
    async with started("serve", *words, url=url, **environment) as process:
        assert process.stdout is not None
        async with asyncio.timeout(SECONDS):
            line = await process.stdout.readline()
        yield process, line.decode().strip()


@pytest.fixture
def ports() -> Iterator[Ports]:
    made = Ports()
    yield made
    made.give_back()


async def ended(process: asyncio.subprocess.Process) -> int:
    async with asyncio.timeout(END_SECONDS):
        return await process.wait()


@pytest.mark.parametrize("wanted", [signal.SIGTERM, signal.SIGINT])
async def test_it_serves_until_it_is_asked_to_stop(
    asked_database: Database, wanted: int, tmp_path: Path
) -> None:
    async with running(
        asked_database,
        "--listen",
        "127.0.0.1:0",
        RECORDER_DATA_DIR=str(tmp_path),
    ) as (process, address):
        async with aiohttp.ClientSession() as session:
            client = Client(address, session)
            assert (await client.ask(QUERY))["why"]["node"] == "gpu-002"
            follow = 'subscription { facts(cluster: "crash") { cursor } }'
            async with session.post(
                address + "graphql",
                json={"query": follow},
                headers={"Accept": "text/event-stream"},
            ) as response:
                await response.content.readuntil(b"next")
                process.send_signal(wanted)
                rest = await response.content.read()
                assert b"api.stopping" in rest
                assert rest.endswith(b"event: complete\ndata:\n\n")

        assert await ended(process) == 0
        assert not (tmp_path / "serve.address").exists()


async def test_an_address_that_is_taken_is_reported(
    asked_database: Database, tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        async with started(
            "serve",
            "--listen",
            listen,
            url=asked_database.dsn("reader"),
            RECORDER_DATA_DIR=str(tmp_path),
        ) as process:
            out, err = await process.communicate()

    assert process.returncode == 1
    assert out == b""
    assert f"cannot listen on {listen}".encode() in err
    assert b"--listen" in err


async def test_probes_are_answered_before_there_is_a_database(
    asked_database: Database, tmp_path: Path, ports: Ports
) -> None:
    """It waits, says for what but not where, and then serves."""
    listen = f"127.0.0.1:{ports.take()}"
    database = urlsplit(asked_database.dsn("reader"))
    place = dict(parse_qsl(database.query))
    there = Path(place["host"]) / f".s.PGSQL.{place['port']}"
    here = urlencode({**place, "host": str(tmp_path)})
    async with (
        started(
            "serve",
            "--listen",
            listen,
            url=urlunsplit(database._replace(query=here)),
            RECORDER_DATA_DIR=str(tmp_path),
        ) as process,
        aiohttp.ClientSession() as session,
    ):
        client = Client(f"http://{listen}/", session)

        async def ready() -> int:
            with suppress(aiohttp.ClientConnectionError):
                return (await client.request("GET", "readyz")).status
            return 0

        async def waits() -> bool:
            return await ready() == 503

        async def serves() -> bool:
            return await ready() == 200

        await until(waits, "it answers")
        alive = await client.request("GET", "healthz")
        says = await client.request("GET", "readyz")
        assert (alive.status, alive.body) == (200, b"ok\n")
        assert says.body == b"waiting: the database does not respond\n"
        refused = await client.post({"query": QUERY})
        assert (refused.status, refused.codes) == (503, ["api.waiting"])

        async with Wire(there).listening(tmp_path / there.name):
            await until(serves, "it serves")
            assert (await client.ask(QUERY))["why"]["node"] == "gpu-002"
            assert process.returncode is None


@pytest.mark.parametrize("listen", ["foo", "127.0.0.1", "127.0.0.1:70000"])
def test_an_address_that_is_none_is_wrong_usage(
    asked_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    listen: str,
) -> None:
    monkeypatch.setenv("RECORDER_DATABASE_URL", asked_database.dsn("reader"))
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))

    assert main._run(["serve", "--listen", listen]) == 2
    assert "write HOST:PORT" in capsys.readouterr().err


async def test_what_serves_beside_ends_with_who_began_it(
    asked_database: Database, tmp_path: Path
) -> None:
    settings = Settings(
        database_url=asked_database.dsn("reader"),
        data_dir=tmp_path,
        serve_listen="127.0.0.1:0",
    )
    async with served_beside(settings) as beside:
        address = await beside.address()
        async with aiohttp.ClientSession() as session:
            client = Client(address, session)
            assert (await client.ask(QUERY))["why"]["node"] == "gpu-002"
        assert beside._process.stdin is not None
        # As when the process that records is killed.
        beside._process.stdin.close()
        with pytest.raises(ServedEndedError, match="status 0"):
            await asyncio.wait_for(beside.ended(), END_SECONDS)  # noqa: TID251


async def test_who_serves_beside_takes_another_port_where_one_is_taken(
    asked_database: Database, tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = Settings(
            database_url=asked_database.dsn("reader"),
            data_dir=tmp_path,
            serve_listen=f"127.0.0.1:{taken.getsockname()[1]}",
        )
        async with served_beside(settings) as beside:
            address = await beside.address()
            async with aiohttp.ClientSession() as session:
                assert await Client(address, session).ask(QUERY)

    assert address != f"http://{settings.serve_listen}/"


async def test_open_prints_where_the_page_is(
    asked_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ports: Ports,
) -> None:
    listen = f"127.0.0.1:{ports.take()}"
    ports.give_back()
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("RECORDER_SERVE_LISTEN", listen)
    assert main._run(["open"]) == 0
    assert capsys.readouterr().out == f"http://{listen}/\n"

    async with running(
        asked_database,
        "--listen",
        "127.0.0.1:0",
        RECORDER_DATA_DIR=str(tmp_path),
    ) as (_, address):
        # It may be of a database that only the server knows.
        assert main._run(["open", "node/gpu 2"]) == 0
        assert capsys.readouterr().out == f"{address}node/gpu%202\n"

        assert main._run(["open", "pod/a/b"]) == 0
        assert capsys.readouterr().out == f"{address}object/pod/a/b\n"

        assert main._run(["open", "jobset/a/b"]) == 0
        assert capsys.readouterr().out == f"{address}workload/jobset/a/b\n"

    assert main._run(["open", "pod/a/b/c"]) == 2


def test_open_names_nothing_that_the_log_does_not_have(
    asked_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))
    url = asked_database.dsn("reader")
    monkeypatch.setenv("RECORDER_DATABASE_URL", url)

    assert main._run(["open", "node/gpu-002"]) == 2, "which of six logs"
    assert "--cluster NAME" in capsys.readouterr().err
    assert main._run(["open", "node/nope", "--cluster", "crash"]) == 5
    assert main._run(["open", "--cluster", "nope"]) == 5
    assert capsys.readouterr().out == ""

    assert main._run(["open", "node/gpu-002", "--cluster", "crash"]) == 0
    assert capsys.readouterr().out.endswith("/node/gpu-002?cluster=crash\n")


def test_tokens_are_made_listed_and_revoked(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main._run(["token", "list"]) == 1
    assert "token_file" in capsys.readouterr().err
    monkeypatch.setenv("RECORDER_TOKEN_FILE", str(tmp_path / "tokens"))

    assert main._run(["token", "add", "grafana"]) == 0
    made = capsys.readouterr().out.strip()
    assert main._run(["token", "list"]) == 0
    listed = capsys.readouterr().out
    assert main._run(["token", "revoke", "grafana"]) == 0
    assert main._run(["token", "revoke", "grafana"]) == 1

    assert made.startswith("rec_")
    assert "grafana" in listed
    assert made not in listed
    assert (tmp_path / "tokens").read_text() == ""


def opened(data: Path, *words: str, **more: str) -> tuple[int, str, str]:
    """Run `recorder open` for the server of a data folder."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RECORDER_")
    }
    done = subprocess.run(
        [sys.executable, "-m", "recorder", "open", "--print", *words],
        env={**environment, "RECORDER_DATA_DIR": str(data), **more},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.strip(), done.stderr


async def test_open_names_the_server_of_its_own_log(
    asked_database: Database, tmp_path: Path
) -> None:
    """Two servers: each data folder gets its own, never the other's."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    async with (
        running(
            asked_database, "--listen", "127.0.0.1:0",
            RECORDER_DATA_DIR=str(other),
        ) as (_, elsewhere),
        running(
            asked_database, "--listen", "127.0.0.1:0",
            RECORDER_DATA_DIR=str(mine),
        ) as (process, address),
    ):  # fmt: skip
        assert (await asyncio.to_thread(opened, mine))[1] == address
        assert (await asyncio.to_thread(opened, other))[1] == elsewhere
        process.kill()
        await process.wait()
        held = elsewhere.removeprefix("http://").removesuffix("/")

        # Its address is left behind, and another server has it by now.
        left = (mine / "serve.address").read_text()
        (mine / "serve.address").write_text(left.replace(address, elsewhere))
        status, out, err = await asyncio.to_thread(
            opened, mine, RECORDER_SERVE_LISTEN=held
        )

    assert (status, out) == (1, "")
    assert "was started from another data folder" in err
    assert "recorder serve --listen 127.0.0.1:0" in err


def test_open_says_that_nothing_answers(tmp_path: Path, ports: Ports) -> None:
    listen = f"127.0.0.1:{ports.take()}"
    ports.give_back()

    status, out, err = opened(
        tmp_path, "node/gpu-002", RECORDER_SERVE_LISTEN=listen
    )

    assert (status, out) == (0, f"http://{listen}/node/gpu-002")
    assert "nothing answers there: start `" in err
    assert err.endswith("recorder serve`\n")
