"""GraphQL over a WebSocket: as its protocol says, and within bounds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from gql import Client as GqlClient
from gql import gql
from gql.transport.websockets import WebsocketsTransport
from starlette.websockets import WebSocket

from api.access import LocalGuard
from api.http import websocket
from api.http.websocket import PROTOCOL, Socket
from recorder.keeping.tokens import TokenFile
from tests.api.listening import FACTS
from tests.api.serving import Client, served_by
from tests.support.postgres import Database
from tests.support.written_log import WrittenLog, changes

NAMES = '{ nodeNames(cluster: "crash") }'
SECONDS = 20


class Talking:
    """A client that says anything."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def say(self, **message: Any) -> None:
        await self.socket.send_json(message)

    async def hear(self) -> Any:
        async with asyncio.timeout(SECONDS):
            return await self.socket.receive_json()

    async def begin(self, **payload: Any) -> None:
        await self.say(type="connection_init", payload=payload)
        assert await self.hear() == {"type": "connection_ack"}

    async def subscribe(self, name: str, query: str, **variables: Any) -> None:
        payload = {"query": query, "variables": variables}
        await self.say(type="subscribe", id=name, payload=payload)

    async def closed(self) -> int | None:
        async with asyncio.timeout(SECONDS):
            while (await self.socket.receive()).type is aiohttp.WSMsgType.TEXT:
                pass
        return self.socket.close_code


@asynccontextmanager
async def talking(client: Client, **more: Any) -> AsyncIterator[Talking]:
    url = client.address.replace("http", "ws", 1) + "graphql"
    async with client.session.ws_connect(
        url, **{"protocols": (PROTOCOL,), **more}
    ) as socket:
        yield Talking(socket)


async def test_a_subscriber_receives_what_is_committed(
    growing: Client, written_log: WrittenLog
) -> None:
    async with talking(growing) as one:
        await one.begin()
        await one.subscribe("a", FACTS)
        began = await one.hear()
        await written_log.append(*changes("n1", 2, 1))
        first = await one.hear()
        await one.say(type="complete", id="a")
        await one.say(type="ping")
        last = await one.hear()

    assert (began["type"], began["id"]) == ("next", "a")
    assert began["payload"]["data"]["facts"]["facts"] == []
    assert first["payload"]["data"]["facts"]["facts"][0]["node"] == "n1"
    assert last == {"type": "pong"}


async def test_a_client_that_is_not_ours_subscribes(
    growing: Client, written_log: WrittenLog
) -> None:
    url = growing.address.replace("http", "ws", 1) + "graphql"
    transport = WebsocketsTransport(url=url, subprotocols=[PROTOCOL])
    found = []
    async with GqlClient(transport=transport) as session:
        async for first in session.subscribe(gql(FACTS)):
            found.append(first["facts"]["facts"])
            if len(found) == 2:
                break
            await written_log.append(*changes("n1", 2, 1))

    assert found[0] == []
    assert found[1][0]["node"] == "n1"


async def test_a_query_is_answered_and_completed(served: Client) -> None:
    async with talking(served) as one:
        await one.begin()
        await one.subscribe("q", NAMES)
        first, end = await one.hear(), await one.hear()
        await one.subscribe("bad", "{ nope }")
        wrong = await one.hear()
        await one.subscribe("q", NAMES)
        again = await one.hear()

    assert "gpu-002" in first["payload"]["data"]["nodeNames"]
    assert end == {"type": "complete", "id": "q"}
    assert wrong["type"] == "error"
    assert wrong["payload"][0]["extensions"]["code"] == "graphql.invalid"
    assert again["payload"] == first["payload"]


INIT = {"type": "connection_init"}
ASKS = {"type": "subscribe", "id": "a", "payload": {"query": NAMES}}


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([ASKS], 4401),
        ([INIT, INIT], 4429),
        ([INIT, {"type": "nope"}], 4400),
        ([INIT, {"no": "type"}], 4400),
        ([INIT, {"type": "subscribe", "payload": {"query": NAMES}}], 4400),
        ([INIT, {"type": "subscribe", "id": "a"}], 4400),
        ([INIT, {**ASKS, "payload": {"query": 1}}], 4400),
        ([INIT, [1]], 4400),
    ],
)
async def test_what_is_not_of_the_protocol_ends_the_connection(
    served: Client, messages: list[Any], code: int
) -> None:
    async with talking(served) as one:
        for message in messages:
            await one.socket.send_json(message)

        assert await one.closed() == code
    assert await served.answers()


async def test_an_operation_has_a_name_of_its_own(
    growing: Client, written_log: WrittenLog
) -> None:
    del written_log
    async with talking(growing) as one:
        await one.begin()
        await one.subscribe("a", FACTS)
        await one.subscribe("a", FACTS)

        assert await one.closed() == 4409


async def test_a_connection_has_so_many_operations_at_once(
    growing: Client, written_log: WrittenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    del written_log
    monkeypatch.setattr(websocket, "OPERATIONS_MAX", 2)
    async with talking(growing) as one:
        await one.begin()
        for name in "abc":
            await one.subscribe(name, FACTS)

        assert await one.closed() == 4413


async def test_a_connection_that_does_not_begin_ends(
    served: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "INIT_SECONDS", 0.1)
    async with talking(served) as one:
        assert await one.closed() == 4408


async def test_a_message_is_of_a_bounded_size(served: Client) -> None:
    async with talking(served) as one:
        await one.begin()
        await one.socket.send_str("x" * (300 << 10))

        assert await one.closed() == 1009
    assert await served.answers()


async def test_another_protocol_is_refused(served: Client) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError):
        async with talking(served, protocols=("graphql-ws",)):
            pass


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Host": "evil.example"}]
)
async def test_pages_of_others_may_not_connect(
    served: Client, headers: dict[str, str]
) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with talking(served, headers=headers):
            pass

    assert refused.value.status == 403


async def test_a_token_admits_until_it_is_revoked(
    asked_database: Database, tmp_path: Path
) -> None:
    tokens = TokenFile(tmp_path / "tokens")
    bearer = f"Bearer {tokens.add('one')}"
    async with served_by(
        asked_database.dsn("reader"), tokens=tmp_path / "tokens"
    ) as client:
        async with talking(client) as stranger:
            await stranger.say(type="connection_init")
            assert await stranger.closed() == 4403
        async with (
            talking(client, headers={"Authorization": bearer}) as by_header,
            talking(client) as by_payload,
        ):
            await by_header.begin()
            await by_payload.begin(Authorization=bearer)
            await by_payload.subscribe("a", NAMES)
            assert (await by_payload.hear())["type"] == "next"
            tokens.revoke("one")
            async with asyncio.timeout(3):
                assert await by_header.closed() == 4403
                assert await by_payload.closed() == 4403


async def test_who_pings_and_does_not_read_is_no_longer_read() -> None:
    """Nothing piles up: no answers, and no tasks that wait to answer."""
    heard: list[str] = []

    async def receive() -> dict[str, Any]:
        if not heard:
            heard.append("connect")
            return {"type": "websocket.connect"}
        kind = "connection_init" if len(heard) == 1 else "ping"
        heard.append(kind)
        return {"type": "websocket.receive", "text": f'{{"type":"{kind}"}}'}

    async def send(message: Any) -> None:
        if "pong" in message.get("text", ""):
            await asyncio.Event().wait()

    async def nothing(*_: Any) -> Any:
        raise AssertionError

    scope = {"type": "websocket", "headers": [], "subprotocols": [PROTOCOL]}
    socket = Socket(
        WebSocket(scope, receive, send), LocalGuard(), None, nothing
    )
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(socket.serve())
        for _ in range(1000):
            await asyncio.sleep(0)
        serving.cancel()

    assert heard == ["connect", "connection_init", "ping"]


async def test_a_client_that_breaks_off_leaves_nothing(
    growing: Client, written_log: WrittenLog, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        async with talking(growing) as one:
            await one.begin()
            await one.subscribe("a", FACTS)
            await one.hear()
            transport = one.socket.get_extra_info("socket")
            assert transport is not None
            one.socket._writer.transport.abort()
    await written_log.append(*changes("n1", 2, 1))
    async with talking(growing) as later:
        await later.begin()
        await later.subscribe("a", FACTS)
        assert (await later.hear())["type"] == "next"

    assert caplog.records == []
