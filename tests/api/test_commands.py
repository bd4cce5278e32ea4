"""The commands about the served API: serve, open, token, and beside."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from recorder.cli import main
from recorder.settings import Settings
from recorder.wiring.beside import ServedEndedError, served_beside
from tests.api.serving import Client
from tests.cli.running import started
from tests.support.postgres import Database

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


async def test_an_address_that_is_taken_is_told(
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
    assert f"cannot serve on {listen}".encode() in err
    assert b"--listen" in err


@pytest.mark.parametrize("listen", ["foo", "127.0.0.1", "127.0.0.1:70000"])
async def test_an_address_that_is_none_is_wrong_usage(
    asked_database: Database, tmp_path: Path, listen: str
) -> None:
    async with started(
        "serve",
        "--listen",
        listen,
        url=asked_database.dsn("reader"),
        RECORDER_DATA_DIR=str(tmp_path),
    ) as process:
        _, err = await process.communicate()

    assert process.returncode == 2
    assert b"write HOST:PORT" in err


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
) -> None:
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))
    assert main._run(["open"]) == 0
    assert capsys.readouterr().out == "http://127.0.0.1:9470/\n"

    async with running(
        asked_database,
        "--listen",
        "127.0.0.1:0",
        RECORDER_DATA_DIR=str(tmp_path),
    ) as (_, address):
        assert main._run(["open", "node/gpu 2"]) == 0
        assert capsys.readouterr().out == f"{address}node/gpu%202\n"

    assert main._run(["open", "pod/a/b"]) == 2


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
