"""Asking a store over the HTTP API of Prometheus.

By instant queries with a range selector, which return the samples themselves.
A range query evaluates at each step and repeats the last sample for up to five
minutes: it shows values of a series that has ended
(https://prometheus.io/docs/prometheus/latest/querying/basics/#staleness).
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from http import HTTPStatus
from math import ceil, isfinite
from pathlib import Path
from typing import Final

import aiohttp
import msgspec

from recorder import __version__
from recorder.measuring.ports import Sampled, StoreError
from recorder.measuring.store_file import MetricsError, MetricsStore

PATH: Final = "/api/v1/query"
ANSWER_BYTES_MAX: Final = 8 << 20
"""Of one metric of one node in two hours: 2,000 series have about 8 MiB."""

SERIES_MAX: Final = 500
"""Of one metric of one node."""

TOKEN_BYTES_MAX: Final = 8 << 10
SHOWN_MAX: Final = 200


class _Series(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]]


class _Data(msgspec.Struct):
    resultType: str  # noqa: N815 - as the API has it
    result: list[msgspec.Raw] = []


class _Answer(msgspec.Struct):
    status: str
    data: _Data | None = None
    error: str = ""


class Prometheus:
    """One store."""

    def __init__(
        self, store: MetricsStore, session: aiohttp.ClientSession
    ) -> None:
        self._store = store
        self._session = session
        self._free_at = 0.0

    async def samples(
        self, selector: str, *, end: datetime, span: timedelta
    ) -> Sequence[Sampled]:
        """Return the samples of each series in a span that ends at a time.

        Raises:
            StoreError: there was no usable answer in time.
            MetricsError: a file of the store's description cannot be used.
        """
        await self._turn()
        query = f"{selector}[{ceil(span.total_seconds())}s]"
        body = await self._post(query, end)
        try:
            answer = msgspec.json.decode(body, type=_Answer)
            if answer.data is None or answer.data.resultType != "matrix":
                msg = f"the store rejected the query: {answer.error[:200]}"
                raise StoreError(msg)
            series = [
                msgspec.json.decode(one, type=_Series)
                for one in answer.data.result[:SERIES_MAX]
            ]
            return [
                Sampled(one.metric, found)
                for one in series
                if (found := _finite(one.values))
            ]
        except (msgspec.MsgspecError, ValueError, RecursionError) as exc:
            msg = "the answer is not that of Prometheus' HTTP API"
            raise StoreError(msg) from exc

    async def _turn(self) -> None:
        """Wait for the next request that the store's limit allows."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        at = max(now, self._free_at)
        self._free_at = at + 60 / self._store.requests_a_minute
        await asyncio.sleep(at - now)

    async def _post(self, query: str, end: datetime) -> bytes:
        store = self._store
        headers = {"User-Agent": f"recorder/{__version__}", **store.headers}
        if store.token_file is not None:
            headers["Authorization"] = f"Bearer {_token(store.token_file)}"
        timeout = aiohttp.ClientTimeout(total=store.timeout_seconds)
        try:
            async with self._session.post(
                store.url.rstrip("/") + PATH,
                data={"query": query, "time": f"{end.timestamp():.3f}"},
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
                ssl=_tls(store) if store.url.startswith("https") else True,
            ) as answer:
                return await _body(answer)
        except TimeoutError as exc:
            msg = f"no answer within {store.timeout}"
            raise StoreError(msg) from exc
        except aiohttp.ClientError as exc:
            msg = f"no answer: {type(exc).__name__}"
            raise StoreError(msg) from exc


async def _body(answer: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for part in answer.content.iter_any():
        body += part
        if len(body) > ANSWER_BYTES_MAX:
            msg = f"the answer has more than {ANSWER_BYTES_MAX:,} bytes"
            raise StoreError(msg)
    if answer.status != HTTPStatus.OK:
        says = " ".join(body[:SHOWN_MAX].decode(errors="replace").split())
        msg = f"the store answers {answer.status}: {says}"
        raise StoreError(msg)
    return bytes(body)


def _finite(
    values: Sequence[tuple[float, str]],
) -> list[tuple[float, float]]:
    """Return the samples that are numbers; a stale marker is none."""
    samples = [(at, float(text)) for at, text in values]
    return [(at, value) for at, value in samples if isfinite(value)]


def _token(name: str) -> str:
    try:
        with Path(name).open() as file:
            token = file.read(TOKEN_BYTES_MAX).strip()
    except (OSError, UnicodeDecodeError) as exc:
        msg = f'cannot read the token in "{name}": {exc}'
        raise MetricsError(msg) from exc
    if not token or not token.isascii() or not token.isprintable():
        msg = f'cannot use "{name}": the token is not one word'
        raise MetricsError(msg)
    return token


def _tls(store: MetricsStore) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=store.ca_file)
    except (OSError, ssl.SSLError) as exc:
        msg = f'cannot use the authorities in "{store.ca_file}": {exc}'
        raise MetricsError(msg) from exc


@asynccontextmanager
async def prometheus(store: MetricsStore) -> AsyncIterator[Prometheus]:
    """Yield a client of the store while entered."""
    connector = aiohttp.TCPConnector(limit=4)
    async with aiohttp.ClientSession(
        connector=connector, cookie_jar=aiohttp.DummyCookieJar()
    ) as session:
        yield Prometheus(store, session)
