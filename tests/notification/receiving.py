"""A receiver: a real HTTP server that answers as configured."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import orjson
from aiohttp import web

__all__ = ["Receiver", "Taken", "receiver"]


class Taken(NamedTuple):
    """One request that was posted."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> str:
        return self.headers["Idempotency-Key"]

    @property
    def json(self) -> object:
        return orjson.loads(self.body)


Reply = Callable[[Taken], web.Response | None]


class Receiver:
    """What came; an answer of None hangs until the test ends."""

    def __init__(self) -> None:
        self.url = ""
        self.taken: list[Taken] = []
        self.reply: Reply = lambda _: web.Response(text="ok")
        self._came = asyncio.Event()
        self._over = asyncio.Event()

    @property
    def keys(self) -> list[str]:
        return [one.key for one in self.taken]

    async def handle(self, request: web.Request) -> web.Response:
        one = Taken(request.path, dict(request.headers), await request.read())
        self.taken.append(one)
        self._came.set()
        response = self.reply(one)
        if response is None:
            await self._over.wait()
            raise web.HTTPServiceUnavailable
        return response

    async def until(self, count: int) -> None:
        """Wait until so much came."""
        async with asyncio.timeout(20):
            while len(self.taken) < count:
                self._came.clear()
                await self._came.wait()

    def end(self) -> None:
        self._over.set()


@asynccontextmanager
async def receiver(
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Receiver]:
    found = Receiver()
    app = web.Application()
    app.router.add_post("/{path:.*}", found.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    scheme = "http" if tls is None else "https"
    found.url = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        yield found
    finally:
        found.end()
        await runner.cleanup()
