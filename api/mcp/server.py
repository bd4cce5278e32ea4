"""The tools, served by the official SDK: over standard input, or HTTP.

Imported on first use: the SDK is an extra, and takes half a second and 40 MB
to load.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import orjson
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as Listed
from starlette.types import ASGIApp

from api.access import LOCAL, PRINCIPAL, Principal
from api.errors import ApiError, InternalError, client_message, unforeseen
from api.http.graphql_http import BODY_MAX
from api.mcp.answers import Asked
from api.mcp.tools import INSTRUCTIONS, TOOLS
from api.ports import Logs
from api.resolvers.workers import Workers
from recorder import __version__
from recorder.explain.knowledge import Knowledge
from recorder.model.errors import RecorderError

READ_ONLY = ToolAnnotations(
    read_only_hint=True,
    destructive_hint=False,
    idempotent_hint=True,
    open_world_hint=False,
)


async def over_stdio(workers: Workers, knowledge: Knowledge) -> None:
    """Answer on standard input and output, until the input ends."""
    server = _server(workers, knowledge, lambda _: LOCAL)
    async with stdio_server() as (requests, responses):
        await server.run(
            requests, responses, server.create_initialization_options()
        )


@asynccontextmanager
async def over_http(
    workers: Workers, knowledge: Knowledge
) -> AsyncIterator[ASGIApp]:
    """Yield an application that answers POSTs of streamable HTTP.

    There are no sessions: no state has to be bounded, and each request is
    authenticated.
    """
    manager = StreamableHTTPSessionManager(
        _server(workers, knowledge, _admitted),
        stateless=True,
        json_response=True,
        max_request_body_size=BODY_MAX,
    )
    async with manager.run():
        yield manager.asgi_app


Asks = Callable[[Any], Principal]
"""Returns the caller, from the context of a call."""


def _server(workers: Workers, knowledge: Knowledge, asks: Asks) -> Server[Any]:
    return Server(
        "recorder",
        version=__version__,
        title="Recorder, the flight recorder of a Kubernetes fleet",
        instructions=INSTRUCTIONS,
        on_list_tools=_listed,
        on_call_tool=partial(_called, workers, knowledge, asks),
    )


async def _listed(
    context: Any, given: PaginatedRequestParams | None
) -> ListToolsResult:
    del context, given
    return ListToolsResult(
        tools=[
            Listed(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=dict(tool.input_schema),
                output_schema=dict(tool.output_schema),
                annotations=READ_ONLY,
            )
            for tool in TOOLS.values()
        ]
    )


async def _called(
    workers: Workers,
    knowledge: Knowledge,
    asks: Asks,
    context: Any,
    given: CallToolRequestParams,
) -> CallToolResult:
    try:
        who = asks(context)
        body = await _answered(workers, who, knowledge, given)
    except RecorderError as exc:
        # Without its advice, which is for the command line.
        message = f"{client_message(exc)} ({exc.code})"
        return CallToolResult(content=[_text(message)], is_error=True)
    except Exception as exc:  # noqa: BLE001 - sent as a number
        message = f"{unforeseen(exc)} ({InternalError.code})"
        return CallToolResult(content=[_text(message)], is_error=True)
    return CallToolResult(
        content=[_text(body.decode())], structured_content=orjson.loads(body)
    )


def _admitted(context: Any) -> Principal:
    """Return who was admitted with the request that a call came in."""
    who: Principal = context.request.scope[PRINCIPAL]
    return who


async def _answered(
    workers: Workers,
    who: Principal,
    knowledge: Knowledge,
    given: CallToolRequestParams,
) -> bytes:
    tool = TOOLS.get(given.name)
    if tool is None:
        msg = (
            f'there is no tool "{given.name[:50]}": there are'
            f" {', '.join(TOOLS)}"
        )
        raise ApiError(msg, code="question.argument")
    arguments = tool.read(given.arguments or {})

    async def ask(logs: Logs) -> bytes:
        asked = Asked(logs, knowledge, datetime.now(UTC))
        return await tool.answered(asked, arguments)

    return await workers.answer(who, ask)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)
