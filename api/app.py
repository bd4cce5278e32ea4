"""The application: which path serves what.

``/graphql`` serves queries and subscriptions, ``/export.ndjson`` the export,
``/mcp`` tools for agents, ``/metrics`` counts and durations of requests,
``/healthz`` and ``/readyz`` probes, ``/graphiql`` GraphiQL, and every other
path the page.
"""

import asyncio
import logging
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from graphql import ExecutionResult, GraphQLError
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket
from starlette_compress import (
    CompressMiddleware,
    add_compress_type,
    remove_compress_type,
)

from api.access import PRINCIPAL, Guard, Principal
from api.errors import ApiError, InternalError, StoppingError, unforeseen
from api.http.executing import Executor, Prepared, Query, Refused, document_of
from api.http.explorer import explore
from api.http.exporting import LINES, export
from api.http.gate import Gate
from api.http.graphql_http import (
    EVENT_STREAM,
    GRAPHQL,
    error_response,
    json_bytes,
    media_type,
    read_query,
    respond,
)
from api.http.measuring import Measures
from api.http.reads import RecordedReads, recorded_results
from api.http.site import Site
from api.http.streaming import EventStream
from api.http.websocket import Socket
from api.mcp.endpoint import Agents
from api.ports import Logs, Reads
from api.resolvers.context import RequestContext
from api.resolvers.following import Following
from api.resolvers.judging import Judging
from api.resolvers.remembering import JudgedOnce
from api.resolvers.visible.logs import visible
from api.resolvers.workers import Workers
from recorder.explain.knowledge import Knowledge
from recorder.listening import PEER, let_in
from recorder.model.errors import ConfigError, NotFoundError, RecorderError

log = logging.getLogger("recorder.api")

HTTP_OK, HTTP_REFUSED = 200, 400

Endpoint = Callable[[Request], Awaitable[Any]]

COMPRESSED_FROM = 500
"""Bytes: a smaller response fits into one packet uncompressed too."""

ZSTD_LEVEL = 9
"""Answers are a tenth smaller than by the default, for 0.7 ms of 48 KB."""

add_compress_type(GRAPHQL)
add_compress_type(LINES)
# Event streams compress themselves, with a hundredth of the memory for each
# subscriber.
remove_compress_type(EVENT_STREAM)


class Served:
    """Everything that one server shares between its requests."""

    def __init__(
        self,
        logs: Logs,
        knowledge: Knowledge,
        guard: Guard,
        *,
        stop: asyncio.Event,
        links: Sequence[str] = (),
        reads: Reads | None = None,
    ) -> None:
        self._reads = reads
        self._logs = logs
        self._links = links
        self._knowledge = knowledge
        self._guard = guard
        self._executor = Executor()
        self._workers = Workers(logs)
        self._following = Following(logs, stop)
        self._judging = Judging(logs, self._workers, knowledge, stop)
        self._judged = JudgedOnce()
        self._agents = Agents(self._workers, knowledge)
        self._measures = Measures()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer while entered."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._workers.running())
            await stack.enter_async_context(self._following.running())
            await stack.enter_async_context(self._judging.running())
            await stack.enter_async_context(self._agents.running())
            yield

    def app(
        self, *, only_loopback_names: bool, graphiql: bool = True
    ) -> ASGIApp:
        """Return the ASGI application."""
        routes = [
            Route(
                "/graphql",
                self._answering(self._graphql, "graphql"),
                methods=["GET", "POST"],
            ),
            Route(
                "/export.ndjson",
                self._answering(self._export, "export"),
                methods=["GET"],
            ),
            Route(
                "/mcp",
                self._answering(self._agent, "mcp"),
                methods=["GET", "POST", "DELETE"],
            ),
            Route(
                "/metrics",
                _answering_errors(self._metrics),
                methods=["GET"],
            ),
            WebSocketRoute("/graphql", self._socket),
            Route("/healthz", _healthy, methods=["GET"]),
            Route("/readyz", self._ready, methods=["GET"]),
        ]
        if graphiql:
            routes += [
                Route("/graphiql", explore, methods=["GET"]),
                Route("/graphiql/{name}", explore, methods=["GET"]),
            ]
        routes.append(Route("/{path:path}", Site().serve, methods=["GET"]))
        answering: ASGIApp = Starlette(routes=routes)
        if self._reads is not None:
            answering = RecordedReads(answering, self._reads)
        compressed = CompressMiddleware(
            answering,
            minimum_size=COMPRESSED_FROM,
            zstd_level=ZSTD_LEVEL,
        )
        return Gate(compressed, only_loopback_names=only_loopback_names)

    def _answering(self, endpoint: Endpoint, question: str) -> Endpoint:
        """Turn exceptions of an endpoint into responses; count responses."""
        answered = _answering_errors(endpoint)

        async def counting(request: Request) -> Any:
            began = time.monotonic()
            request.state.question, request.state.refused = question, False
            response = await answered(request)
            # Streams have no status; a refused query may be sent with 200.
            status = getattr(response, "status_code", HTTP_OK)
            if request.state.refused:
                status = max(status, HTTP_REFUSED)
            seconds = time.monotonic() - began
            self._measures.answered(request.state.question, status, seconds)
            return response

        return counting

    async def _admit(self, request: Request) -> Principal:
        """Return the caller; also put it into the scope, to record reads."""
        peer = peer_of(request)
        who = await self._guard.admit(request.headers, peer)
        let_in(request.scope)
        request.scope[PRINCIPAL] = who
        return who

    async def _graphql(self, request: Request) -> Any:
        form = media_type(request)
        who = await self._admit(request)
        query = await read_query(request)
        try:
            prepared = self._executor.prepare(query)
        except Refused as refused:
            request.state.refused = True
            body = json_bytes(refused.document())
            return respond(body, form, status=400, executed=False)
        request.state.question = prepared.question
        if prepared.is_subscription:
            return await self._subscribe(request, form, prepared, who)
        body, executed = await self._answered(prepared, who)
        request.state.refused = not executed
        status = 200 if executed else 400
        return respond(body, form, status=status, executed=executed)

    async def _answered(
        self, prepared: Prepared, who: Principal
    ) -> tuple[bytes, bool]:
        """Return an answer as JSON, and whether the query was executed."""

        async def ask(logs: Logs) -> tuple[bytes, bool]:
            asked = self._context(logs, who)
            result = await self._executor.execute(prepared, asked)
            refused = (
                result.data is None
                and bool(result.errors)
                and all(error.path is None for error in result.errors or ())
            )
            document = document_of(result)
            if refused:
                del document["data"]
            return json_bytes(document), not refused

        return await self._workers.answer(who, ask)

    async def _socket(self, socket: WebSocket) -> None:
        peer = peer_of(socket)
        await Socket(socket, self._guard, peer, self._operation).serve()

    async def _operation(
        self, query: Query, who: Principal
    ) -> AsyncGenerator[bytes, None]:
        """Start an operation that a client sent over a WebSocket.

        Raises:
            Refused: the operation is not executed.
        """
        prepared = self._executor.prepare(query)
        reads = None if self._reads is None else self._reads.begun()
        results = None
        if prepared.is_subscription:
            results = await self._subscribed(prepared, who)

        async def documents() -> AsyncGenerator[bytes, None]:
            if results is None:
                yield (await self._answered(prepared, who))[0]
                return
            async with aclosing(results):
                with self._measures.subscribers.track_inprogress():
                    async for result in results:
                        yield json_bytes(document_of(result))

        if reads is None:
            return documents()
        asked = {"query": query.text, "variables": query.variables}
        return recorded_results(reads, who, asked, documents())

    async def _subscribe(
        self, request: Request, form: str, prepared: Prepared, who: Principal
    ) -> Any:
        if form != EVENT_STREAM or request.method != "POST":
            error = GraphQLError(
                f"subscribe by POST with Accept: {EVENT_STREAM}"
            )
            body = json_bytes(Refused([error]).document())
            return respond(body, form, status=400, executed=False)
        try:
            results = await self._subscribed(prepared, who)
        except Refused as refused:
            body = json_bytes(refused.document())
            return respond(body, form, status=400)
        stream = EventStream(
            results, self._guard, request.headers, peer_of(request)
        )

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            with self._measures.subscribers.track_inprogress():
                await stream(scope, receive, send)

        return counted

    async def _subscribed(
        self, prepared: Prepared, who: Principal
    ) -> AsyncGenerator[ExecutionResult, None]:
        asked = self._context(visible(self._logs, who), who)
        asked.following = self._following
        asked.judging = self._judging
        return await self._executor.subscribe(prepared, asked)

    def _context(self, logs: Logs, who: Principal) -> RequestContext:
        return RequestContext(
            logs=logs,
            knowledge=self._knowledge,
            now=datetime.now(UTC),
            principal=who,
            links=self._links,
            judged=self._judged,
        )

    async def _export(self, request: Request) -> Any:
        who = await self._admit(request)
        now = datetime.now(UTC)
        return await export(self._workers, request, who, now=now)

    async def _agent(self, request: Request) -> ASGIApp:
        who = await self._admit(request)
        return await self._agents.answer(request, who)

    async def _metrics(self, request: Request) -> Response:
        await self._admit(request)
        text = self._measures.exposition()
        return Response(text, media_type=CONTENT_TYPE_LATEST)

    async def _ready(self, _: Request) -> Response:
        try:
            await self._logs.ping()
        except RecorderError as exc:
            log.warning("not ready: %s", exc)
            return PlainTextResponse("the database does not respond\n", 503)
        return PlainTextResponse("ready\n")


def peer_of(request: HTTPConnection) -> str | None:
    """Return the name in the client certificate of a connection."""
    peer: str | None = request.scope.get("state", {}).get(PEER)
    return peer


async def _healthy(_: Request) -> Response:
    # A response shows that the event loop runs.
    return PlainTextResponse("ok\n")


def _answering_errors(endpoint: Endpoint) -> Endpoint:
    """Turn exceptions of an endpoint into responses without internals."""

    @wraps(endpoint)
    async def answering(request: Request) -> Any:
        try:
            return await endpoint(request)
        except ApiError as exc:
            return error_response(exc)
        except (ConfigError, NotFoundError) as exc:
            missing = isinstance(exc, NotFoundError)
            return error_response(exc, status=404 if missing else 400)
        except RecorderError as exc:
            log.warning("cannot answer: %s", exc)
            return error_response(exc, status=503)
        except asyncio.CancelledError:
            # Only the stopping server cancels requests.
            return error_response(StoppingError("the server is stopping"))
        except Exception as exc:  # noqa: BLE001 - sent as a number
            return error_response(InternalError(unforeseen(exc)), status=500)

    return answering
