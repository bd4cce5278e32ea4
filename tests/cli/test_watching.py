"""`recorder incidents --watch` prints what is new when facts come."""

import asyncio
import signal
from typing import Any

import pytest

from recorder.model.observation import Observation
from tests.cli.conftest import Recorder
from tests.cli.running import started
from tests.support.builders import NODES, a_frame, a_list, a_node
from tests.support.postgres import Database
from tests.support.written_log import WrittenLog

SECONDS = 30


def booted(name: str, version: int, boot: str) -> dict[str, Any]:
    node = a_node(name, version)
    node["status"]["nodeInfo"] = {"bootID": boot}
    return node


def rebooted(name: str, version: int) -> Observation:
    return a_frame(NODES, "MODIFIED", booted(name, version, f"boot-{version}"))


async def line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(SECONDS):
        return (await process.stdout.readline()).decode()


async def test_an_incident_is_printed_when_it_comes_and_once(
    database: Database,
) -> None:
    log = WrittenLog(database.dsn("writer"))
    await log.lease()
    nodes = [booted(name, 1, "boot-1") for name in ("n1", "n2", "n3")]
    await log.append(a_list(NODES, 1, *nodes))
    await log.append(rebooted("n1", 2))

    words = ("incidents", "--since", "2026-11-20", "--watch")
    async with started(*words, url=database.dsn("reader")) as process:
        assert (await line(process)).startswith("FROM")
        assert " n1 " in await line(process)
        await log.append(rebooted("n2", 3))
        assert " n2 " in await line(process)
        await log.append(rebooted("n3", 4))
        assert " n3 " in await line(process)
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()

    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err
    assert err.count(b" is taken as ") == 1
    await log.end()


@pytest.mark.parametrize(
    ("words", "says"), [(("-o", "json"), "remove -o"), (("-A",), "instead of")]
)
def test_watch_prints_one_log_as_a_table(
    recorder: Recorder, words: tuple[str, ...], says: str
) -> None:
    answer = recorder("incidents", "--watch", *words)

    assert answer.status == 2
    assert says in answer.err
