"""The crash matrix of notifications: killed at every statement of a run.

A process is killed before a statement of the outbox is sent, after it was,
when its answer has come, and around the post. The next process posts
everything that an undisturbed run posts: each message at least once, and once
by its key, by which a receiver knows it again.
"""

import asyncio
import functools
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from aiohttp import web

from recorder.model.settings import Settings
from recorder.notification.posting import WebhookPoster
from recorder.wiring.notifying import NotifyOptions, notify
from tests.corpus.logs import play, tape_of
from tests.crash.failpoints import Failpoints, Kill
from tests.crash.statements import StatementLoop, watch_statements
from tests.notification.receiving import Receiver, Taken, receiver
from tests.support.postgres import Database

OUTBOX = "outbox."
WRITES = {
    "COMMIT;",
    *(
        OUTBOX + name
        for name in ("BEGIN", "PUT", "JUDGED", "GIVE_UP", "CLAIM", "POSTED")
    ),
}

SENT = ("sent B", "sent Q")
POST = "post"
OPTIONS = NotifyOptions(
    log=1, since=datetime(2000, 1, 1, tzinfo=UTC), once=True
)
OUTBOX = """
    select json_agg(json_build_array(rule, name, number, digest, state)
      order by rule, name, number) from recorder.notification
"""
FORGET = "truncate recorder.notification, recorder.notify_rule"
EXPIRE = "update recorder.notification set leased_until = clock_timestamp()"


def watch_posts(failpoints: Failpoints) -> None:
    """Pass by before each post of this process."""
    post = WebhookPoster.post

    @functools.wraps(post)
    async def watched(self: WebhookPoster, *words: Any, **more: Any) -> Any:
        failpoints.pass_by(f"{POST}, before")
        return await post(self, *words, **more)

    WebhookPoster.post = watched  # type: ignore[method-assign]


def live(settings: Settings, passed: Path, kill: Kill | None) -> None:
    """Notify once, under failpoints, and end this process."""
    status = 1
    try:
        failpoints = Failpoints(kill)
        watch_statements(failpoints)
        watch_posts(failpoints)
        with asyncio.Runner(
            loop_factory=lambda: StatementLoop(failpoints)
        ) as runner:
            runner.run(
                notify(settings, asyncio.Event(), OPTIONS, say=lambda _: None)
            )
        passed.write_text(json.dumps(failpoints.passed))
        status = 0
    finally:
        os._exit(status)


class Lives:
    """Processes that notify of one log, one after another."""

    def __init__(
        self,
        settings: Settings,
        passed: Path,
        there: Receiver,
        connection: asyncpg.Connection,
    ) -> None:
        self.there = there
        self._settings = settings
        self._passed = passed
        self._connection = connection
        self._child = 0

    async def begin(self) -> None:
        """Forget everything that was posted."""
        await self._connection.execute(FORGET)
        self.there.taken.clear()

    async def expire(self) -> None:
        """Let the minute pass for which a message was claimed."""
        await self._connection.execute(EXPIRE)

    def kill(self, _: Taken) -> web.Response | None:
        """Kill the one that posts; it gets no answer."""
        os.kill(self._child, signal.SIGKILL)
        return None

    async def outcome(self) -> tuple[list[object], dict[str, tuple[int, int]]]:
        """Return the outbox; by key, how often it came, in how many forms."""
        keys = Counter(self.there.keys)
        forms: dict[str, set[bytes]] = {}
        for one in self.there.taken:
            forms.setdefault(one.key, set()).add(one.body)
        return json.loads(await self._connection.fetchval(OUTBOX)), {
            key: (count, len(forms[key])) for key, count in keys.items()
        }

    async def one(self, kill: Kill | None = None) -> int:
        """Live one life; return its status."""
        child = os.fork()
        if child == 0:
            live(self._settings, self._passed, kill)
        self._child = child
        _, status = await asyncio.to_thread(os.waitpid, child, 0)
        return os.waitstatus_to_exitcode(status)

    def kills(self) -> Iterator[Kill]:
        """Yield where to die: once a write was sent, and before what else.

        When a write was answered is before what follows it.
        """
        for place, count in json.loads(self._passed.read_text()).items():
            name, _, moment = place.rpartition(", ")
            if (name in WRITES and moment in SENT) or name == POST:
                yield from (Kill(place, n) for n in range(1, count + 1))
            elif (
                name.startswith(OUTBOX)
                and name not in WRITES
                and moment == "before"
            ):
                yield Kill(place, 1)


@pytest.fixture
async def lives(database: Database, tmp_path: Path) -> AsyncIterator[Lives]:
    """Processes that notify of a node that rebooted twice."""
    await play(database.dsn("writer"), tape_of("two-reboots"), name="prod")
    file = tmp_path / "notify.yaml"
    async with receiver() as there:
        file.write_text(
            "rules:\n- name: oncall\n  settle: 0s\n  post: &post"
            f" {{shape: cloudevents, url: '{there.url}'}}\n"
            "- name: jobs\n  settle: 0s\n  when: {workload: ['*']}\n"
            "  post: *post\n"
        )
        settings = replace(
            Settings.load(environ={}, file=None, flags={}),
            database_url=database.superuser_dsn(),
            notify_file=file,
        )
        connection = await asyncpg.connect(database.superuser_dsn())
        yield Lives(settings, tmp_path / "passed", there, connection)
        await connection.close()


@pytest.mark.timeout(300)
async def test_each_message_is_posted_once_by_its_key_despite_kills(
    lives: Lives,
) -> None:
    """In a statement, between it and the post, and in the post."""
    assert await lives.one() == 0
    wanted, posts = await lives.outcome()
    assert len(wanted) == len(posts) >= 2
    assert {key.split("/")[2] for key in posts} == {"oncall", "jobs"}
    assert {count for count, _ in posts.values()} == {1}
    kills = list(lives.kills())
    assert {kill.place.partition(",")[0] for kill in kills} >= {*WRITES, POST}

    for kill in [*kills, None]:
        await lives.begin()
        if kill is None:
            # Between the request and its answer.
            lives.there.reply = lives.kill
        assert await lives.one(kill) == -signal.SIGKILL, kill
        lives.there.reply = lambda _: web.Response()
        await lives.expire()
        assert await lives.one() == 0, kill

        left, posted = await lives.outcome()
        assert left == wanted, kill
        assert posted.keys() == posts.keys(), kill
        twice = [key for key, (count, _) in posted.items() if count > 1]
        assert len(twice) <= 1, kill
        assert all(count <= 2 for count, _ in posted.values()), kill
        # Nothing that was posted once and noted is posted again.
        is_between = kill is None or kill.place.startswith(f"{OUTBOX}POSTED")
        assert is_between or not twice, kill
        assert all(bodies == 1 for _, bodies in posted.values()), kill
