"""What is streamed to readers of a part, and when that ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing

import pytest

from api.access import Principal
from api.http import streaming
from api.resolvers import following, reviewing
from api.resolvers.judging import Judging, incidents_of_last_day
from api.resolvers.reviewing import PersonRights, Reviewing
from api.resolvers.workers import Workers
from recorder.answers.growing import Changes, essence_of, trace_of
from recorder.answers.incidents import Incidents
from recorder.explain.knowledge import shipped
from recorder.explain.verdict import Verdict
from recorder.model.access import Person
from recorder.model.observation import Observation
from recorder.model.settings import Settings
from recorder.wiring.reading import open_logs
from tests.api.listening import Listening, listening
from tests.api.tenants import (
    MACHINE,
    OTHERS_MACHINE,
    Cluster,
    Tenants,
    a_machine,
    served_to,
)
from tests.support.builders import NODES, a_frame
from tests.support.fixed_log import LIVE
from tests.support.postgres import Database

FACTS_OF = 'facts(node: "%s") { facts { entry } }'
SUBSCRIPTIONS = {
    "facts": "facts { facts { entry } }",
    "facts of a node": FACTS_OF % MACHINE,
    "incidents": "incidents { gone }",
    "verdicts": "verdicts { gone }",
}


@pytest.fixture
async def written_log(database: Database) -> AsyncIterator[Tenants]:
    written_log = Tenants(database.dsn("writer"))
    await written_log.begin()
    yield written_log
    await written_log.end()


def hangs(machine: str, when: int, *, hung: bool = True) -> Observation:
    document = a_machine(machine, when, boot="2", hung=hung)
    return a_frame(NODES, "MODIFIED", document, when=when)


async def end_of(one: Listening) -> str:
    """Return the last document before a stream was complete."""
    name, last = "", None
    while name != "complete":
        name, document = await one.event()
        last = document or last
    return str(last)


async def test_a_stream_whose_right_was_withdrawn_ends_with_an_error(
    database: Database, written_log: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a log in which nothing happens: so each right is asked for again."""
    for module, name in (
        (reviewing, "YES_SECONDS"),
        (reviewing, "NO_SECONDS"),
        (following, "STILL_SECONDS"),
    ):
        monkeypatch.setattr(module, name, 0.2)
    del written_log
    cluster = Cluster()
    dsn = database.dsn("reader")
    async with served_to(dsn, cluster) as client, AsyncExitStack() as stack:
        # Of all that the last one may still read that node is no part.
        subscribed = [("amber", *one) for one in SUBSCRIPTIONS.items()]
        subscribed.append(("blue+amber", "lost", FACTS_OF % OTHERS_MACHINE))
        streams = {
            what: await stack.enter_async_context(
                listening(
                    client,
                    headers={"Authorization": f"Bearer {who}"},
                    query=f"subscription {{ {query} }}",
                )
            )
            for who, what, query in subscribed
        }
        for one in streams.values():
            await one.event()
        cluster.withdrawn.add("blue")
        ended = await end_of(streams.pop("lost"))
        cluster.withdrawn.add("amber")
        ends = {what: await end_of(one) for what, one in streams.items()}

    assert f'no longer read about node "{OTHERS_MACHINE}"' in ended
    for what, last in {**ends, "lost": ended}.items():
        assert "access.forbidden" in last, what


def test_a_withdrawn_right_ends_a_stream_within_a_minute() -> None:
    asked_again = max(
        following.STILL_SECONDS, streaming.ADMITTED_FOR.total_seconds()
    )
    assert reviewing.YES_SECONDS + asked_again < 60


async def test_a_tenant_receives_what_changed_once(
    database: Database, written_log: Tenants
) -> None:
    reviews = Reviewing(Cluster())
    rights = PersonRights(Person("amber"), LIVE.cluster_uid, reviews)
    stop = asyncio.Event()
    incidents = Changes(essence_of, lambda one: trace_of(one.judged))
    verdicts: Changes[Verdict] = Changes(
        lambda one: one, lambda one: trace_of([one])
    )

    def has_news(found: Incidents) -> tuple[bool, bool]:
        """Return whether anything is new of incidents, and of verdicts."""
        listed = {o.first.id: o for o in found.incidents}
        judged = {v.id: v for o in found.incidents for v in o.judged}
        return (
            incidents.since(listed, None) is not None,
            verdicts.since(judged, None) is not None,
        )

    settings = Settings(database_url=database.dsn("reader"))
    async with open_logs(settings) as logs:
        workers = Workers(logs)
        judging = Judging(logs, workers, shipped(), stop)
        watch = judging.watch(
            (None, None), Principal("amber", rights), incidents_of_last_day
        )
        async with (
            workers.running(),
            judging.running(),
            aclosing(watch) as news,
        ):
            first = await anext(news)
            assert [one.nodes for one in first.incidents] == [[MACHINE]]
            assert has_news(first) == (True, True)
            await written_log.append(hangs(OTHERS_MACHINE, 120))
            assert has_news(await anext(news)) == (False, False)
            await written_log.append(hangs(MACHINE, 130))
            assert has_news(await anext(news)) == (True, True)
