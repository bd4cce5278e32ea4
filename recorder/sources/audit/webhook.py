"""The audit webhook: batches of records over HTTPS, from permitted senders.

A sender needs a client certificate, a token, or both, as configured; no byte
of a body is read before that is checked, nor before there is room for it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from recorder.intake.progress import Received
from recorder.listening import (
    CERTIFIED,
    Bounds,
    bound_socket,
    let_in,
    listening,
)
from recorder.listening.certificates import Certificates
from recorder.model.errors import ConfigError
from recorder.sources.audit.receiver import (
    BODY_BYTES_MAX,
    Answer,
    AuditReceiver,
)

PATH = "/audit"

BOUNDS = Bounds(
    # An API server needs a few. More would take the open files that watching
    # the cluster needs.
    connections=300,
    strangers=200,
    # Enough that a handshake ends before as many others arrive.
    strangers_of_a_peer=150,
    # An API server closes its own after 90.
    idle_seconds=120,
)

LINGER_SECONDS = 1.0
"""For a rejected sender to read the response before its connection ends."""

BEARER = "Bearer "


class WebhookError(ConfigError):
    """The audit webhook cannot be served as configured."""

    code = "config.audit_webhook"


@asynccontextmanager
async def serve_senders(
    address: str,
    routes: Sequence[Route],
    *,
    certificates: Certificates,
    received: Received,
) -> AsyncIterator[str]:
    """Serve until left; yield the address in use.

    Args:
        address: ``HOST:PORT``; port 0 takes a free one.
        routes: what is served.
        certificates: of the server and of permitted senders.
        received: where to note that they cannot be read again.

    Raises:
        ListenError: the address cannot be used.
        CertificateFileError: nor can a certificate.
    """
    tls = certificates.context(received.note_trouble)
    bound = bound_socket(address, setting="audit_listen")
    app = Router(routes, redirect_slashes=False)
    async with listening(app, bound, BOUNDS, tls=tls) as used:
        yield used


class AuditWebhook:
    """Serves one receiver, on `routes` of a server."""

    def __init__(
        self,
        receiver: AuditReceiver,
        *,
        needs_certificate: bool,
        is_holder: Callable[[str], bool] | None,
        cluster_uid: str,
        received: Received,
    ) -> None:
        """Prepare.

        Args:
            receiver: takes the batches.
            needs_certificate: whether senders need a client certificate.
            is_holder: whether a token is valid; None if none is required.
            cluster_uid: the cluster that is recorded.
            received: where to count.

        Raises:
            WebhookError: senders would not be authenticated.
        """
        if is_holder is None and not needs_certificate:
            msg = (
                "the audit webhook would accept any sender: set"
                " audit_client_ca, audit_token_file, or both"
            )
            raise WebhookError(msg)
        self._receiver = receiver
        self._needs_certificate = needs_certificate
        self._is_holder = is_holder
        self._cluster_uid = cluster_uid
        self._received = received

    def routes(self) -> Sequence[Route]:
        """Return the routes under which a server serves the webhook."""
        return [
            Route(path, self._serve, methods=["POST"])
            for path in (PATH, PATH + "/{cluster}")
        ]

    async def _serve(self, request: Request) -> Response:
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
        text = f"{answer.says}\n" * bool(answer.says)
        if answer.status is HTTPStatus.OK:
            return Response(text, media_type="text/plain")
        return _Refusal(answer, text)

    def _refusal(self, request: Request) -> Answer | None:
        """Return why a request is rejected before its body is read."""
        is_certified = request.scope.get("state", {}).get(CERTIFIED, False)
        if self._needs_certificate and not is_certified:
            msg = "a client certificate is required"
            return Answer(HTTPStatus.UNAUTHORIZED, msg)
        if self._is_holder is not None:
            given = request.headers.get("Authorization", "")
            if not (
                given.startswith(BEARER)
                and self._is_holder(given.removeprefix(BEARER))
            ):
                return Answer(
                    HTTPStatus.UNAUTHORIZED, "the token is not valid"
                )
        let_in(request.scope)
        cluster = request.path_params.get("cluster", self._cluster_uid)
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

    async def _take(self, request: Request, held: "_Held") -> Answer:
        announced = int(request.headers.get("Content-Length", 0))
        answer = self._receiver.room_for(announced)
        body = bytearray()
        if answer is None:
            held.grow(announced)
            with suppress(ClientDisconnect):
                async for part in request.stream():
                    body += part
                    if len(body) > held.bytes:
                        answer = self._more(len(body), held)
                    if answer is not None:
                        break
                else:
                    return await self._receiver.receive(bytes(body))
        if answer is None:
            # Its connection has ended: it closed it, or was too slow.
            answer = Answer(HTTPStatus.REQUEST_TIMEOUT)
        if answer.status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            await self._receiver.too_large()
        return answer

    def _more(self, size: int, held: "_Held") -> Answer | None:
        """Check a body that is longer than it was announced."""
        grown = size - held.bytes
        if size > BODY_BYTES_MAX:
            return self._receiver.room_for(size)
        answer = self._receiver.room_for(grown)
        held.grow(grown * (answer is None))
        return answer


class _Refusal(Response):
    """Ends the connection with its response.

    The next attempt may reach another recorder behind the address, and the
    rest of the body is not kept.
    """

    def __init__(self, answer: Answer, text: str) -> None:
        headers = {"Connection": "close"}
        if answer.retry_after is not None:
            headers["Retry-After"] = str(answer.retry_after)
        super().__init__(text, answer.status, headers, "text/plain")

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Respond, and drop what is still being sent, for a moment."""
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        part = {"type": "http.response.body", "body": self.body}
        await send({**part, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while (await receive()).get("more_body"):
                    pass
        await send({"type": "http.response.body"})


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
