"""The commands, as processes: posted once, whichever is killed."""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import asyncpg
import orjson
import pytest
from aiohttp import web
from click.testing import CliRunner, Result

from recorder.cli.main import main
from tests.cli.running import started
from tests.corpus.logs import play, tape_of
from tests.notification.receiving import Taken, receiver
from tests.support.postgres import Database

SINCE = ("--since", "2000-01-01T00:00:00Z", "--log", "1")
INCIDENTS = 1
"""Of the tape, each with one verdict once it is over."""


@pytest.fixture
async def url(database: Database) -> AsyncIterator[str]:
    """A login that may read, and keep the outbox, and nothing else."""
    await play(database.dsn("writer"), tape_of("crash"), name="crash")
    name = f"notifies_{secrets.token_hex(4)}"
    connection = await asyncpg.connect(database.superuser_dsn())
    await connection.execute(
        f"create role {name} login password 'x'"
        " in role recorder_reader, recorder_notifier"
    )
    dsn = re.sub(
        r"//[^@]*@", f"//{name}:x@", database.superuser_dsn(), count=1
    )
    try:
        yield dsn
    finally:
        await connection.execute(f"drop role {name}")
        await connection.close()


def rules_in(folder: Path, address: str, *names: str) -> str:
    path = folder / "notify.yaml"
    path.write_text(
        "rules:\n"
        + "".join(
            f"- name: {name}\n  settle: 0s\n"
            f"  post: {{shape: cloudevents, url: '{address}', timeout: 2s}}\n"
            for name in names or ("oncall",)
        )
    )
    return str(path)


async def run(url: str, file: str, *words: str) -> tuple[int, str, str]:
    async with started(*words, url=url, RECORDER_NOTIFY_FILE=file) as process:
        out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()


async def said(url: str, file: str, *words: str) -> Result:
    """Run a command in this process, which takes no time to begin."""
    given = {"RECORDER_DATABASE_URL": url, "RECORDER_NOTIFY_FILE": file}
    return await asyncio.to_thread(
        CliRunner().invoke,
        main,
        words,
        env=given,
        standalone_mode=False,
    )


async def test_an_incident_is_posted_once_and_is_listed(
    url: str, tmp_path: Path
) -> None:
    async with receiver() as there:
        file = rules_in(tmp_path, there.url)
        first = await run(url, file, "notify", "--once", *SINCE)
        again = await run(url, file, "notify", "--once", *SINCE)
    listing = await said(url, file, "notifications", "-o", "json")

    assert (first[0], again[0]) == (0, 0), (first, again)
    assert first[2].startswith(f"{INCIDENTS} posted")
    assert again[2].startswith("nothing posted")
    assert len(there.taken) == INCIDENTS
    [listed] = orjson.loads(listing.stdout)["notifications"]
    assert listed["state"] == "posted"
    assert listed["rule"] == "oncall"
    event = there.taken[0].json
    assert isinstance(event, dict)
    assert event["subject"] == listed["incident"]
    assert there.url not in "".join(first[1:]) + listing.output


async def test_killed_while_it_posts_it_posts_again_with_the_same_key(
    url: str, database: Database, tmp_path: Path
) -> None:
    words = ("notify", *SINCE)
    async with receiver() as there:
        file = rules_in(tmp_path, there.url)
        there.reply = lambda _: None
        more = {"RECORDER_NOTIFY_FILE": file, "RECORDER_NOTIFY_LISTEN": ""}
        async with started(*words, url=url, **more) as process:
            await there.until(1)
            process.kill()
        there.reply = lambda _: web.Response()
        await expire(database)
        async with started(*words, url=url, **more) as process:
            await there.until(2)
            await posted(database, INCIDENTS)
            process.terminate()
            assert await process.wait() == 0

    assert len(there.keys) == 2
    assert len(set(there.keys)) == 1


async def test_two_processes_at_once_post_everything_once(
    url: str, database: Database, tmp_path: Path
) -> None:
    words, names = ("notify", *SINCE), ("a", "b", "c")
    async with receiver() as there:
        file = rules_in(tmp_path, there.url, *names)
        more = {"RECORDER_NOTIFY_FILE": file, "RECORDER_NOTIFY_LISTEN": ""}
        async with (
            started(*words, url=url, **more),
            started(*words, url=url, **more),
        ):
            await posted(database, len(names) * INCIDENTS)

    assert sorted(there.keys) == sorted(set(there.keys))
    assert len(there.keys) == len(names) * INCIDENTS


async def test_probes_and_metrics_of_the_process(
    url: str, database: Database, tmp_path: Path
) -> None:
    more = {"RECORDER_NOTIFY_LISTEN": "127.0.0.1:0"}
    async with receiver() as there:
        more["RECORDER_NOTIFY_FILE"] = rules_in(tmp_path, there.url)
        async with started("notify", *SINCE, url=url, **more) as process:
            assert process.stderr is not None
            line = (await process.stderr.readline()).decode()
            address = line.split()[-1]
            await posted(database, INCIDENTS)
            async with aiohttp.ClientSession() as session:
                async with asyncio.timeout(20):
                    while True:
                        text = await got(session, address)
                        if 'posted_total{rule="oncall"} 1.0' in text:
                            break
                        await asyncio.sleep(0.05)
                ready = await got(
                    session, address.replace("metrics", "readyz")
                )

    assert ready == "notifying\n"
    assert 'recorder_notifications_judged_timestamp_seconds{log="1"}' in text


async def got(session: aiohttp.ClientSession, address: str) -> str:
    async with session.get(address) as answer:
        return await answer.text()


async def test_rules_are_checked_and_tried(url: str, tmp_path: Path) -> None:
    def reply(taken: Taken) -> web.Response:
        refused = b'"rule":"refused"' in taken.body
        return web.Response(status=403 if refused else 200, text="no")

    async with receiver() as there:
        there.reply = reply
        file = rules_in(tmp_path, there.url, "works", "refused")
        checked = await said(url, file, "notify", "--check")
        assert there.taken == []
        tried = await said(url, file, "notify", "--test")

    assert checked.return_value == 0, checked
    assert checked.stdout.count("can be used") == 2
    assert tried.return_value == 1
    assert "posted a test" in tried.stdout
    assert "the receiver answered 403: no" in tried.stdout
    assert b"This is a test" in there.taken[0].body


async def test_a_file_that_is_wrong_is_one_line(
    url: str, tmp_path: Path
) -> None:
    (tmp_path / "notify.yaml").write_text("rules: [{name: a}]")

    status, out, err = await run(
        url, str(tmp_path / "notify.yaml"), "notify", "--check"
    )

    assert (status, out) == (2, "")
    assert "line 1: post is missing" in err
    assert len(err.splitlines()) == 1


async def test_what_failed_is_tried_again_when_that_is_asked(
    url: str, tmp_path: Path
) -> None:
    async with receiver() as there:
        there.reply = lambda _: web.Response(status=400)
        file = rules_in(tmp_path, there.url)
        await run(url, file, "notify", "--once", *SINCE)
        failed = await said(url, file, "notifications", "--state", "failed")
        there.reply = lambda _: web.Response()
        retried = await said(url, file, "notifications", "--retry", "1")
        none = await said(url, file, "notifications", "--retry", "1")
        waiting = await said(url, file, "notifications", "-o", "json")

    assert "the receiver answered 400" in failed.stdout
    assert retried.return_value == 0
    assert "there is no notification 1" in str(none.exception)
    [one] = orjson.loads(waiting.stdout)["notifications"]
    assert one["state"] == "waiting"


async def posted(database: Database, count: int) -> None:
    """Wait until so many are written down as posted."""
    connection = await asyncpg.connect(database.dsn("notifier"))
    query = "select count(*) from recorder.notification where state = 'posted'"
    try:
        async with asyncio.timeout(30):
            while await connection.fetchval(query) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    finally:
        await connection.close()


async def expire(database: Database) -> None:
    connection = await asyncpg.connect(database.dsn("notifier"))
    await connection.execute(
        "update recorder.notification set leased_until = clock_timestamp()"
    )
    await connection.close()
