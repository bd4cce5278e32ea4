"""What is text is compressed on the wire, and reads as if it were not."""

import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import brotli
import orjson
import pytest

from recorder.model.zstd import decompress as unzstd
from tests.api.listening import FACTS
from tests.api.serving import Client, Reply
from tests.support.written_log import WrittenLog, changes

DECODED: dict[str, Callable[[bytes], bytes]] = {
    "zstd": unzstd,
    "br": brotli.decompress,
    "gzip": gzip.decompress,
}
BROWSER = "gzip, deflate, br, zstd"
FACTS_OF = """{ facts(cluster: "crash", first: 100) {
  nodes { entry index at node says } } }"""


@pytest.fixture
async def raw(serving_address: str) -> AsyncIterator[Client]:
    """A client that is shown what came, still encoded."""
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        yield Client(serving_address, session)


async def got(client: Client, path: str, accepts: str) -> Reply:
    headers = {"Accept-Encoding": accepts}
    url = client.address + path
    async with client.session.get(url, headers=headers) as response:
        body = await response.read()
        return Reply(response.status, response.headers, body, None)


async def posted(client: Client, query: str, accepts: str) -> Reply:
    async with client.session.post(
        client.address + "graphql",
        json={"query": query},
        headers={"Accept-Encoding": accepts},
    ) as response:
        body = await response.read()
        return Reply(response.status, response.headers, body, None)


@pytest.mark.parametrize("encoding", DECODED)
async def test_an_answer_is_compressed_as_the_client_can_read_it(
    raw: Client, encoding: str
) -> None:
    plain = await posted(raw, FACTS_OF, "identity")
    reply = await posted(raw, FACTS_OF, encoding)

    assert "Content-Encoding" not in plain.headers
    assert reply.headers["Content-Encoding"] == encoding
    assert DECODED[encoding](reply.body) == plain.body
    assert len(reply.body) < len(plain.body) / 4
    for one in (plain, reply):
        assert one.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("accepts", "chosen"),
    [
        (BROWSER, "zstd"),
        ("gzip, br", "br"),
        ("*", "zstd"),
        ("gzip;q=0, br;q=0", None),
        ("zstd;q=0, br;q=0, gzip", "gzip"),
        ("deflate", None),
        (";;,=q", None),
    ],
)
async def test_the_smallest_that_a_client_accepts_is_chosen(
    raw: Client, accepts: str, chosen: str | None
) -> None:
    reply = await posted(raw, FACTS_OF, accepts)

    assert reply.headers.get("Content-Encoding") == chosen


async def test_both_media_types_of_answers_are_compressed(raw: Client) -> None:
    async with raw.session.post(
        raw.address + "graphql",
        json={"query": FACTS_OF},
        headers={
            "Accept": "application/graphql-response+json",
            "Accept-Encoding": "zstd",
        },
    ) as response:
        body = await response.read()

    assert response.headers["Content-Encoding"] == "zstd"
    assert orjson.loads(unzstd(body))["data"]


async def test_what_is_small_is_sent_as_it_is(raw: Client) -> None:
    reply = await posted(raw, "{ __typename }", BROWSER)

    assert "Content-Encoding" not in reply.headers
    assert orjson.loads(reply.body) == {"data": {"__typename": "Query"}}


@pytest.mark.parametrize("encoding", DECODED)
async def test_an_export_is_compressed_while_it_is_read(
    raw: Client, encoding: str
) -> None:
    path = "export.ndjson?cluster=crash&raw=1"
    plain = await got(raw, path, "identity")
    reply = await got(raw, path, encoding)

    assert reply.headers["Content-Encoding"] == encoding
    # The coverage says when it was asked for.
    lines = DECODED[encoding](reply.body).splitlines()
    assert lines[:-1] == plain.body.splitlines()[:-1]
    assert orjson.loads(lines[-1])["coverage"]["complete"] is True


@pytest.mark.parametrize("path", ["", "assets/page.js", "assets/page.css"])
async def test_the_page_is_compressed(raw: Client, path: str) -> None:
    plain = await got(raw, path, "identity")
    reply = await got(raw, path, BROWSER)

    assert reply.headers["Content-Encoding"] == "zstd"
    assert unzstd(reply.body) == plain.body


async def test_each_event_can_be_read_when_it_comes(
    growing: Client, written_log: WrittenLog
) -> None:
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)

    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        session.post(
            growing.address + "graphql",
            json={"query": FACTS},
            headers={
                "Accept": "text/event-stream",
                "Accept-Encoding": BROWSER,
            },
        ) as response,
    ):
        assert response.headers["Content-Encoding"] == "gzip"
        assert response.headers["Vary"] == "Accept-Encoding"

        async def event() -> Any:
            text = b""
            while b"data:" not in text or not text.endswith(b"\n\n"):
                text += reader.decompress(await response.content.readany())
            return orjson.loads(text.partition(b"data:")[2])

        began = await event()
        await written_log.append(*changes("n1", 2, 1))
        came = await event()

    assert began["data"]["facts"]["facts"] == []
    assert came["data"]["facts"]["facts"][0]["node"] == "n1"


async def test_events_are_plain_for_a_client_that_cannot_read_gzip(
    growing: Client,
) -> None:
    async with growing.session.post(
        growing.address + "graphql",
        json={"query": FACTS},
        headers={
            "Accept": "text/event-stream",
            "Accept-Encoding": "gzip; q=0.0, br",
        },
    ) as response:
        first = await response.content.readline()

    assert "Content-Encoding" not in response.headers
    assert first == b":\n"
