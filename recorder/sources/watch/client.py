"""The cluster as the source sees it: a name, an identity, and what it says.

Built from a kubeconfig, or from the service account of the pod. Nothing here
knows lists or watches, and nothing writes: there is no other verb than GET,
but for reviews, which the API server answers and does not keep.
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

__all__ = ["ClusterClient", "ClusterIdentity"]

_SMALL_BODY = 8 << 20
"""Bound of a document that is read whole: one object, or discovery."""

JSON = "application/json"
OK = 200


@dataclass(frozen=True, slots=True)
class ClusterIdentity:
    """Which cluster answers."""

    name: str
    """What the operator calls it: the context, or ``in-cluster``."""

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
    """Asks one cluster; shared by everything that does."""

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
        """Make a client; nothing is read or asked before its first request.

        Without a path kubectl's rules apply: ``KUBECONFIG``, the user's
        file, and in a pod its service account.

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
        """What the operator calls the cluster; known after a request."""
        return self._transport.credentials.name

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.close()

    async def identity(self) -> ClusterIdentity:
        """Ask which cluster answers.

        Raises:
            KubeconfigError: the credentials cannot be read.
            RequestError: it does not answer, or lacks the right to get the
                namespace kube-system.
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
        """Ask for the UID of the cluster alone."""
        what = "v1/namespaces/kube-system"
        path = "/api/v1/namespaces/kube-system"
        body = await self.read(path, verb="get", what=what)
        try:
            return msgspec.json.decode(body, type=_Namespace).metadata.uid
        except UNREADABLE as exc:
            raise self.bad_answer(what, exc) from exc

    async def date(self) -> str | None:
        """Ask what time the server has, as HTTP writes it: whole seconds.

        None if it does not say.

        Raises:
            RequestError: it does not answer.
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
        """Ask for one document, within a bound of bytes and of time.

        Raises:
            TooLargeError: it exceeds the bound.
            RequestError: it was not given.
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
        """Have the API server review something; return what it says.

        Raises:
            RequestError: it does not say.
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
        """Open a watch; yield its answer, which ends when the server says.

        With a server, of several behind the address of the cluster that one
        is asked, as ``HOST:PORT``.
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
        """Say that an answer was not what was asked for."""
        asked = self._transport.asked(verb, what)
        msg = f"cannot {asked}: the response cannot be parsed: {why}"
        return BadAnswerError(msg, OK)
