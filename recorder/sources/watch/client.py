"""The client of one cluster: its name, its identity, and GET requests.

Built from a kubeconfig, or from the Pod's service account. It knows nothing of
lists or watches, and writes nothing: the only other verb is POST for reviews,
which the API server answers and does not store.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self

import aiohttp
import msgspec

from recorder.sources.watch.clock import Clock
from recorder.sources.watch.credentials import Credentials
from recorder.sources.watch.errors import BadAnswerError
from recorder.sources.watch.frames import UNREADABLE
from recorder.sources.watch.settings import WatchSettings
from recorder.sources.watch.transport import Answer, Transport

_SMALL_BODY = 8 << 20
"""Bound of a document that is read in one piece: an object, or discovery."""

JSON = "application/json"
OK = 200


@dataclass(frozen=True, slots=True)
class ClusterIdentity:
    """The identity of the cluster that responds."""

    name: str
    """The operator's name for it: the context, or ``in-cluster``."""

    uid: str
    """The UID of its kube-system namespace."""

    server_version: str


class _Metadata(msgspec.Struct):
    uid: str


class _Namespace(msgspec.Struct):
    metadata: _Metadata


class _Version(msgspec.Struct):
    gitVersion: str = ""  # noqa: N815 - the API's own name


class ClusterClient:
    """Sends requests to one cluster; shared by all components that do."""

    def __init__(
        self,
        transport: Transport,
        *,
        settings: WatchSettings,
        clock: Clock,
    ) -> None:
        self._transport = transport
        self.settings = settings
        self.clock = clock

    @classmethod
    def from_kubeconfig(
        cls,
        path: str | None = None,
        context: str | None = None,
        *,
        settings: WatchSettings | None = None,
        clock: Clock | None = None,
    ) -> Self:
        """Make a client; nothing is read or requested until its first request.

        Without a path, kubectl's rules apply: ``KUBECONFIG``, the user's file,
        and in a Pod its service account.


        Raises:
            KubeconfigError: there is none.
        """
        settings = settings or WatchSettings()
        clock = clock or Clock()
        credentials = Credentials(
            path, context, age_max=settings.credentials_age, clock=clock
        )
        transport = Transport(
            credentials, connect=settings.connect, clock=clock
        )
        return cls(transport, settings=settings, clock=clock)

    @property
    def name(self) -> str:
        """The operator's name for the cluster; known after a request."""
        return self._transport.credentials.name

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.close()

    async def identity(self) -> ClusterIdentity:
        """Return the identity of the cluster that responds.

        Raises:
            KubeconfigError: the credentials cannot be read.
            RequestError: it does not respond, or the permission to get the
                namespace kube-system is missing.
        """
        uid = await self.uid()
        path = "/version"
        body = await self.read(path, verb="get", what=path)
        try:
            version = msgspec.json.decode(body, type=_Version).gitVersion
        except UNREADABLE as exc:
            raise self.bad_answer(path, exc) from exc
        return ClusterIdentity(self.name, uid, version)

    async def uid(self) -> str:
        """Return only the UID of the cluster."""
        what = "v1/namespaces/kube-system"
        path = "/api/v1/namespaces/kube-system"
        body = await self.read(path, verb="get", what=what)
        try:
            return msgspec.json.decode(body, type=_Namespace).metadata.uid
        except UNREADABLE as exc:
            raise self.bad_answer(what, exc) from exc

    async def date(self) -> str | None:
        """Return the server's time in whole seconds, as HTTP writes it.

        None if the response has none.

        Raises:
            RequestError: the server does not respond.
        """
        path = "/version"
        timeout = aiohttp.ClientTimeout(total=self.settings.connect)
        async with self._transport.get(
            path,
            ("get", path),
            params={},
            accept=JSON,
            timeout=timeout,
        ) as answer:
            await answer.body(limit=_SMALL_BODY)
            return answer.date

    async def read(
        self,
        path: str,
        *,
        verb: str,
        what: str,
        params: Mapping[str, str] | None = None,
        accept: str = JSON,
        limit: int = _SMALL_BODY,
    ) -> bytes:
        """Get one document, within a bound of bytes and of time.

        Raises:
            TooLargeError: it exceeds the bound.
            RequestError: the request failed.
        """
        timeout = aiohttp.ClientTimeout(
            total=self.settings.request, sock_connect=self.settings.connect
        )
        async with self._transport.get(
            path,
            (verb, what),
            params=params or {},
            accept=accept,
            timeout=timeout,
        ) as answer:
            return await answer.body(limit=limit)

    async def review(self, path: str, body: bytes, *, what: str) -> bytes:
        """Post a review to the API server; return its response.

        Raises:
            RequestError: the request failed.
        """
        timeout = aiohttp.ClientTimeout(
            total=self.settings.request, sock_connect=self.settings.connect
        )
        async with self._transport.post(
            path, body, what=what, timeout=timeout
        ) as answer:
            return await answer.body(limit=_SMALL_BODY)

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        *,
        what: str,
        params: Mapping[str, str],
        idle: float,
        server: str = "",
        verb: str = "watch",
    ) -> AsyncIterator[Answer]:
        """Open a watch; yield its response, which the server ends.

        With ``server`` (``HOST:PORT``), the watch is requested from that one
        of several servers behind the address of the cluster.
        """
        timeout = aiohttp.ClientTimeout(
            sock_connect=self.settings.connect, sock_read=idle
        )
        async with self._transport.get(
            path,
            (verb, what),
            params=params,
            accept=JSON,
            timeout=timeout,
            server=server,
        ) as answer:
            yield answer

    def bad_answer(
        self, what: str, why: object, *, verb: str = "get"
    ) -> BadAnswerError:
        """Return the error for a response that cannot be parsed."""
        asked = self._transport.asked(verb, what)
        msg = f"cannot {asked}: the response cannot be parsed: {why}"
        return BadAnswerError(msg, OK)
