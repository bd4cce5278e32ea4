"""The door of claims: events over HTTPS, from senders with a right to them.

A sender has a token, with a right to some types of some sources; no byte of a
body is read before the token is known. A request is answered with 202 once
all of its events are in the log, and one that is not may be repeated: an event
that is in the log already is not entered again. Between two recordings, as on
a standby, every request is rejected, to be repeated.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Protocol

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from recorder.intake.ports import Known, Sink
from recorder.intake.receipts import NotCommittedError
from recorder.listening import let_in
from recorder.model.observation import CloudEventPosted
from recorder.sources.claims.envelope import (
    Claim,
    EnvelopeError,
    read_claims,
)

__all__ = ["CLAIMS_PATH", "ClaimDoor", "Rights"]

CLAIMS_PATH = "/ingest"

BODY_BYTES_MAX = 4 << 20
"""Of one request: a batch of 500 events of 8 KiB each."""

REQUESTS_MAX = 16
"""At once, which bounds the memory for them to 64 MiB."""

COMMIT_SECONDS = 20.0
"""Less than the timeout of most clients, which is 30 seconds."""

RETRY_SECONDS = 2
BEARER = "Bearer "


class Rights(Protocol):
    """What the holder of a token may claim."""

    @property
    def name(self) -> str:
        """Return the name of the token."""

    def may_claim(self, source: str, kind: str) -> bool:
        """Return whether it may post events of a type from a source."""


class _RefusedError(Exception):
    """A request that is not accepted, with the response to it."""

    def __init__(self, status: HTTPStatus, says: str = "") -> None:
        super().__init__(says)
        self.status = status
        self.says = says


def _now() -> datetime:
    return datetime.now(UTC)


class ClaimDoor:
    """Takes events while the recording that it is a source of runs."""

    finite = False

    def __init__(
        self,
        rights: Callable[[str], Rights | None],
        *,
        now: Callable[[], datetime] = _now,
        commit_seconds: float = COMMIT_SECONDS,
    ) -> None:
        """Prepare.

        Args:
            rights: returns those of a token; None if it has none.
            now: the clock for observations.
            commit_seconds: how long a sender waits for the commit.
        """
        self._rights = rights
        self._now = now
        self._commit_seconds = commit_seconds
        self._sink: Sink | None = None
        self._waiting = 0

    async def run(self, sink: Sink, known: Known) -> None:  # noqa: ARG002
        """Accept events until cancelled."""
        self._sink = sink
        try:
            await asyncio.Event().wait()
        finally:
            self._sink = None

    def route(self) -> Route:
        """Return the route under which a server serves the door."""
        return Route(CLAIMS_PATH, self._serve, methods=["POST"])

    async def _serve(self, request: Request) -> Response:
        try:
            rights = self._rights_of(request)
            let_in(request.scope)
            with self._turn():
                async with asyncio.timeout(self._commit_seconds):
                    await self._take(request, rights)
        except _RefusedError as exc:
            return _refusal(exc)
        except TimeoutError:
            return _refusal(_unavailable("the log is too slow"))
        return Response(status_code=HTTPStatus.ACCEPTED)

    def _rights_of(self, request: Request) -> Rights:
        presented = request.headers.get("Authorization", "")
        rights = None
        if presented.startswith(BEARER):
            rights = self._rights(presented.removeprefix(BEARER))
        if rights is None:
            says = "the token is not valid, or may not claim anything"
            raise _RefusedError(HTTPStatus.UNAUTHORIZED, says)
        return rights

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if self._waiting >= REQUESTS_MAX:
            says = "too many requests are waiting"
            raise _RefusedError(HTTPStatus.TOO_MANY_REQUESTS, says)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def _take(self, request: Request, rights: Rights) -> None:
        if self._sink is None:
            says = "this recorder does not write the log now"
            raise _unavailable(says)
        body, at = await _body(request), self._now()
        try:
            claims = await asyncio.to_thread(
                read_claims, request.headers, body, now=at
            )
        except EnvelopeError as exc:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, str(exc)) from exc
        for claim in claims:
            if not rights.may_claim(claim.source, claim.type):
                says = (
                    f'the token "{rights.name}" may not claim type'
                    f' "{claim.type}" of source "{claim.source}"'
                )
                raise _RefusedError(HTTPStatus.FORBIDDEN, says)
        await self._put(claims, at)

    async def _put(self, claims: Sequence[Claim], at: datetime) -> None:
        """Put claims into the recording, and wait for their commit."""
        if self._sink is None:
            says = "the recording has ended"
            raise _unavailable(says)
        posted = [
            CloudEventPosted(observed_at=at, event=one.document, key=one.key)
            for one in claims
        ]
        try:
            receipt = await self._sink.put(posted)
            await receipt.committed()
        except NotCommittedError as exc:
            raise _unavailable(str(exc)) from exc


async def _body(request: Request) -> bytes:
    if "Content-Encoding" in request.headers:
        says = "send the events without an encoding"
        raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, says)
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > BODY_BYTES_MAX:
                says = f"the body has more than {BODY_BYTES_MAX:,} bytes"
                status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                raise _RefusedError(status, says)
    except ClientDisconnect as exc:
        raise _RefusedError(HTTPStatus.REQUEST_TIMEOUT) from exc
    return bytes(body)


def _unavailable(says: str) -> _RefusedError:
    return _RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, says)


def _refusal(refused: _RefusedError) -> Response:
    """Respond, and end the connection.

    The next attempt may reach another recorder behind the address.
    """
    headers = {"Connection": "close"}
    if refused.status in {
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.TOO_MANY_REQUESTS,
    }:
        headers["Retry-After"] = str(RETRY_SECONDS)
    text = f"{refused.says}\n" * bool(refused.says)
    return Response(text, refused.status, headers, "text/plain")
