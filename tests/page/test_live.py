"""What is recorded meanwhile appears by itself."""

import asyncio
import re
import signal
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from recorder.intake.ports import Known, Sink
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.observation import WATCH, Observation
from recorder.sources.tape import TapeReader
from recorder.store.writer import LogSpec, Writer
from tests.conftest import TEMPLATE
from tests.corpus.logs import KEY
from tests.page.conftest import LOGS, Opener, served_by, serving
from tests.support.postgres import Database, DatabaseServer, fresh_database

GONE_MS = 8_000
"""Within which the page has to notice: one pulse, and its patience."""

CRASH = datetime(2026, 11, 21, 11, 26, 30, tzinfo=UTC)
"""The machine is about to crash."""

LIVE = LogSpec(
    cluster_name="prod",
    cluster_uid="11111111-prod",
    kubernetes="v1.36.3",
    redaction_key_id=None,
)

EXPIRED = "ZjE6MToyOjA6OTk"
"""A cursor of facts of the derivation 99; there are none."""

FORMER = """event: next
data: {"data": {"facts": {"cursor": "ZjE6MToyOjA6OTk", "facts": []}}}

event: complete
data:

"""


class Part:
    """A part of a recording, as a source that ends with it."""

    finite = True

    def __init__(self, observations: Sequence[Observation]) -> None:
        self._observations = observations

    async def run(self, sink: Sink, known: Known) -> None:
        del known
        await sink.put(self._observations)


def apart(work: Coroutine[Any, Any, None]) -> None:
    """Run beside the browser, whose loop has this thread."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, work).result()


async def record(
    dsn: str, observations: Sequence[Observation], log: LogSpec = LIVE
) -> None:
    writer = Writer(dsn, log, holder="test")
    recording = Recording(writer, Redaction(RedactionRules(), KEY))
    await recording.run({WATCH: Part(observations)}, asyncio.Event())


@pytest.fixture
def live_database(embedded_server: DatabaseServer) -> Iterator[Database]:
    with ThreadPoolExecutor(1) as threads:
        runner = threads.submit(asyncio.Runner).result()
        stack = AsyncExitStack()
        fresh = stack.enter_async_context(
            fresh_database(embedded_server, TEMPLATE)
        )
        yield threads.submit(runner.run, fresh).result()
        threads.submit(runner.run, stack.aclose()).result()
        threads.submit(runner.close).result()


def test_an_incident_appears_by_itself(
    open_tab: Opener, live_database: Database
) -> None:
    with TapeReader(LOGS["crash"]) as reader:
        observations = [observation for _, observation in reader.frames()]
    before = [one for one in observations if one.observed_at < CRASH]
    after = [one for one in observations if one.observed_at >= CRASH]
    dsn = live_database.dsn("writer")
    apart(record(dsn, before))
    with serving(live_database) as address:
        # Whatever the date is: the recording is of one day.
        tab = open_tab(f"{address}/?last=all")
        assert tab.page.locator(".incident").count() == 0
        apart(record(dsn, after))
        expect(tab.page.locator(".incident")).to_have_count(1)

        expect(tab.page).to_have_title(re.compile("^gpu-002 rebooted"))
        expect(tab.page.locator(".recording").first).to_contain_text(
            "not being recorded, proven until"
        )
        # The stream ends with its server; no user is to see that.
        tab.page.goto("about:blank")


def test_what_ends_jobs_appears_while_a_tape_is_played(
    open_tab: Opener, live_database: Database
) -> None:
    tape = replace(LIVE, tape_uid="22222222-tape")
    with TapeReader(LOGS["crash"]) as reader:
        observations = [observation for _, observation in reader.frames()]
    before = [one for one in observations if one.observed_at < CRASH]
    after = [one for one in observations if one.observed_at >= CRASH]
    dsn = live_database.dsn("writer")
    apart(record(dsn, before, tape))
    with serving(live_database) as address:
        tab = open_tab(f"{address}/jobs?last=all")
        expect(tab.page.locator(".recording")).to_contain_text("tape")
        causes = tab.page.locator(".jobs .cause")
        assert causes.count() > 0
        assert not any(causes.all_inner_texts())
        apart(record(dsn, after, tape))

        expect(causes.filter(has_text="node-failure")).to_have_count(1)
        tab.page.goto("about:blank")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGSTOP])
def test_an_api_that_is_gone_is_not_shown_as_live(
    open_tab: Opener, live_database: Database, how: signal.Signals
) -> None:
    """Whether it ended, or hangs with its connections open."""
    with TapeReader(LOGS["crash"]) as reader:
        observations = [observation for _, observation in reader.frames()]
    apart(record(live_database.dsn("writer"), observations))
    with served_by(live_database) as (server, address):
        tab = open_tab(f"{address}/?last=all")
        expect(tab.page.locator(".recording.lost")).to_have_count(0)
        server.send_signal(how)
        try:
            expect(tab.page.locator(".recording.lost")).to_contain_text(
                "offline", timeout=GONE_MS
            )
        finally:
            server.send_signal(signal.SIGCONT)
        tab.page.goto("about:blank")
    tab.complaints.clear()


def test_a_cursor_that_expired_is_not_gone_on_from(
    open_tab: Opener, live_database: Database
) -> None:
    """The first subscription is given one of facts that are former."""
    with TapeReader(LOGS["crash"]) as reader:
        observations = [observation for _, observation in reader.frames()]
    apart(record(live_database.dsn("writer"), observations))
    asked: list[Any] = []

    def answer(route: Route) -> None:
        body: Any = route.request.post_data_json
        if "FactsCame" not in body["query"]:
            route.fallback()
            return
        asked.append(body["variables"]["after"])
        if len(asked) == 1:
            route.fulfill(content_type="text/event-stream", body=FORMER)
        else:
            route.fallback()

    with serving(live_database) as address:
        tab = open_tab()
        tab.page.route("**/graphql", answer)
        with tab.page.expect_response(lambda _: len(asked) == 3):
            tab.page.goto(address)
        tab.page.goto("about:blank")

    assert asked == [None, EXPIRED, None]
