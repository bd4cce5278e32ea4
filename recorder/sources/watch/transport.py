"""Connections to the API server, and the one place where they fail.

One aiohttp session without a limit of connections: over HTTP/1.1 each watch
holds one of its own. When a certificate or the authority changes, new requests
use a new session, and the old one is closed after its last request, so that a
rotation interrupts no running watch.
"""

import hashlib
import socket
import ssl
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

import aiohttp
from aiohappyeyeballs import AddrInfoType
from yarl import URL

from recorder.sources.watch.clock import Clock
from recorder.sources.watch.credentials import Access, Credentials
from recorder.sources.watch.errors import (
    Asked,
    CertificateError,
    KubeconfigError,
    StreamLostError,
    TooLargeError,
    UnauthorizedError,
    UnreachableError,
    error_for,
)

JSON = "application/json"
SUCCESS = frozenset({200, 201})
"""A review is answered as if it had been created; it is not stored."""

_ERROR_BODY_MAX = 64 << 10
"""How much of an error response is read; a Status is under 1 KiB."""

_READ_BUFFER = 256 << 10
"""aiohttp stops reading at twice this; the rest stays with the server."""

_HEAD_MAX = 64 << 10
"""What is kept of a response beyond its bound: a list's metadata, which come
before its items, and the start of its first item."""

_KEEPALIVE = ((socket.TCP_KEEPIDLE, 30), (socket.TCP_KEEPINTVL, 10)) + (
    ((socket.TCP_KEEPCNT, 3), (socket.TCP_USER_TIMEOUT, 30_000))
    if hasattr(socket, "TCP_USER_TIMEOUT")
    else ()
)
"""A peer that vanishes silently is noticed within a minute."""


class Answer:
    """A successful response whose body is still to be read."""

    def __init__(self, response: aiohttp.ClientResponse, asked: Asked) -> None:
        self._response = response
        self.asked = asked
        """The request that this answers."""

    @property
    def date(self) -> str | None:
        """The server's time of the response, as HTTP writes it."""
        return self._response.headers.get("Date")

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, until its proper end.

        Raises:
            StreamLostError: it broke, or was silent for too long.
        """
        while True:
            with _translated(self.asked, reading=True):
                chunk = await self._response.content.readany()
            if not chunk:
                return
            yield chunk

    async def body(self, *, limit: int) -> bytes:
        """Read the whole body.

        Raises:
            TooLargeError: it exceeds the limit; it was read to its end and
                hashed, without being kept.
        """
        kept, length = bytearray(), 0
        digest = None
        async for chunk in self.chunks():
            length += len(chunk)
            if digest is not None:
                digest.update(chunk)
            elif length <= limit:
                kept += chunk
            else:
                digest = hashlib.sha256(kept)
                digest.update(chunk)
                kept = (kept + chunk)[:_HEAD_MAX]
        if digest is None:
            return bytes(kept)
        msg = f"cannot {self.asked}: the response exceeds {limit} bytes"
        raise TooLargeError(
            msg, head=bytes(kept), sha256=digest.hexdigest(), length=length
        )


class _Session:
    """One aiohttp session and how many requests are using it."""

    def __init__(self, access: Access) -> None:
        self.tls_digest = access.tls_digest
        self.users = 0
        self.http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, ssl=_tls(access), socket_factory=_socket
            ),
            # The environment's proxy is applied here, because trusting the
            # environment would also let a .netrc replace our credentials.
            trust_env=False,
            read_bufsize=_READ_BUFFER,
        )


class Transport:
    """Sends requests with the current credentials."""

    def __init__(
        self, credentials: Credentials, *, connect: float, clock: Clock
    ) -> None:
        self.credentials = credentials
        self._connect = connect
        self._clock = clock
        self._session: _Session | None = None
        self._refused_at: float | None = None

    async def close(self) -> None:
        """Close every connection that is not being used."""
        if self._session is not None:
            await self._session.http.close()

    @asynccontextmanager
    async def get(
        self,
        path: str,
        words: tuple[str, str],
        *,
        params: Mapping[str, str],
        accept: str,
        timeout: aiohttp.ClientTimeout,
        server: str = "",
    ) -> AsyncIterator[Answer]:
        """Send a GET request; yield the response while its connection is held.

        ``words`` are the verb and the resource, as messages name them. With
        ``server``, that one is requested at its own address, and must have a
        certificate for the address of the cluster.

        Raises:
            RequestError: there was no response, or it was an error.
        """
        async with self._answered(
            ("GET", path, None),
            words,
            params=params,
            accept=accept,
            timeout=timeout,
            server=server,
        ) as answer:
            yield answer

    @asynccontextmanager
    async def post(
        self,
        path: str,
        body: bytes,
        *,
        what: str,
        timeout: aiohttp.ClientTimeout,
    ) -> AsyncIterator[Answer]:
        """Post JSON; yield the response while its connection is held.

        Raises:
            RequestError: there was no response, or it was an error.
        """
        async with self._answered(
            ("POST", path, body),
            ("create", what),
            params={},
            accept=JSON,
            timeout=timeout,
        ) as answer:
            yield answer

    @asynccontextmanager
    async def _answered(
        self,
        request: tuple[str, str, bytes | None],
        words: tuple[str, str],
        *,
        params: Mapping[str, str],
        accept: str,
        timeout: aiohttp.ClientTimeout,
        server: str = "",
    ) -> AsyncIterator[Answer]:
        method, path, body = request
        access, session = await self._reach(*words)
        asked = self.asked(*words)
        if server:
            access = access.at(server, asked)
        headers = {"Accept": accept, "Accept-Encoding": "identity"}
        if access.authorization:
            headers["Authorization"] = access.authorization
        if body is not None:
            headers["Content-Type"] = JSON
        session.users += 1
        response = None
        try:
            with _translated(asked):
                response = await session.http.request(
                    method,
                    URL(access.server + path, encoded=True),
                    params=params,
                    data=body,
                    headers=headers,
                    timeout=timeout,
                    allow_redirects=False,
                    server_hostname=access.server_name,
                    proxy=_proxy(access),
                )
            if response.status not in SUCCESS:
                await self._refuse(response, asked)
            yield Answer(response, asked)
        except (UnauthorizedError, CertificateError):
            self._refused_at = self._clock.monotonic()
            raise
        finally:
            if response is not None:
                # Not release: that would wait for the unread rest.
                _let_go(response)
            session.users -= 1
            if session is not self._session and not session.users:
                await session.http.close()

    def asked(self, verb: str, what: str) -> Asked:
        """Name a request to this cluster."""
        return Asked(self.credentials.name, verb, what)

    async def _reach(self, verb: str, what: str) -> tuple[Access, _Session]:
        try:
            access = await self.credentials.access(newer_than=self._refused_at)
            return access, await self._current(access)
        except KubeconfigError as exc:
            if self._session is None:
                raise
            # It worked before: a plugin or a file may well recover.
            msg = f"cannot {self.asked(verb, what)}: {exc}"
            raise UnauthorizedError(msg) from exc

    async def _current(self, access: Access) -> _Session:
        old = self._session
        if old is not None and old.tls_digest == access.tls_digest:
            return old
        self._session = _Session(access)
        if old is not None and not old.users:
            await old.http.close()
        return self._session

    async def _refuse(
        self, response: aiohttp.ClientResponse, asked: Asked
    ) -> None:
        with _translated(asked):
            body = await response.content.read(_ERROR_BODY_MAX)
        raise error_for(
            asked,
            response.status,
            body,
            retry_after=response.headers.get("Retry-After"),
        )


def _let_go(response: aiohttp.ClientResponse) -> None:
    """Keep the connection of a response that was read; close any other."""
    if response.content.at_eof():
        response.release()
    else:
        response.close()


@contextmanager
def _translated(asked: Asked, *, reading: bool = False) -> Iterator[None]:
    """Translate every error of aiohttp into one of ours."""
    lost = StreamLostError if reading else UnreachableError
    try:
        yield
    except (aiohttp.ClientSSLError, ssl.SSLError) as exc:
        why = getattr(exc, "certificate_error", exc)
        msg = f"cannot {asked}: the certificate was not accepted: {why}"
        raise CertificateError(msg) from exc
    except TimeoutError as exc:
        msg = f"cannot {asked}: no response in time"
        raise lost(f"{msg}: {exc}" if str(exc) else msg) from exc
    except aiohttp.ClientPayloadError as exc:
        msg = f"cannot {asked}: the connection was lost during the response"
        raise lost(msg) from exc
    except (aiohttp.ClientError, OSError, ValueError) as exc:
        # ValueError is aiohttp's for a response that is not HTTP.
        why = " ".join(str(exc).split()) or type(exc).__name__
        msg = f"cannot {asked}: {why}"
        raise lost(msg) from exc


def _socket(address: AddrInfoType) -> socket.socket:
    family, kind, proto, *_ = address
    made = socket.socket(family, kind, proto)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def _tls(access: Access) -> ssl.SSLContext | bool:
    if not access.server.startswith("https"):
        return True
    try:
        context = ssl.create_default_context(cafile=access.ca_file)
        # Stricter than kubectl: refuses the authorities that kubeadm makes.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if access.cert_file:
            context.load_cert_chain(access.cert_file, access.key_file)
    except (OSError, ValueError) as exc:
        msg = f"the certificates for {access.server} cannot be used: {exc}"
        raise KubeconfigError(msg) from exc
    if not access.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _proxy(access: Access) -> str | None:
    """Choose as other clients do: the kubeconfig's, then the environment."""
    if access.proxy:
        return access.proxy
    url = urlsplit(access.server)
    if urllib.request.proxy_bypass(url.hostname or ""):
        return None
    return urllib.request.getproxies().get(url.scheme)
