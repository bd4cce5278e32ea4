"""What answers before there is a database to ask: probes, and a refusal.

A server that listened only once it can answer would be taken for dead while
it waits, and be started again and again.
"""

from secrets import token_hex

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import ApiError
from api.graphql_http import error_response

__all__ = ["INSTANCE", "Opening"]

INSTANCE = "Recorder-Instance"
START = "http.response.start"


class NotReadyError(ApiError):
    """The server waits for its database."""

    code = "api.waiting"
    status = 503


class Opening:
    """Stands in front of an application, from before there is one."""

    def __init__(self) -> None:
        self.waiting_for = "the database has not been asked yet"
        """In words that anybody may read."""

        self.instance = token_hex(8)
        """The name of this server and no other: ``/healthz`` says it, so that
        whoever was told an address can see whose it is."""

        self._app: ASGIApp | None = None

    def open(self, app: ASGIApp) -> None:
        """Let an application answer from now on."""
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
