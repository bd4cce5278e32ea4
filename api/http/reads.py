"""Records who read what, in a log of its own, before the answer is sent.

Each answer to a query, an export or a subscription becomes a record in the
form of Kubernetes audit logs. If it cannot be recorded, no answer is sent.
"""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access import PRINCIPAL, Principal
from api.errors import ApiError
from api.http.graphql_http import error_response
from api.ports import Reads
from recorder.model.errors import RecorderError
from recorder.model.moment import written

log = logging.getLogger("recorder.api")

PATHS = frozenset({"/graphql", "/export.ndjson", "/mcp"})
"""Paths that serve what is in a log."""

BYTES = "recorder/bytes"
UNRECORDED = "the answer cannot be recorded, and is not given: try again"

ASKED_MAX = 256 << 10
"""Bytes of a request: no endpoint reads more."""


class UnrecordedError(ApiError):
    """The read could not be recorded."""

    code = "access.unrecorded"
    status = 503


class RecordedReads:
    """Wraps an application and records its answers."""

    def __init__(self, app: ASGIApp, reads: Reads) -> None:
        self._app = app
        self._reads = reads

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] not in PATHS:
            await self._app(scope, receive, send)
            return
        read = _Read(scope, receive, send, self._reads)
        try:
            await self._app(scope, read.receive, read.send)
        finally:
            await read.end()


class _Read:
    """One answer being sent."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, reads: Reads
    ) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._reads = reads.begun()
        self._id = str(uuid4())
        self._began = datetime.now(UTC)
        self._asked = bytearray()
        self._start: Message | None = None
        self._refused = False
        self._bytes = 0
        self._goes_on = False

    async def receive(self) -> Message:
        """Pass on the request, and keep its body for the record."""
        message = await self._receive()
        body = message.get("body", b"")
        if len(self._asked) + len(body) <= ASKED_MAX:
            self._asked += body
        return message

    async def send(self, message: Message) -> None:
        """Hold the answer back until it is recorded."""
        if self._refused:
            return
        if message["type"] == "http.response.start":
            self._start = message
            return
        self._bytes += len(message.get("body", b""))
        if self._start is not None:
            start, self._start = self._start, None
            self._goes_on = bool(message.get("more_body"))
            stage = "ResponseStarted" if self._goes_on else "ResponseComplete"
            if not await self._recorded(start["status"], stage):
                self._refused = True
                await self._refuse()
                return
            await self._send(start)
        await self._send(message)

    async def end(self) -> None:
        """Record how much of a stream was read."""
        if self._goes_on and not self._refused:
            await self._recorded(200, "ResponseComplete")

    async def _refuse(self) -> None:
        response = error_response(UnrecordedError(UNRECORDED))
        await response(self._scope, self._receive, self._send)

    async def _recorded(self, status: int, stage: str) -> bool:
        who: Principal | None = self._scope.get(PRINCIPAL)
        if who is None:
            # The request was not authenticated, so it read nothing.
            return True
        try:
            await self._reads.record(self._record(who, status, stage))
        except RecorderError as exc:
            log.warning("cannot record a read: %s", exc)
            return False
        return True

    def _record(
        self, who: Principal, status: int, stage: str
    ) -> dict[str, Any]:
        scope = self._scope
        query = scope.get("query_string", b"").decode(errors="replace")
        record = _record_of(who, self._id, self._began, stage)
        record["requestURI"] = scope["path"] + (f"?{query}" if query else "")
        record["responseStatus"]["code"] = status
        record["annotations"] = {BYTES: str(self._bytes)}
        if scope.get("client"):
            record["sourceIPs"] = [scope["client"][0]]
        if self._asked:
            record["requestObject"] = _body_of(bytes(self._asked))
        return record


def _body_of(asked: bytes) -> Any:
    """Return a body as a record holds it: as text if it is not valid JSON.

    Text too is what can be parsed and not written again: NaN, or deeply nested
    values.
    """
    try:
        body = orjson.loads(asked)
        orjson.dumps(body)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return {"text": asked.decode(errors="replace")}
    return body


async def recorded_results(
    reads: Reads,
    who: Principal,
    asked: Mapping[str, Any],
    results: AsyncGenerator[bytes, None],
) -> AsyncGenerator[bytes, None]:
    """Yield the results of a WebSocket operation after recording the read.

    `reads.begun()` was called before the operation was started.

    Raises:
        UnrecordedError: the read cannot be recorded.
    """
    number, began, size = str(uuid4()), datetime.now(UTC), 0

    async def record(stage: str) -> None:
        record = _record_of(who, number, began, stage)
        record["requestObject"] = asked
        record["annotations"] = {BYTES: str(size)}
        try:
            await reads.record(record)
        except RecorderError as exc:
            log.warning("cannot record a read: %s", exc)
            raise UnrecordedError(UNRECORDED) from exc

    async with aclosing(results):
        begun = False
        try:
            async for body in results:
                size += len(body)
                if not begun:
                    await record("ResponseStarted")
                    begun = True
                yield body
        finally:
            if begun:
                await record("ResponseComplete")


def _record_of(
    who: Principal, number: str, began: datetime, stage: str
) -> dict[str, Any]:
    return {
        "level": "Request",
        "auditID": number,
        "stage": stage,
        "requestURI": "/graphql",
        "verb": "get",
        "user": {"username": who.name},
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": written(began),
        "stageTimestamp": written(datetime.now(UTC)),
    }
