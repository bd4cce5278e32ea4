"""A subscriber: reads server-sent events as graphql-sse sends them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import orjson

from tests.api.serving import Client

__all__ = ["FACTS", "Listening", "listening"]

FACTS = """subscription Follow($node: String, $after: String) {
  facts(node: $node, after: $after, cluster: "prod") {
    cursor facts { entry index node kind } coverage { complete } } }"""

SECONDS = 30


class Listening:
    """One subscription that is open."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response
        self.cursor: str | None = None

    async def event(self) -> tuple[str, Any]:
        """Wait for the next event that is no comment."""
        name, data = "", ""
        async with asyncio.timeout(SECONDS):
            while True:
                raw = await self.response.content.readline()
                if not raw:
                    return "closed", None
                line = raw.decode().rstrip("\n")
                if line.startswith("event:"):
                    name = line.removeprefix("event:").strip()
                elif line.startswith("data:"):
                    data = line.removeprefix("data:").strip()
                elif not line and name:
                    return name, orjson.loads(data) if data else None

    async def batch(self) -> Any:
        """Wait for the next batch; remember its cursor."""
        name, document = await self.event()
        assert name == "next", (name, document)
        assert "errors" not in document, document
        batch = document["data"]["facts"]
        self.cursor = batch["cursor"]
        return batch

    async def facts(self, count: int) -> list[tuple[str, int]]:
        """Wait for so many facts; return their places."""
        found: list[tuple[str, int]] = []
        while len(found) < count:
            batch = await self.batch()
            found += [(one["entry"], one["index"]) for one in batch["facts"]]
        return found


@asynccontextmanager
async def listening(
    client: Client,
    *,
    headers: Mapping[str, str] | None = None,
    query: str = FACTS,
    **variables: Any,
) -> AsyncIterator[Listening]:
    """Subscribe while entered."""
    async with client.session.post(
        client.address + "graphql",
        json={"query": query, "variables": variables},
        headers={"Accept": "text/event-stream", **(headers or {})},
        timeout=aiohttp.ClientTimeout(total=None),
    ) as response:
        yield Listening(response)
