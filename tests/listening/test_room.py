"""Which connections are accepted, evicted and refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.types import Receive, Scope, Send

from recorder.doctor.health import HealthServer
from recorder.intake.progress import Progress
from recorder.listening import Bounds, bound_socket, let_in, listening

BOUNDS = Bounds(
    connections=8, strangers=6, strangers_of_a_peer=4, idle_seconds=30
)
ASKED = b"GET /known HTTP/1.1\r\nHost: x\r\n\r\n"
HALF = b"GET / HTTP/1.1\r\nX: "


async def app(scope: Scope, _: Receive, send: Send) -> None:
    """Accept connections that request the right path."""
    if scope["path"] == "/known":
        let_in(scope)
    headers = [(b"content-length", b"2")]
    await send(
        {"type": "http.response.start", "status": 200, "headers": headers}
    )
    await send({"type": "http.response.body", "body": b"ok"})


class Peer:
    """Opens connections from one address."""

    def __init__(self, address: str, last: int) -> None:
        host, _, port = address.partition(":")
        self._server = host, int(port)
        self._from = f"127.0.0.{last}", 0
        self.open: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def says(self, what: bytes, *, count: int = 1) -> None:
        for _ in range(count):
            reader, writer = await asyncio.open_connection(
                *self._server, local_addr=self._from
            )
            writer.write(what)
            self.open.append((reader, writer))
            # In the order in which they came.
            await asyncio.sleep(0.01)

    async def asks(self, which: int = -1) -> bytes:
        reader, writer = self.open[which]
        writer.write(ASKED)
        async with asyncio.timeout(5):
            line = await reader.readline()
            while line and await reader.readline() != b"\r\n":
                pass
            await reader.readexactly(2 if line else 0)
        return line[9:12]

    async def lasting(self) -> list[bool]:
        """Return which of its connections remain."""
        await asyncio.sleep(0.05)
        return [
            not reader.at_eof() and reader.exception() is None
            for reader, _ in self.open
        ]

    def close(self) -> None:
        for _, writer in self.open:
            writer.transport.abort()


@asynccontextmanager
async def peers(count: int) -> AsyncIterator[list[Peer]]:
    bound = bound_socket("127.0.0.1:0", setting="none")
    async with listening(app, bound, BOUNDS) as address:
        made = [Peer(address, last) for last in range(2, 2 + count)]
        try:
            yield made
        finally:
            for peer in made:
                peer.close()


async def test_a_stranger_takes_the_place_of_the_oldest_of_its_peer() -> None:
    async with peers(1) as (peer,):
        await peer.says(HALF, count=5)

        assert await peer.lasting() == [False, True, True, True, True]


async def test_who_has_most_makes_room_for_others() -> None:
    async with peers(3) as (many, few, new):
        await few.says(HALF, count=2)
        await many.says(HALF, count=4)
        await new.says(HALF)

        assert await many.lasting() == [False, True, True, True]
        assert await few.lasting() == [True, True]
        assert await new.lasting() == [True]


async def test_who_was_let_in_makes_no_room_for_strangers() -> None:
    async with peers(2) as (known, many):
        await known.says(b"", count=4)
        said = [await known.asks(which) for which in range(4)]
        await many.says(HALF, count=9)

        assert said == [b"200"] * 4
        assert all(await known.lasting())
        assert sum(await many.lasting()) == 4
        assert await known.asks(0) == b"200"


async def test_beyond_the_bound_of_all_a_stranger_is_refused() -> None:
    async with peers(3) as (one, other, new):
        for peer in (one, other):
            await peer.says(b"", count=4)
            assert [await peer.asks(n) for n in range(4)] == [b"200"] * 4
        await new.says(HALF)

        assert await new.lasting() == [False]
        one.close()
        await asyncio.sleep(0.05)
        await new.says(b"")
        assert await new.asks() == b"200"


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"X: " + b"a" * 30_000, b"200"),
        (b"X: " + b"a" * 33_000, b"431"),
        (b"\r\n".join(b"X%d: a" % n for n in range(5_000)), b"431"),
    ],
    ids=["below", "one header", "many headers"],
)
async def test_probes_take_no_head_beyond_the_bound(
    head: bytes, status: bytes
) -> None:
    """In one piece, with its end."""
    async with HealthServer(Progress()).listen("127.0.0.1:0") as address:
        host, _, port = address.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n" % head)
        async with asyncio.timeout(5):
            line = await reader.readline()
        writer.transport.abort()

    assert line[9:12] == status
