"""`recorder log --follow` gives every entry once, whatever happens to it."""

import asyncio
import signal

import orjson

from recorder.model.observation import Observation
from tests.cli.running import started
from tests.support.builders import (
    EVENTS,
    PODS,
    a_frame,
    a_list,
    an_event,
    an_object,
)
from tests.support.postgres import Database, connected
from tests.support.written_log import WrittenLog

SECONDS = 30
FOLLOW = ("log", "--follow", "-o", "ndjson")
PATIENT = (
    "-c",
    """
from datetime import timedelta
from recorder.cli.main import run
from recorder.store import read_follow
read_follow.LOOK_AGAIN = timedelta(days=1)
run()
""",
)
"""The command, without its own check for notices that it missed."""


def pods(first: int, count: int) -> list[Observation]:
    return [
        a_frame(PODS, "ADDED", an_object(f"p{n}", n))
        for n in range(first, first + count)
    ]


async def read(process: asyncio.subprocess.Process, count: int) -> list[int]:
    assert process.stdout is not None
    found: list[int] = []
    async with asyncio.timeout(SECONDS):
        while len(found) < count:
            line = orjson.loads(await process.stdout.readline())
            found.append(int(line["entry"].partition("/")[2]))
    return found


async def until_listening(database: Database) -> None:
    async with asyncio.timeout(SECONDS):
        while not await database.listeners():  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.05)


async def interrupted(process: asyncio.subprocess.Process) -> str:
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(SECONDS):
        _, err = await process.communicate()
    return err.decode()


async def test_nothing_is_skipped_and_nothing_comes_twice(
    database: Database,
) -> None:
    written_log = WrittenLog(database.dsn("writer"), with_facts=False)
    await written_log.lease()
    await written_log.append(*pods(1, 5))

    async with started(*FOLLOW, url=database.dsn("reader")) as process:
        assert await read(process, 5) == [1, 2, 3, 4, 5]
        for batch in range(40):
            await written_log.append(*pods(6 + batch * 3, 3))
            if batch % 15 == 10:
                # It loses every connection in the middle of it.
                await kill_readers(database)
            await asyncio.sleep(0.01)

        assert await read(process, 120) == list(range(6, 126))
        err = await interrupted(process)

    assert process.returncode == 130
    assert "Traceback" not in err
    await written_log.end()


async def test_a_notice_is_heard_and_not_polled_for(
    database: Database,
) -> None:
    written_log = WrittenLog(database.dsn("writer"), with_facts=False)
    await written_log.lease()
    await written_log.append(*pods(1, 1))

    url = database.dsn("reader")
    async with started(*FOLLOW, url=url, program=PATIENT) as process:
        await read(process, 1)
        await until_listening(database)
        for number in range(2, 8):
            await written_log.append(*pods(number, 1))
            assert await read(process, 1) == [number]
    await written_log.end()


async def test_only_what_was_asked_for_comes(database: Database) -> None:
    written_log = WrittenLog(database.dsn("writer"), with_facts=False)
    await written_log.lease()
    await written_log.append(a_list(PODS, 1, an_object("p", 1)))
    asked = ("--object", "pod/train/p", "--reason", "Killing")

    url = database.dsn("reader")
    async with started(*FOLLOW, *asked, url=url) as process:
        # A reason that the log does not know yet, of an incarnation that
        # does not exist yet.
        await until_listening(database)
        reborn = an_event("e", 3, pod="p")
        reborn["reason"] = "Killing"
        reborn["involvedObject"]["uid"] = "another"
        await written_log.append(*pods(2, 3))
        await written_log.append(a_frame(EVENTS, "ADDED", reborn))
        await written_log.append(a_frame(EVENTS, "ADDED", an_event("f", 4)))

        assert await read(process, 1) == [5]
    await written_log.end()


async def test_a_limit_is_of_what_was_there(database: Database) -> None:
    written_log = WrittenLog(database.dsn("writer"), with_facts=False)
    await written_log.lease()
    await written_log.append(*pods(1, 5))

    url = database.dsn("reader")
    async with started(*FOLLOW, "--limit", "2", url=url) as process:
        assert await read(process, 2) == [4, 5]
        await written_log.append(*pods(6, 3))
        assert await read(process, 3) == [6, 7, 8]
    await written_log.end()


async def test_a_reader_that_goes_away_ends_it_quietly(
    database: Database,
) -> None:
    written_log = WrittenLog(database.dsn("writer"), with_facts=False)
    await written_log.lease()
    for batch in range(30):
        await written_log.append(*pods(1 + batch * 100, 100))

    whole = ("log", "--limit", "all", "-o", "ndjson")
    async with started(*whole, url=database.dsn("reader")) as process:
        assert await read(process, 1) == [1]
        assert process.stdout is not None
        transport = process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]
        transport.close()
        assert process.stderr is not None
        async with asyncio.timeout(SECONDS):
            err = await process.stderr.read()
            await process.wait()

    assert process.returncode == 141
    assert err == b""
    await written_log.end()


async def kill_readers(database: Database) -> None:
    async with connected(database.superuser_dsn()) as connection:
        await connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'recorder reader'"
            " and datname = current_database()"
        )
