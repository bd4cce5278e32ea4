"""Listening: an address on which the API is served.

Started by `recorder.wiring.serving`. The address is bound first, so that an
address in use is an error at once. Until the database is available, probes are
answered and other requests are refused: a server that did not listen while it
waits would fail its liveness probe and be restarted again and again.
"""

import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from secrets import token_hex

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access import check_listening
from api.errors import ApiError
from api.http.graphql_http import BODY_MAX, error_response
from recorder import listening as server

BOUNDS = server.Bounds(
    connections=3000,
    strangers=1000,
    # Behind a proxy all clients are one peer.
    strangers_of_a_peer=500,
    idle_seconds=75,
)

SWITCH_SECONDS = 0.001
"""How long a worker thread runs before the event loop gets its turn."""


INSTANCE = "Recorder-Instance"
START = "http.response.start"


class NotReadyError(ApiError):
    """The server waits for its database."""

    code = "api.waiting"
    status = 503


class Opening:
    """Answers until there is an application, then passes requests to it."""

    def __init__(self) -> None:
        self.waiting_for = "the database has not been asked yet"
        """The reason, shown to clients that have not authenticated."""

        self.instance = token_hex(8)
        """The name of this process: ``/healthz`` returns it, so that a client
        can check which server listens on an address."""

        self._app: ASGIApp | None = None

    def open(self, app: ASGIApp) -> None:
        """Pass requests to an application from now on."""
        self._app = app

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer one request."""
        path = str(scope.get("path", ""))

        async def named(message: Message) -> None:
            if path == "/healthz" and message["type"] == START:
                MutableHeaders(scope=message)[INSTANCE] = self.instance
            await send(message)

        app = self._app or self._waiting(path)
        await app(scope, receive, named)

    def _waiting(self, path: str) -> Response:
        if path == "/healthz":
            return PlainTextResponse("ok\n")
        if path == "/readyz":
            return PlainTextResponse(f"waiting: {self.waiting_for}\n", 503)
        return error_response(NotReadyError(self.waiting_for))


@asynccontextmanager
async def listening(
    listen: str,
    *,
    any_port: bool = False,
    guarded: bool,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[tuple[str, Opening]]:
    """Listen while entered; yield the URL and the `Opening`.

    Leaving waits for answers that have started, a few seconds at most.

    Raises:
        OpenToAllError: other machines could read everything.
        ListenError: the address is malformed.
        AddressTakenError: it is in use, or not an address of this machine.
    """
    host, _ = server.parsed_address(listen)
    check_listening(host, guarded=guarded)
    sys.setswitchinterval(SWITCH_SECONDS)
    opening = Opening()
    bound = server.bound_socket(listen, setting="--listen", any_port=any_port)
    async with server.listening(
        opening, bound, BOUNDS, tls=tls, message_bytes_max=BODY_MAX
    ) as address:
        scheme = "http" if tls is None else "https"
        yield f"{scheme}://{address}/", opening
