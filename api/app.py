"""The application: what is served where.

``/graphql`` questions, ``/export.ndjson`` everything, ``/healthz`` and
``/readyz`` probes, and the page everywhere else.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from graphql import GraphQLError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from api.access import Guard, Principal
from api.context import RequestContext
from api.errors import ApiError, InternalError, StoppingError, unforeseen
from api.executing import Executor, Prepared, Refused, document_of
from api.exporting import export
from api.following import Following
from api.gate import Gate
from api.graphql_http import (
    EVENT_STREAM,
    error_response,
    json_bytes,
    media_type,
    read_query,
    respond,
)
from api.ports import Logs
from api.site import Site
from api.streaming import EventStream
from api.workers import Workers
from recorder.errors import ConfigError, NotFoundError, RecorderError
from recorder.knowledge import Knowledge

__all__ = ["Served"]

log = logging.getLogger("recorder.api")

Endpoint = Callable[[Request], Awaitable[Any]]


class Served:
    """Everything that one server shares between its requests."""

    def __init__(
        self,
        logs: Logs,
        knowledge: Knowledge,
        guard: Guard,
        *,
        stop: asyncio.Event,
    ) -> None:
        self._logs = logs
        self._knowledge = knowledge
        self._guard = guard
        self._executor = Executor()
        self._workers = Workers(logs)
        self._following = Following(logs, stop)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer while entered."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._workers.running())
            await stack.enter_async_context(self._following.running())
            yield

    def app(self, *, only_loopback_names: bool) -> ASGIApp:
        """Return what a server calls."""
        routes = [
            Route(
                "/graphql",
                _answering_errors(self._graphql),
                methods=["GET", "POST"],
            ),
            Route(
                "/export.ndjson",
                _answering_errors(self._export),
                methods=["GET"],
            ),
            Route("/healthz", _healthy, methods=["GET"]),
            Route("/readyz", self._ready, methods=["GET"]),
            Route("/{path:path}", Site().serve, methods=["GET"]),
        ]
        return Gate(
            Starlette(routes=routes), only_loopback_names=only_loopback_names
        )

    async def _graphql(self, request: Request) -> Any:
        form = media_type(request)
        who = await self._guard.admit(request.headers)
        query = await read_query(request)
        try:
            prepared = self._executor.prepare(query)
        except Refused as refused:
            body = json_bytes(refused.document())
            return respond(body, form, status=400, executed=False)
        if prepared.is_subscription:
            return await self._subscribe(request, form, prepared, who)

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

        body, executed = await self._workers.answer(ask)
        status = 200 if executed else 400
        return respond(body, form, status=status, executed=executed)

    async def _subscribe(
        self, request: Request, form: str, prepared: Prepared, who: Principal
    ) -> Any:
        if form != EVENT_STREAM or request.method != "POST":
            error = GraphQLError(
                f"subscribe by POST with Accept: {EVENT_STREAM}"
            )
            body = json_bytes(Refused([error]).document())
            return respond(body, form, status=400, executed=False)
        asked = self._context(self._logs, who)
        asked.following = self._following
        try:
            results = await self._executor.subscribe(prepared, asked)
        except Refused as refused:
            body = json_bytes(refused.document())
            return respond(body, form, status=400)
        return EventStream(results, self._guard, request.headers)

    def _context(self, logs: Logs, who: Principal) -> RequestContext:
        return RequestContext(
            logs=logs,
            knowledge=self._knowledge,
            now=datetime.now(UTC),
            principal=who,
        )

    async def _export(self, request: Request) -> Any:
        await self._guard.admit(request.headers)
        now = datetime.now(UTC)
        return await export(self._workers, request, now=now)

    async def _ready(self, _: Request) -> Response:
        try:
            await self._logs.ping()
        except RecorderError as exc:
            log.warning("not ready: %s", exc)
            return PlainTextResponse("the database does not respond\n", 503)
        return PlainTextResponse("ready\n")


async def _healthy(_: Request) -> Response:
    # That this answers shows that the event loop turns.
    return PlainTextResponse("ok\n")


def _answering_errors(endpoint: Endpoint) -> Endpoint:
    """Answer what an endpoint raises, and nothing of what is inside."""

    @wraps(endpoint)
    async def telling(request: Request) -> Any:
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
            # Only the end of the server cancels what it answers.
            return error_response(StoppingError("the server is stopping"))
        except Exception as exc:  # noqa: BLE001 - told as a number
            return error_response(InternalError(unforeseen(exc)), status=500)

    return telling
