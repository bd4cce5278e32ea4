"""Connections that say half of something, or never end, stop nothing."""

import asyncio

import pytest

from tests.api.serving import Client

HALF = (
    b"POST /graphql HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
)
"""A request whose body does not come."""


async def connected(served: Client) -> asyncio.StreamWriter:
    host, port = served.address.removeprefix("http://").strip("/").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
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
