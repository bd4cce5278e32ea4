"""GraphQL over HTTP: from a request to a query, from an answer to a response.

Both media types of the GraphQL-over-HTTP draft are supported: with
``application/graphql-response+json`` the status shows whether the request
failed, with ``application/json`` a well-formed request always gets 200.
"""

import json
import logging
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from api.errors import ApiError, client_message
from api.http.executing import Query
from recorder.model.errors import RecorderError

log = logging.getLogger("recorder.api")

GRAPHQL = "application/graphql-response+json"
JSON = "application/json"
EVENT_STREAM = "text/event-stream"

BODY_MAX = 256 << 10
"""Bytes of a query and its variables."""


class BadRequestError(ApiError):
    """A request that cannot be read as a query."""

    code = "api.request"

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.http_status = status


def media_type(request: Request) -> str:
    """Return the media type of the response.

    Raises:
        BadRequestError: no accepted media type is supported.
    """
    accepted = request.headers.get("accept", "*/*")
    ranges = [part.partition(";")[0].strip() for part in accepted.split(",")]
    for wanted in ranges:
        match wanted.lower():
            case "application/graphql-response+json":
                return GRAPHQL
            case "application/json":
                return JSON
            case "text/event-stream":
                return EVENT_STREAM
            case _:
                pass
    if {"*/*", "application/*", ""} & set(ranges):
        return JSON
    msg = f"responses are available as {GRAPHQL}, {JSON} or {EVENT_STREAM}"
    raise BadRequestError(msg, 406)


async def read_query(request: Request) -> Query:
    """Read the query of a request.

    Raises:
        BadRequestError: the request has no valid query.
    """
    if request.method == "GET":
        return _query(_from_url(request))
    kind, _, parameters = request.headers.get("content-type", "").partition(
        ";"
    )
    if kind.strip().lower() != JSON:
        msg = f"send the query as {JSON}"
        raise BadRequestError(msg, 415)
    charset = parameters.lower().partition("charset=")[2].strip(' "')
    if charset and charset not in {"utf-8", "utf8"}:
        msg = "send the query in UTF-8"
        raise BadRequestError(msg, 415)
    try:
        content = orjson.loads(await read_body(request))
    except orjson.JSONDecodeError as exc:
        msg = f"the body is not JSON: {exc}"
        raise BadRequestError(msg) from exc
    if not isinstance(content, dict):
        msg = "the body is not a JSON object with a query (no batches)"
        raise BadRequestError(msg)
    return _query(content)


async def read_body(request: Request) -> bytes:
    """Read a body.

    Raises:
        BadRequestError: it is too large, or the client disconnected.
    """
    found = bytearray()
    try:
        async for part in request.stream():
            found += part
            if len(found) > BODY_MAX:
                msg = f"the body is larger than {BODY_MAX >> 10} KiB"
                raise BadRequestError(msg, 413)
    except ClientDisconnect as exc:
        msg = "the connection ended before the request did"
        log.warning("%s, after %d bytes of its body", msg, len(found))
        raise BadRequestError(msg) from exc
    return bytes(found)


def _from_url(request: Request) -> Mapping[str, Any]:
    content: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        if content.get(name):
            try:
                content[name] = orjson.loads(content[name])
            except orjson.JSONDecodeError as exc:
                msg = f'"{name}" is not JSON: {exc}'
                raise BadRequestError(msg) from exc
        else:
            content.pop(name, None)
    return content


def _query(content: Mapping[str, Any]) -> Query:
    text = content.get("query")
    if not isinstance(text, str) or not text:
        msg = 'there is no "query", or it is not text'
        raise BadRequestError(msg)
    operation = content.get("operationName")
    if operation is not None and not isinstance(operation, str):
        msg = '"operationName" is not text'
        raise BadRequestError(msg)
    for name in ("variables", "extensions"):
        given = content.get(name)
        if given is not None and not isinstance(given, dict):
            msg = f'"{name}" is not an object'
            raise BadRequestError(msg)
    return Query(
        text=text,
        variables=content.get("variables"),
        operation=operation or None,
    )


def json_bytes(document: Any) -> bytes:
    """Return JSON, also of lone surrogates and of integers over 64 bits."""
    try:
        return orjson.dumps(document)
    except TypeError:
        return json.dumps(document, separators=(",", ":")).encode()


def respond(
    body: bytes, form: str, *, status: int = 200, executed: bool = True
) -> Response:
    """Return the response to a query that was answered or refused."""
    if not executed and form == JSON and status == 400:  # noqa: PLR2004
        status = 200
    if form == EVENT_STREAM:
        form = JSON
    return Response(
        body, status, media_type=form, headers={"Cache-Control": "no-store"}
    )


def error_response(
    error: RecorderError, *, status: int | None = None
) -> Response:
    """Return the response to a request that is invalid or not allowed."""
    if status is None:
        assert isinstance(error, ApiError), "others come with a status"
        status = getattr(error, "http_status", error.status)
    body = json_bytes(
        {
            "errors": [
                {
                    "message": client_message(error),
                    "extensions": {"code": error.code},
                }
            ]
        }
    )
    headers = {"Cache-Control": "no-store"}
    if status == 401:  # noqa: PLR2004
        headers["WWW-Authenticate"] = 'Bearer realm="recorder"'
    if status == 503:  # noqa: PLR2004
        headers["Retry-After"] = "1"
    return Response(body, status, media_type=JSON, headers=headers)
