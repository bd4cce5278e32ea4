"""Subscribers receive every fact once, wherever they resume."""

import asyncio
import gc
import socket
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from api.http.columns import ColumnExecutor
from api.resolvers import following
from recorder.store import derivation
from tests.api.listening import FACTS, listening
from tests.api.serving import Client
from tests.support.fact_rows import derive_anew
from tests.support.postgres import Database
from tests.support.written_log import WrittenLog, changes

ALL = """query All($after: String) { facts(cluster: "prod", first: 500,
  after: $after) { nodes { entry index node } pageInfo { endCursor } } }"""


async def places(client: Client) -> list[tuple[str, int]]:
    found = await client.ask(ALL)
    return [(fact["entry"], fact["index"]) for fact in found["facts"]["nodes"]]


async def test_a_subscriber_receives_what_is_committed(
    growing: Client, written_log: WrittenLog
) -> None:
    async with listening(growing) as one:
        assert (await one.batch())["facts"] == []
        await written_log.append(*changes("n1", 2, 3))

        received = await one.facts(3)

    assert received == (await places(growing))[-3:]


async def test_nothing_is_kept_of_an_event_that_was_sent(
    growing: Client, written_log: WrittenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is selected is looked at once, however many events come."""
    kept: list[int] = []
    complete = ColumnExecutor._completed

    def counting(self: ColumnExecutor, *given: Any) -> list[Any] | None:
        found = complete(self, *given)
        kept.append(len(self._columns))
        return found

    monkeypatch.setattr(ColumnExecutor, "_completed", counting)
    async with listening(growing) as one:
        await one.batch()
        for version in range(2, 7):
            await written_log.append(*changes("n1", version, 1))
            await one.facts(1)

    assert len(kept) >= 6
    assert set(kept) == {kept[0]}


async def test_a_node_is_followed_alone(
    growing: Client, written_log: WrittenLog
) -> None:
    async with listening(growing, node="n2") as one:
        await one.batch()
        await written_log.append(*changes("n1", 2, 3), *changes("n2", 6, 2))

        batch = await one.batch()

    assert {fact["node"] for fact in batch["facts"]} == {"n2"}
    assert len(batch["facts"]) == 2


async def test_who_begins_again_after_a_cursor_loses_and_repeats_nothing(
    growing: Client, written_log: WrittenLog
) -> None:
    received: list[tuple[str, int]] = []
    cursor = None
    version = 2
    for turn in range(6):
        async with listening(growing, after=cursor) as one:
            if cursor is None:
                cursor = (await one.batch())["cursor"]
            # Some is committed without a listener, some while one does.
            await written_log.append(*changes("n1", version, 4))
            received += await one.facts(4 if turn == 0 else 8)
            cursor = one.cursor
        version += 4
        await written_log.append(*changes("n2", version, 4))
        version += 4

    everything = await places(growing)
    assert received == everything[-len(received) - 4 : -4]
    assert len(set(received)) == len(received)


async def test_a_cursor_within_a_page_goes_on_with_the_next_fact(
    growing: Client, written_log: WrittenLog
) -> None:
    await written_log.append(*changes("n1", 2, 5))
    found = await growing.ask(
        """{ facts(cluster: "prod", first: 2) {
          edges { cursor node { entry index } } } }"""
    )
    everything = await places(growing)

    async with listening(
        growing, after=found["facts"]["edges"][0]["cursor"]
    ) as one:
        received = await one.facts(len(everything) - 1)

    assert received == everything[1:]


async def test_a_cursor_of_a_batch_outlives_a_derivation(
    growing: Client, written_log: WrittenLog, database: Database
) -> None:
    async with listening(growing) as one, listening(growing) as other:
        await one.batch()
        await other.batch()
        await written_log.append(*changes("n1", 2, 3))
        received = await one.facts(3)
        await other.facts(3)
        cursor = one.cursor
        await derive_anew(database, written_log.log)
        await written_log.append(*changes("n2", 6, 4))
        later = await other.facts(4)

    async with listening(growing, after=cursor) as again:
        assert await again.facts(4) == later
    assert received + later == (await places(growing))[-7:]


async def test_a_cursor_within_an_entry_ends_with_its_derivation(
    growing: Client, written_log: WrittenLog, database: Database
) -> None:
    await written_log.append(*changes("n1", 2, 5))
    found = await growing.ask(ALL)
    await derive_anew(database, written_log.log)

    async with listening(
        growing, after=found["facts"]["pageInfo"]["endCursor"]
    ) as one:
        name, document = await one.event()
        ended, _ = await one.event()

    (error,) = document["errors"]
    assert (name, ended) == ("next", "complete")
    assert error["extensions"]["code"] == "question.cursor_expired"


async def test_facts_that_are_derived_later_are_sent_then(
    growing: Client,
    written_log: WrittenLog,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A writer of other rules adds entries, and no facts of them."""
    async with listening(growing) as one:
        await one.batch()
        with monkeypatch.context() as other:
            other.setattr(derivation, "DERIVATION", 99)
            await written_log.append(*changes("n1", 2, 3))
        async with listening(growing, after=one.cursor) as again:
            unknown = await again.batch()
        await derive_anew(database, written_log.log)

        received = await one.facts(3)

    assert unknown["facts"] == []
    assert unknown["coverage"]["complete"] is False
    async with listening(growing, after=unknown["cursor"]) as again:
        assert await again.facts(3) == received
    assert received == (await places(growing))[-3:]


async def test_who_begins_where_facts_are_missing_receives_what_comes(
    growing: Client,
    written_log: WrittenLog,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as other:
        other.setattr(derivation, "DERIVATION", 99)
        await written_log.append(*changes("n1", 2, 3))
    async with listening(growing) as one:
        await one.batch()
        await derive_anew(database, written_log.log)
        await written_log.append(*changes("n2", 6, 2))

        received = await one.facts(2)
        await written_log.append(*changes("n2", 8, 2))

    async with listening(growing, after=one.cursor) as again:
        received += await again.facts(2)
    assert received == (await places(growing))[-4:]


async def test_many_subscribers_receive_the_same(
    growing: Client, written_log: WrittenLog
) -> None:
    async def follow(ready: asyncio.Semaphore) -> list[tuple[str, int]]:
        async with listening(growing) as one:
            await one.batch()
            ready.release()
            return await one.facts(20)

    ready = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(follow(ready)) for _ in range(20)]
        for _ in tasks:
            await ready.acquire()
        for version in range(2, 22, 4):
            await written_log.append(*changes("n1", version, 4))

    assert {tuple(task.result()) for task in tasks} == {
        tuple((await places(growing))[-20:])
    }


async def test_a_slow_reader_is_cut_off_with_a_cursor_to_go_on_from(
    growing: Client, written_log: WrittenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "QUEUE_MAX", 2)
    async with listening(growing) as one:
        await one.batch()
        await written_log.append(*changes("n1", 2, 9))

        name, document = await one.event()
        ended, _ = await one.event()

    (error,) = document["errors"]
    assert (name, ended) == ("next", "complete")
    assert error["extensions"]["code"] == "api.slow_reader"
    async with listening(
        growing, after=error["extensions"]["cursor"]
    ) as again:
        assert await again.facts(9) == (await places(growing))[-9:]


async def test_who_does_not_read_holds_no_one_up(
    growing: Client, written_log: WrittenLog
) -> None:
    """Far more is sent than an unread connection takes."""
    fields = " ".join(f"a{number}: detail" for number in range(90))
    query = (
        f'subscription {{ facts(cluster: "prod") {{ facts {{ {fields} }} }} }}'
    )
    body = orjson.dumps({"query": query})
    host, port = growing.address.removeprefix("http://").strip("/").split(":")
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect((host, int(port)))
    with deaf:
        deaf.sendall(
            b"POST /graphql HTTP/1.1\r\nHost: localhost\r\n"
            b"Accept: text/event-stream\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        deaf.settimeout(30)
        await asyncio.to_thread(deaf.recv, 20)
        async with listening(growing) as one:
            await one.batch()
            for version in range(2, 1002, 10):
                await written_log.append(*changes("n1", version, 10))

            assert len(await one.facts(1000)) == 1000


@pytest.mark.parametrize(
    "after", ["nonsense", "djE6OTk6MTow", "djE6MTo5OTk5OjA"]
)
async def test_a_cursor_that_this_log_never_gave_is_refused(
    growing: Client, after: str
) -> None:
    async with listening(growing, after=after) as one:
        name, document = await one.event()
        ended, _ = await one.event()

    assert (name, ended) == ("next", "complete")
    assert document["errors"][0]["extensions"]["code"] == "question.cursor"


async def test_a_subscription_is_refused_where_events_are_not_read(
    growing: Client,
) -> None:
    reply = await growing.post({"query": FACTS})

    assert reply.codes == ["graphql.invalid"]
    assert "text/event-stream" in reply.json["errors"][0]["message"]


async def test_subscriptions_that_ended_leave_nothing_behind(
    growing: Client, written_log: WrittenLog
) -> None:
    for version in range(2, 22, 2):
        async with listening(growing) as one:
            await one.batch()
            await written_log.append(*changes("n1", version, 2))

    def ended() -> bool:
        gc.collect()
        kept = [type(one) for one in gc.get_objects()]
        return following._Subscriber not in kept

    await until(ended)


async def test_what_was_answered_is_gone_before_the_collector_comes(
    growing: Client, written_log: WrittenLog
) -> None:
    """Else a server holds all that was asked since it last came by."""

    def is_gone() -> bool:
        return ColumnExecutor not in map(type, gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        for version in range(2, 12, 2):
            await places(growing)
            async with listening(growing) as one:
                await one.batch()
                await written_log.append(*changes("n1", version, 2))
                await one.facts(2)
        await until(is_gone)
    finally:
        gc.enable()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - no event of it
            await asyncio.sleep(0.05)
