"""``/mcp``: the tools over HTTP, behind the same guard as other paths.

The SDK is loaded on the first authenticated request: without agents it costs
nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access import PRINCIPAL, Principal
from api.errors import ApiError
from api.http.graphql_http import BadRequestError, read_body
from api.resolvers.workers import Workers
from recorder.explain.knowledge import Knowledge


class NotInstalledError(ApiError):
    """The extra that speaks the protocol is not installed."""

    code = "api.not_installed"
    status = 501


class Agents:
    """Answers agents; started by the first request."""

    def __init__(self, workers: Workers, knowledge: Knowledge) -> None:
        self._workers = workers
        self._knowledge = knowledge
        self._group: asyncio.TaskGroup | None = None
        self._app: asyncio.Task[ASGIApp] | None = None
        self._ended = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer while entered."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                yield
            finally:
                self._ended.set()

    async def answer(self, request: Request, who: Principal) -> ASGIApp:
        """Return the response to a request of an authenticated caller.

        Raises:
            BadRequestError: it is no POST, too large, or incomplete.
            NotInstalledError: the extra is not installed.
        """
        if request.method != "POST":
            # A stream that is only listened to, or the end of a session.
            msg = "send each message by POST: there are no sessions"
            raise BadRequestError(msg, 405)
        app = await self._loaded()
        body = await read_body(request)

        async def respond(scope: Scope, receive: Receive, send: Send) -> None:
            unread = [body]
            scope[PRINCIPAL] = who

            async def receive_read() -> Message:
                if unread:
                    return {"type": "http.request", "body": unread.pop()}
                return await receive()

            await app(scope, receive_read, send)

        return respond

    async def _loaded(self) -> ASGIApp:
        if find_spec("mcp") is None:
            msg = "install kube-recorder[mcp] to answer agents"
            raise NotInstalledError(msg)
        if self._app is None:
            assert self._group is not None, "entered before it is asked"
            self._app = self._group.create_task(self._begun())
        return await asyncio.shield(self._app)

    async def _begun(self) -> ASGIApp:
        assert self._group is not None, "entered before it is asked"
        server = await asyncio.to_thread(import_module, "api.mcp.server")
        begun: asyncio.Future[ASGIApp]
        begun = asyncio.get_running_loop().create_future()

        async def run() -> None:
            # In a task of its own, which enters and leaves it.
            over_http = server.over_http(self._workers, self._knowledge)
            async with over_http as app:
                begun.set_result(app)
                await self._ended.wait()

        self._group.create_task(run())
        return await begun
