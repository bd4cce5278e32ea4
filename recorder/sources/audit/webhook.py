"""The audit webhook: batches of records over HTTPS, from those who may.

Nobody is let in without a client certificate, a token, or both, as it is set;
nothing of a body is read before that, nor before there is room for it.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus

from aiohttp import web

from recorder.certificates import Certificates
from recorder.errors import ConfigError
from recorder.intake.progress import Received
from recorder.sources.audit.receiver import (
    BODY_BYTES_MAX,
    Answer,
    AuditReceiver,
)

__all__ = ["AuditWebhook", "WebhookError"]

PATH = "/audit"

BODY_SECONDS = 10.0
"""For a body to arrive: 32 MiB at 3 MiB/s."""

IDLE_SECONDS = 120.0
"""Until a connection on which no request comes is closed: an API server
closes its own after 90."""

HANDSHAKE_SECONDS = 10.0
CONNECTIONS_MAX = 200
"""Beyond it nobody is let in: files that are open would be wanting where the
cluster is watched. An API server has a few."""

BEARER = "Bearer "


class WebhookError(ConfigError):
    """The audit webhook cannot be served as it is set."""

    code = "config.audit_webhook"


class AuditWebhook:
    """Serves one receiver."""

    def __init__(
        self,
        receiver: AuditReceiver,
        *,
        certificates: Certificates,
        is_holder: Callable[[str], bool] | None,
        cluster_uid: str,
        received: Received,
    ) -> None:
        """Prepare.

        Args:
            receiver: takes what comes.
            certificates: of the server and of those who may send.
            is_holder: whether a token lets in; None: none is asked for.
            cluster_uid: the cluster that is recorded.
            received: where to count.

        Raises:
            WebhookError: nothing would be asked of senders.
        """
        if is_holder is None and certificates.client_authority is None:
            msg = (
                "the audit webhook would let everybody in: set"
                " audit_client_ca, audit_token_file, or both"
            )
            raise WebhookError(msg)
        self._receiver = receiver
        self._certificates = certificates
        self._is_holder = is_holder
        self._cluster_uid = cluster_uid
        self._received = received

    @asynccontextmanager
    async def listen(self, address: str) -> AsyncIterator[str]:
        """Serve until left; yield the address in use.

        Args:
            address: ``HOST:PORT``; port 0 takes a free one.

        Raises:
            WebhookError: the address or a certificate cannot be used.
        """
        context = self._certificates.context(self._received.tell)
        app = web.Application()
        app.router.add_post(PATH, self._serve)
        app.router.add_post(PATH + "/{cluster}", self._serve)
        runner = web.AppRunner(
            app,
            access_log=None,
            # A small body must not become a large one before it is counted.
            auto_decompress=False,
            # What was not read of a body that was refused is not waited for.
            lingering_time=1.0,
            keepalive_timeout=IDLE_SECONDS,
        )
        await runner.setup()
        try:
            listening = await _listening(runner, address, context)
            bound = listening.sockets[0].getsockname()
            try:
                yield f"{bound[0]}:{bound[1]}"
            finally:
                listening.close()
        finally:
            await runner.cleanup()

    async def _serve(self, request: web.Request) -> web.Response:
        received = self._received
        answer = self._refusal(request)
        if answer is None:
            received.waiting += 1
            held = _Held(received)
            try:
                answer = await self._take(request, held)
            finally:
                held.release()
                received.waiting -= 1
        received.requests[int(answer.status)] += 1
        response = web.Response(
            status=answer.status, text=f"{answer.says}\n" * bool(answer.says)
        )
        if answer.retry_after is not None:
            response.headers["Retry-After"] = str(answer.retry_after)
        if answer.status is not HTTPStatus.OK:
            # The next attempt may reach another recorder behind the address,
            # and what is left of a body is not read.
            response.force_close()
        return response

    def _refusal(self, request: web.Request) -> Answer | None:
        """Return why a request is refused before its body is read."""
        if self._is_holder is not None:
            given = request.headers.get("Authorization", "")
            if not (
                given.startswith(BEARER)
                and self._is_holder(given.removeprefix(BEARER))
            ):
                return Answer(
                    HTTPStatus.UNAUTHORIZED, "the token is not valid"
                )
        cluster = request.match_info.get("cluster", self._cluster_uid)
        if cluster != self._cluster_uid:
            msg = (
                f"this recorder records cluster {self._cluster_uid}, not"
                f" {cluster[:64]}"
            )
            return Answer(HTTPStatus.NOT_FOUND, msg)
        if "Content-Encoding" in request.headers:
            msg = "send the batch without an encoding"
            return Answer(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, msg)
        return None

    async def _take(self, request: web.Request, held: "_Held") -> Answer:
        announced = request.content_length or 0
        answer = self._receiver.room_for(announced)
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                held.grow(announced * (answer is None))
                while answer is None and not request.content.at_eof():
                    part = await request.content.readany()
                    body += part
                    if len(body) > held.bytes:
                        answer = self._more(len(body), held)
        except TimeoutError:
            return Answer(
                HTTPStatus.REQUEST_TIMEOUT, "the batch came too slowly", 2
            )
        if answer is None:
            return await self._receiver.receive(bytes(body))
        if answer.status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            await self._receiver.too_large()
        return answer

    def _more(self, size: int, held: "_Held") -> Answer | None:
        """Take note of a body that is longer than it was announced."""
        grown = size - held.bytes
        if size > BODY_BYTES_MAX:
            return self._receiver.room_for(size)
        answer = self._receiver.room_for(grown)
        held.grow(grown * (answer is None))
        return answer


async def _listening(
    runner: web.AppRunner, address: str, context: ssl.SSLContext
) -> asyncio.Server:
    host, colon, port = address.rpartition(":")
    if not (colon and port.isdecimal()):
        msg = f'cannot listen on "{address}": write HOST:PORT'
        raise WebhookError(msg)
    try:
        return await asyncio.get_running_loop().create_server(
            _accepting(runner),
            host.strip("[]"),
            int(port),
            ssl=context,
            ssl_handshake_timeout=HANDSHAKE_SECONDS,
        )
    except OSError as exc:
        msg = (
            f"cannot listen on {address} for audit records:"
            f" {exc.strerror}; choose another with audit_listen"
        )
        raise WebhookError(msg) from exc


def _accepting(runner: web.AppRunner) -> Callable[[], asyncio.BaseProtocol]:
    """Return what makes the protocol of each connection."""
    server = runner.server
    assert server is not None, "it was set up"

    def accept() -> asyncio.BaseProtocol:
        if len(server.connections) < CONNECTIONS_MAX:
            return server()
        return _Full()

    return accept


class _Full(asyncio.Protocol):
    """Of a connection that is one too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.abort()


class _Held:
    """Bytes of one body, counted while it is being received."""

    def __init__(self, received: Received) -> None:
        self._received = received
        self.bytes = 0

    def grow(self, by: int) -> None:
        self.bytes += by
        self._received.held_bytes += by

    def release(self) -> None:
        self._received.held_bytes -= self.bytes
        self.bytes = 0
