"""A server in this process, and a plain client of it."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import aiohttp

from recorder.model.settings import Settings
from recorder.wiring.serving import serving

__all__ = [
    "Client",
    "Reply",
    "served_by",
    "serving_beside",
    "settings_for",
]

JSON = "application/json"


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    json: Any

    @property
    def codes(self) -> list[str]:
        """The codes of its errors."""
        errors = self.json.get("errors", ())
        return [error["extensions"]["code"] for error in errors]


class Client:
    """Asks one server."""

    def __init__(self, address: str, session: aiohttp.ClientSession) -> None:
        self.address = address
        self.session = session

    async def ask(
        self,
        query: str,
        /,
        headers: Mapping[str, str] | None = None,
        **variables: Any,
    ) -> Any:
        """Ask, and return the data; there must be no errors."""
        reply = await self.post(
            {"query": query, "variables": variables}, headers=headers
        )
        assert reply.status == 200, reply
        assert "errors" not in reply.json, reply.json["errors"]
        return reply.json["data"]

    async def answers(self) -> bool:
        """Ask something simple of the log of the crash."""
        found = await self.ask('{ nodeNames(cluster: "crash") }')
        return "gpu-002" in found["nodeNames"]

    async def refused(self, query: str, /, **variables: Any) -> list[str]:
        """Ask what is refused, and return the codes."""
        reply = await self.post({"query": query, "variables": variables})
        return reply.codes

    async def post(
        self,
        document: Any,
        *,
        headers: Mapping[str, str] | None = None,
        accept: str = JSON,
    ) -> Reply:
        """Post a document as JSON."""
        return await self.request(
            "POST",
            "graphql",
            json=document,
            headers={"Accept": accept, **(headers or {})},
        )

    async def request(self, method: str, path: str, **given: Any) -> Reply:
        """Send any request."""
        url = self.address + path
        async with self.session.request(method, url, **given) as response:
            body = await response.read()
            kind = response.headers.get("Content-Type", "")
            return Reply(
                response.status,
                response.headers,
                body,
                await response.json(content_type=None)
                if "json" in kind and "ndjson" not in kind
                else None,
            )


@asynccontextmanager
async def served_by(
    dsn: str, *, tokens: Path | None = None
) -> AsyncIterator[Client]:
    """Serve a database on a free port while entered."""
    async with (
        serving(settings_for(dsn, tokens), asyncio.Event()) as address,
        aiohttp.ClientSession() as session,
    ):
        yield Client(address, session)


@contextmanager
def serving_beside(settings: Settings) -> Iterator[str]:
    """Serve from a thread, whatever loop asks; yield the address.

    For many tests that only ask: to begin and end a server takes longer
    than most of them.
    """
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, str]]
    begun = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        async with serving(settings, stop) as address:
            begun.set_result((asyncio.get_running_loop(), stop, address))
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as exc:
            if begun.done():
                raise
            begun.set_exception(exc)

    thread = Thread(target=run, name="serving")
    thread.start()
    loop, stop, address = begun.result()
    try:
        yield address
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


def settings_for(dsn: str | None, tokens: Path | None = None) -> Settings:
    """Return the settings of a server of a database, or of none yet."""
    return Settings(
        database_url=dsn,
        data_dir=Path("/nonexistent"),
        kubeconfig="/nonexistent",
        serve_listen="127.0.0.1:0",
        token_file=tokens,
    )
