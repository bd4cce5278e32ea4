"""The door of claims: events over HTTPS, from senders with a right to them.

A sender has a token, with a right to some types of some sources; no byte of a
body is read before the token is known. CloudEvents are posted to `CLAIMS_PATH`
itself, what a converter reads to a path below it. A request is answered with
202 once all of its events are in the log, and one that is not may be repeated:
an event that is in the log already is not entered again. Between two
recordings, as on a standby, every request is rejected, to be repeated. Every
request is counted, one that is refused by the reason.
"""

import asyncio
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Protocol

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from recorder.intake.ports import Known, Sink
from recorder.intake.progress import ClaimCounts
from recorder.intake.receipts import NotCommittedError
from recorder.listening import let_in
from recorder.model.errors import ConfigError
from recorder.model.observation import (
    CLOUDEVENTS,
    SLURM,
    CloudEventPosted,
    Observation,
    PlaceReached,
    RecordsLost,
)
from recorder.sources.claims.converters import (
    CONVERTERS,
    Converter,
    Truncated,
    zone_of,
)
from recorder.sources.claims.envelope import (
    Claim,
    EnvelopeError,
    claims_of,
    read_claims,
)

CLAIMS_PATH = "/ingest"
CLOUDEVENT = "cloudevents"
"""By which accepted events are counted that no converter read."""

BODY_BYTES_MAX = 4 << 20
"""Of one request: a batch of 500 events of 8 KiB each."""

REQUESTS_MAX = 16
"""At once, which bounds the memory for them to 64 MiB."""

COMMIT_SECONDS = 20.0
"""Less than the timeout of most clients, which is 30 seconds."""

TRUNCATED_MAX = 1024
"""Requests that left something out, remembered so that a repeated one is not
another gap."""

RETRY_SECONDS = 2
BEARER = "Bearer "
BASIC = "Basic "


class Rights(Protocol):
    """What the holder of a token may claim."""

    @property
    def name(self) -> str:
        """Return the name of the token."""

    def may_claim(self, source: str, kind: str) -> bool:
        """Return whether it may post events of a type from a source."""


class _RefusedError(Exception):
    """A request that is not accepted, with the response to it."""

    def __init__(
        self, status: HTTPStatus, reason: str, says: str = ""
    ) -> None:
        super().__init__(says)
        self.status = status
        self.reason = reason
        self.says = says


class _Batch:
    """The claims of one request."""

    def __init__(
        self, claims: Sequence[Claim], truncated: Truncated | None = None
    ) -> None:
        self.claims = claims
        self.truncated = truncated


def _now() -> datetime:
    return datetime.now(UTC)


class ClaimDoor:
    """Takes events while the recording that it is a source of runs."""

    finite = False

    def __init__(
        self,
        rights: Callable[[str], Rights | None],
        *,
        counts: ClaimCounts,
        mappings: Mapping[str, Converter] | None = None,
        misfit: Callable[[str, bytes], str | None] | None = None,
        now: Callable[[], datetime] = _now,
        commit_seconds: float = COMMIT_SECONDS,
    ) -> None:
        """Prepare.

        Args:
            rights: returns those of a token; None if it has none.
            counts: where to count requests.
            mappings: the converters of the site, by name.
            misfit: returns what is wrong with a document by the schema of its
                type; None if nothing is, or the type is not known.
            now: the clock for observations.
            commit_seconds: how long a sender waits for the commit.
        """
        self._rights = rights
        self._counts = counts
        self._converters = {**CONVERTERS, **(mappings or {})}
        self._misfit = misfit
        self._now = now
        self._commit_seconds = commit_seconds
        self._sink: Sink | None = None
        self._waiting = 0
        self._truncated: dict[str, None] = {}

    async def run(self, sink: Sink, known: Known) -> None:  # noqa: ARG002
        """Accept events until cancelled."""
        self._sink = sink
        try:
            await asyncio.Event().wait()
        finally:
            self._sink = None

    def routes(self) -> Sequence[Route]:
        """Return the routes under which a server serves the door."""
        return [
            Route(path, self._serve, methods=["POST"])
            for path in (CLAIMS_PATH, CLAIMS_PATH + "/{converter}")
        ]

    async def _serve(self, request: Request) -> Response:
        try:
            rights = self._rights_of(request)
            let_in(request.scope)
            with self._turn():
                async with asyncio.timeout(self._commit_seconds):
                    await self._take(request, rights)
        except _RefusedError as exc:
            return self._refusal(exc)
        except TimeoutError:
            return self._refusal(_unavailable("the log is too slow", "slow"))
        return Response(status_code=_status(request))

    def _rights_of(self, request: Request) -> Rights:
        presented = _token(request.headers.get("Authorization", ""))
        rights = None
        if presented:
            try:
                rights = self._rights(presented)
            except ConfigError as exc:
                says = "the tokens of senders cannot be read"
                raise _unavailable(says, "tokens-unreadable") from exc
        if rights is None:
            says = "the token is not valid, or may not claim anything"
            raise _RefusedError(HTTPStatus.UNAUTHORIZED, "token", says)
        return rights

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if self._waiting >= REQUESTS_MAX:
            says = "too many requests are waiting"
            raise _RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "busy", says)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def _take(self, request: Request, rights: Rights) -> None:
        if self._sink is None:
            says = "this recorder does not write the log now"
            raise _unavailable(says, "standby")
        name = request.path_params.get("converter", CLOUDEVENT)
        if name != CLOUDEVENT and name not in self._converters:
            names = ", ".join(sorted(self._converters))
            says = f'there is no converter "{name[:64]}": use one of {names}'
            raise _RefusedError(HTTPStatus.NOT_FOUND, "converter", says)
        body, at = await _body(request), self._now()
        try:
            batch = await asyncio.to_thread(
                self._read, name, request, body, at
            )
        except EnvelopeError as exc:
            status = HTTPStatus.BAD_REQUEST
            raise _RefusedError(status, exc.reason, str(exc)) from exc
        for claim in batch.claims:
            if not rights.may_claim(claim.source, claim.type):
                says = (
                    f'the token "{rights.name}" may not claim type'
                    f' "{claim.type}" of source "{claim.source}"'
                )
                raise _RefusedError(HTTPStatus.FORBIDDEN, "right", says)
        await self._put(batch, name, at)
        self._counts.accepted[name] += len(batch.claims)

    def _read(
        self, name: str, request: Request, body: bytes, at: datetime
    ) -> _Batch:
        """Return the claims of a body.

        Raises:
            EnvelopeError: one of them is malformed, or its data is not as its
                type says; the member is named.
        """
        batch = self._converted(name, request, body, at)
        if self._misfit is not None:
            for number, claim in enumerate(batch.claims, 1):
                wrong = self._misfit(claim.type, claim.document)
                if wrong is not None:
                    msg = f"event {number}, of type {claim.type}: {wrong}"
                    raise EnvelopeError(msg)
        return batch

    def _converted(
        self, name: str, request: Request, body: bytes, at: datetime
    ) -> _Batch:
        if name == CLOUDEVENT:
            return _Batch(read_claims(request.headers, body, now=at))
        query = request.query_params
        events, truncated = self._converters[name](
            body, zone_of(query.get("zone"))
        )
        # Several senders of one kind differ by what their URLs say.
        source = "/".join(filter(None, (name, query.get("source"))))
        claims = claims_of(
            [{"source": source, **event} for event in events], now=at
        )
        return _Batch(claims, truncated)

    async def _put(self, batch: _Batch, name: str, at: datetime) -> None:
        """Put claims into the recording, and wait for their commit."""
        if self._sink is None:
            says = "the recording has ended"
            raise _unavailable(says, "standby")
        posted: list[Observation] = [
            CloudEventPosted(observed_at=at, event=one.document, key=one.key)
            for one in batch.claims
        ]
        truncated = batch.truncated
        if truncated is not None and truncated.key not in self._truncated:
            posted += _gap(name, truncated, at)
        try:
            receipt = await self._sink.put(posted)
            await receipt.committed()
        except NotCommittedError as exc:
            raise _unavailable(str(exc), "log") from exc
        if truncated is not None:
            self._truncated[truncated.key] = None
            while len(self._truncated) > TRUNCATED_MAX:
                del self._truncated[next(iter(self._truncated))]

    def _refusal(self, refused: _RefusedError) -> Response:
        """Respond, and end the connection.

        The next attempt may reach another recorder behind the address.
        """
        counts = self._counts
        counts.refused[refused.reason] += 1
        headers = {"Connection": "close"}
        if refused.status in {
            HTTPStatus.SERVICE_UNAVAILABLE,
            HTTPStatus.TOO_MANY_REQUESTS,
        }:
            headers["Retry-After"] = str(RETRY_SECONDS)
        elif refused.says:
            counts.last_refusal = refused.says
        text = f"{refused.says}\n" * bool(refused.says)
        return Response(text, refused.status, headers, "text/plain")


def _gap(
    name: str, truncated: Truncated, at: datetime
) -> Sequence[Observation]:
    """Return that a sender left something out, of no stream that goes on."""
    return [
        RecordsLost(
            observed_at=at,
            source=CLOUDEVENTS,
            stream=name,
            reason=truncated.reason,
            since=truncated.since,
            possible="claims that the sender left out",
        ),
        PlaceReached(
            observed_at=at,
            source=CLOUDEVENTS,
            stream=name,
            place="",
            state="gone",
        ),
    ]


def _token(header: str) -> str:
    """Return the token that a request presents; empty if it has none.

    A sender that knows only passwords presents it as one, in its URL.
    """
    if header.startswith(BEARER):
        return header.removeprefix(BEARER)
    if not header.startswith(BASIC):
        return ""
    try:
        plain = b64decode(header.removeprefix(BASIC), validate=True).decode()
    except ValueError:
        return ""
    return plain.partition(":")[2]


def _status(request: Request) -> HTTPStatus:
    """Return the status of an accepted request.

    Slurm repeats what is not answered as by Elasticsearch.
    """
    name = request.path_params.get("converter")
    return HTTPStatus.CREATED if name == SLURM else HTTPStatus.ACCEPTED


async def _body(request: Request) -> bytes:
    if "Content-Encoding" in request.headers:
        says = "send the events without an encoding"
        status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        raise _RefusedError(status, "encoding", says)
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > BODY_BYTES_MAX:
                says = f"the body has more than {BODY_BYTES_MAX:,} bytes"
                status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                raise _RefusedError(status, "large", says)
    except ClientDisconnect as exc:
        status = HTTPStatus.REQUEST_TIMEOUT
        raise _RefusedError(status, "disconnected") from exc
    return bytes(body)


def _unavailable(says: str, reason: str) -> _RefusedError:
    return _RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, reason, says)
