"""Connections to the audit webhook that hang keep no permitted sender out."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp
import pytest
import uvloop

from recorder.listening import door, protocol
from recorder.sources.audit import webhook
from tests.audit.receiving import Receiving, a_batch, a_record
from tests.support.memory_log import MemoryLog

MANY = 210
"""More than the webhook lets in at all."""

HEAD = b"POST /audit HTTP/1.1\r\nHost: x\r\nX: "
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
"""How a handshake begins."""

NO_TOKEN = (
    b"POST /audit HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n"
    b"Authorization: Bearer wrong\r\n\r\n{"
)

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def receiving(folder: Path) -> Receiving:
    return Receiving(
        folder,
        MemoryLog(),
        is_holder=lambda token: token == "right",
        asks_certificate=False,
    )


@pytest.fixture
async def one(tmp_path: Path) -> AsyncIterator[Receiving]:
    made = receiving(tmp_path)
    async with made.listening(), made.recording():
        yield made


async def connect(one: Receiving, begun: bytes, *, shakes: bool) -> Pair:
    host, _, port = one.url[8:].removesuffix("/audit").partition(":")
    trust = one.trust(None) if shakes else None
    pair = await asyncio.open_connection(host, int(port), ssl=trust)
    pair[1].write(begun)
    return pair


@asynccontextmanager
async def hanging(
    one: Receiving, begun: bytes, *, shakes: bool, count: int
) -> AsyncIterator[list[Pair]]:
    """Keep many connections that said the beginning of something."""
    held: list[Pair] = []

    async def keep() -> None:
        with suppress(OSError, ssl.SSLError):
            held.append(await connect(one, begun, shakes=shakes))

    try:
        # All at once: one that is dropped in its handshake gets an error.
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(keep())
        yield held
    finally:
        for _, writer in held:
            writer.transport.abort()


def goes_on(pair: Pair) -> bool:
    reader, writer = pair
    return not (writer.transport.is_closing() or reader.at_eof())


async def ended(pair: Pair) -> bytes:
    """Wait for the end of a connection; return what was answered."""
    with suppress(OSError, ssl.SSLError):
        return await pair[0].read()
    return b""


@pytest.mark.parametrize(
    ("begun", "shakes", "count"),
    [
        (b"", False, MANY),
        (HELLO, False, MANY),
        (HEAD, True, MANY),
        (NO_TOKEN, True, MANY // 3),
    ],
    ids=["nothing", "half a handshake", "half a head", "a wrong token"],
)
async def test_who_has_a_token_sends_while_hundreds_of_connections_hang(
    one: Receiving, begun: bytes, *, shakes: bool, count: int
) -> None:
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=one.trust(None), limit=1),
        headers={"Authorization": "Bearer right"},
    ) as before:
        await before.post(one.url, data=a_batch(a_record("before")))
        async with hanging(one, begun, shakes=shakes, count=count) as held:
            at = time.monotonic()
            async with asyncio.timeout(10):
                status, _, _ = await one.send(
                    a_batch(a_record("new")), token="right"
                )
                # Also on the connection that was there before them.
                again = await before.post(
                    one.url, data=a_batch(a_record("again"))
                )
            lasted = time.monotonic() - at
            kept = sum(map(goes_on, held))

    assert (status, again.status) == (200, 200)
    assert len(one.records()) == 3
    assert not one.gaps()
    assert kept <= webhook.BOUNDS.strangers_of_a_peer
    assert lasted < 5


def test_so_it_is_in_the_event_loop_of_the_command(tmp_path: Path) -> None:
    async def attacked() -> tuple[int, int]:
        one = receiving(tmp_path)
        async with (
            one.listening(),
            one.recording(),
            hanging(one, HEAD, shakes=True, count=160) as held,
        ):
            async with asyncio.timeout(10):
                status, _, _ = await one.send(
                    a_batch(a_record("a")), token="right"
                )
            return status, sum(map(goes_on, held))

    status, kept = uvloop.run(attacked())

    assert status == 200
    assert kept <= webhook.BOUNDS.strangers_of_a_peer


async def test_what_hangs_is_ended_in_time(
    one: Receiving, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (door.HANDSHAKE_SECONDS, protocol.REQUEST_SECONDS) == (10, 10)
    monkeypatch.setattr(door, "HANDSHAKE_SECONDS", 0.3)
    monkeypatch.setattr(protocol, "REQUEST_SECONDS", 0.3)
    shaking = await connect(one, HELLO, shakes=False)
    heading = await connect(one, HEAD, shakes=True)
    right = NO_TOKEN.replace(b"wrong", b"right")
    bodied = await connect(one, right, shakes=True)
    async with asyncio.timeout(10):
        answers = [await ended(pair) for pair in (shaking, heading, bodied)]
    for _, writer in (shaking, heading, bodied):
        writer.transport.abort()

    assert not answers[0].startswith(b"HTTP")
    assert [one[:13] for one in answers[1:]] == [b"HTTP/1.1 408 "] * 2
    async with asyncio.timeout(10):
        while one.received.held_bytes or one.received.waiting:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    assert (await one.send(a_batch(a_record("a")), token="right"))[0] == 200


async def test_a_head_beyond_the_bound_is_refused_also_with_a_token(
    one: Receiving,
) -> None:
    body = a_batch(a_record("a"))
    below = await one.send(body, token="right", X="a" * 30_000)
    beyond = [
        await one.send(body, token="right", X="a" * 33_000),
        await one.send(
            body, token="right", **{f"X{n}": "a" * 100 for n in range(320)}
        ),
    ]

    assert below[0] == 200
    assert [status for status, _, _ in beyond] == [431, 431]
    assert len(one.records()) == 1
