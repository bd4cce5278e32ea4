"""Connections that say half of something, or never end, stop nothing."""

import asyncio

import pytest

from recorder.listening import protocol
from tests.api.serving import Client

HALF = (
    b"POST /graphql HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
)
"""A request whose body does not come."""


async def opened(
    served: Client,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = served.address.removeprefix("http://").strip("/").split(":")
    return await asyncio.open_connection(host, int(port))


async def connected(served: Client) -> asyncio.StreamWriter:
    _, writer = await opened(served)
    return writer


@pytest.mark.parametrize(
    "begun",
    [
        b"GET /",
        b"GET / HTTP/1.1\r\nX: ",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nX: ",
        HALF.replace(b"Content-Length: 99", b"Transfer-Encoding: chunked")[:-1]
        + b"1\r\n{\r\n0\r\nX: ",
    ],
    ids=["line", "header", "second", "trailer"],
)
async def test_a_head_without_end_is_not_kept(
    served: Client, begun: bytes
) -> None:
    writer = await connected(served)
    writer.write(begun)

    async def send_on() -> None:
        for _ in range(1000):
            writer.write(b"a" * 100_000)
            await writer.drain()

    with pytest.raises(ConnectionError):
        await send_on()
    writer.close()

    assert await served.answers()


@pytest.mark.parametrize(
    "head",
    [
        b"X: " + b"a" * 33_000,
        b"\r\n".join(b"X%d: a" % number for number in range(5_000)),
    ],
    ids=["one header", "many headers"],
)
async def test_a_head_beyond_the_bound_is_refused_though_it_ends(
    served: Client, head: bytes
) -> None:
    reader, writer = await opened(served)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n" % head)
    async with asyncio.timeout(5):
        answer = await reader.readline()
    writer.close()

    assert answer.startswith(b"HTTP/1.1 431 ")
    assert await served.answers()


async def test_connections_that_break_off_stop_nothing(
    served: Client,
) -> None:
    for sent in (
        b"",
        b"POST /graphql HT",
        HALF,
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01" * 50,
    ):
        writer = await connected(served)
        writer.write(sent)
        await writer.drain()
        writer.close()

    assert await served.answers()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request must be whole sooner than in life."""
    assert protocol.REQUEST_SECONDS == 10
    monkeypatch.setattr(protocol, "REQUEST_SECONDS", 0.2)


ASKED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
REFUSED = HALF.replace(b"Host: localhost", b"Host: elsewhere")


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("begun", "status"),
    [
        (b"\r\n", b"408 "),
        (b"POST /graphql HT", b"408 "),
        (HALF, b"408 "),
        (ASKED + b"GET / HTTP/1.1\r\nX: ", b"200 "),
        (ASKED + HALF, b"200 "),
        (REFUSED, b"403 "),
    ],
    ids=["nothing", "line", "body", "second", "second body", "refused"],
)
async def test_a_request_that_does_not_become_whole_is_cut_off(
    served: Client, begun: bytes, status: bytes
) -> None:
    reader, writer = await opened(served)
    writer.write(begun)
    async with asyncio.timeout(5):
        answer = await reader.read()
    writer.close()

    assert answer.startswith(b"HTTP/1.1 " + status)
    assert await served.answers()


@pytest.mark.usefixtures("soon")
async def test_a_body_that_trickles_is_cut_off(served: Client) -> None:
    reader, writer = await opened(served)
    writer.write(HALF)

    async def trickle() -> None:
        while True:
            writer.write(b"a")
            await asyncio.sleep(0.05)

    async with asyncio.timeout(3), asyncio.TaskGroup() as group:
        trickling = group.create_task(trickle())
        answer = await reader.readline()
        trickling.cancel()
    writer.close()

    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.usefixtures("soon")
async def test_an_answer_may_take_longer_than_its_request(
    served: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(*_: object) -> bytes:
        await asyncio.sleep(0.5)
        return b"{}"

    monkeypatch.setattr("api.http.graphql_http.read_body", slow)
    reply = await served.post({"query": "{ __typename }"})

    assert reply.codes == ["api.request"]


async def test_a_client_that_leaves_in_mid_body_is_one_line_of_the_log(
    served: Client, caplog: pytest.LogCaptureFixture
) -> None:
    _, writer = await opened(served)
    writer.write(HALF)
    await writer.drain()
    assert await served.answers()
    writer.close()

    for _ in range(1000):
        if caplog.records:
            break
        await asyncio.sleep(0.01)
    assert await served.answers()

    (record,) = caplog.records
    assert "ended before the request did, after 1 bytes" in record.getMessage()
    assert record.exc_info is None


@pytest.mark.parametrize(
    "asked",
    [
        b"GET /export.ndjson?cluster=crash&raw=1 HTTP/1.1\r\n",
        b"GET /graphql?query=%7Bincidents(log:2)%7Bcount%7D%7D HTTP/1.1\r\n",
        b"GET /assets/page.js HTTP/1.1\r\n",
    ],
    ids=["export", "question", "file"],
)
async def test_a_client_that_leaves_before_its_answer_leaves_no_traceback(
    served: Client, caplog: pytest.LogCaptureFixture, asked: bytes
) -> None:
    for wait in (0, 0.005, 0.02):
        _, writer = await opened(served)
        writer.write(asked + b"Host: localhost\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(wait)
        writer.transport.abort()
    for _ in range(20):
        assert await served.answers()

    assert caplog.records == []
