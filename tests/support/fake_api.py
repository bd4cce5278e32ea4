"""The HTTP side of the fake cluster: lists, watches, objects, discovery."""

import asyncio
import itertools
import json
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from aiohttp import web

from tests.support import fake_discovery
from tests.support.fake_discovery import Kind
from tests.support.fake_stream import Stream, typed

__all__ = ["Api", "Expiry", "Failure"]

Body = dict[str, Any]
Verb = Literal["list", "watch", "get", "discover"]
Expiry = Literal["frame", "status"]

HTTP_OK = 200


@dataclass
class Failure:
    """Answers matching requests with an error, ``times`` times."""

    status: int
    verb: Verb | None = None
    plural: str | None = None
    times: int = 1
    retry_after: int | None = None
    body: str | None = None

    def meets(self, verb: Verb, plural: str | None) -> bool:
        return (
            self.times > 0
            and self.verb in {None, verb}
            and self.plural in {None, plural}
        )


class State(Protocol):
    """What is served; `FakeCluster`."""

    kinds: dict[str, Kind]
    uid: str
    token: str | None
    aggregated: bool
    lists_exact_versions: bool
    ignores_versions: bool
    names_oldest_version: bool
    broken: set[str]
    expiry: Expiry
    seconds: float
    failures: list[Failure]
    cut_after: dict[str, int]
    late: dict[str, float]
    cut_lists: dict[str, int]
    flowing: asyncio.Event
    answering: asyncio.Event
    portion: int | None
    pause: float
    version: str
    requests: list[tuple[str, dict[str, str]]]
    revision: int
    compacted: int
    cached_from: int
    defined: dict[str, int]
    objects: dict[tuple[str, str, str], Body]
    frames: list[tuple[int, str, bytes]]
    streams: dict[Stream, None]
    pages: dict[str, tuple[int, list[Body]]]

    @property
    def alive(self) -> bool: ...

    def then(
        self, plural: str, namespace: str, name: str, at: int
    ) -> Body | None: ...

    def all_then(self, at: int) -> dict[tuple[str, str, str], Body]: ...


class Api:
    """Answers requests from the state of the cluster."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._tokens = itertools.count(1)

    def app(self) -> web.Application:
        made = web.Application()
        made.router.add_get("/{path:.*}", self.serve)
        return made

    async def serve(self, request: web.Request) -> web.StreamResponse:
        state, path, query = self._state, request.path, dict(request.query)
        if not state.alive and request.transport is not None:
            request.transport.abort()
        await state.answering.wait()
        state.requests.append((path, query))
        wanted = f"Bearer {state.token}"
        if state.token and request.headers.get("Authorization") != wanted:
            return _status(401, "Unauthorized")
        kind, name = self._route(path)
        verb: Verb = "watch" if "watch" in query else "list"
        verb = "discover" if kind is None else "get" if name else verb
        for failure in state.failures:
            if failure.meets(verb, kind.plural if kind else None):
                failure.times -= 1
                return _refusal(failure)
        if kind is None:
            return self._discover(path)
        if name:
            return self._get(kind, path)
        if verb == "watch":
            return await self._watch(request, kind, query)
        return await self._listed(request, kind, query)

    def _route(self, path: str) -> tuple[Kind | None, str]:
        parts = path.strip("/").split("/")
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        if rest[:1] == ["namespaces"] and len(rest) > 2:
            rest = rest[2:]
        kind = self._state.kinds.get(rest[0]) if rest else None
        if kind and f"/{kind.api_version}/" not in path:
            kind = None
        return kind, rest[1] if len(rest) > 1 else ""

    def _get(self, kind: Kind, path: str) -> web.Response:
        if path == "/api/v1/namespaces/kube-system":
            return _answer({"metadata": {"uid": self._state.uid}})
        parts = path.strip("/").split("/")
        namespace = parts[-3] if kind.namespaced else ""
        made = self._state.objects.get((kind.plural, namespace, parts[-1]))
        if made is None:
            return _status(404, "not found")
        return _answer(typed(kind, made))

    async def _listed(
        self, request: web.Request, kind: Kind, query: dict[str, str]
    ) -> web.StreamResponse:
        answer = self._refuse(query)
        if answer is None and "fieldSelector" in query:
            answer = self._list_then(kind, request.path, query)
        elif answer is None:
            answer = self._list(kind, request.path, query)
        cuts = self._state.cut_lists
        if kind.plural in cuts and answer.status == HTTP_OK:
            return await _cut(request, answer, cuts.pop(kind.plural))
        return answer

    def _list(
        self, kind: Kind, path: str, query: dict[str, str]
    ) -> web.Response:
        state, token = self._state, query.get("continue", "")
        if token and token not in state.pages:
            return _status(410, "the continue parameter is too old")
        revision = int(query.get("resourceVersion", state.revision))
        if state.ignores_versions:
            revision = state.revision
        items: list[Body] = []
        if token:
            revision, items = state.pages[token]
        else:
            parts = path.split("/")
            within = parts[-2] if "namespaces" in parts[:-1] else None
            objects = state.all_then(revision)
            for (plural, namespace, _), made in sorted(objects.items()):
                if plural == kind.plural and within in {None, namespace}:
                    items.append(made)
        limit = int(query.get("limit", "0")) or len(items)
        metadata: Body = {"resourceVersion": str(revision)}
        if len(items) > limit:
            metadata["continue"] = f"page-{next(self._tokens)}"
            state.pages[metadata["continue"]] = revision, items[limit:]
        page = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version}
        return _answer({**page, "metadata": metadata, "items": items[:limit]})

    def _refuse(self, query: dict[str, str]) -> web.Response | None:
        """Refuse a version that cannot be listed."""
        if query.get("resourceVersionMatch") != "Exact":
            return None
        at = int(query["resourceVersion"])
        if not self._state.lists_exact_versions:
            return _status(400, "resourceVersionMatch is not known")
        if at > self._state.revision:
            return _status(504, "Too large resource version")
        if at < self._state.compacted:
            return _status(410, "too old resource version")
        return None

    def _list_then(
        self, kind: Kind, path: str, query: dict[str, str]
    ) -> web.Response:
        """Return one object as it was at a revision."""
        at = int(query["resourceVersion"])
        if self._state.ignores_versions:
            at = self._state.revision
        name = query["fieldSelector"].removeprefix("metadata.name=")
        within = path.split("/")[-2] if kind.namespaced else ""
        made = self._state.then(kind.plural, within, name, at)
        page = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version}
        metadata = {"resourceVersion": str(at)}
        items = [made] if made else []
        return _answer({**page, "metadata": metadata, "items": items})

    async def _watch(
        self, request: web.Request, kind: Kind, query: dict[str, str]
    ) -> web.StreamResponse:
        state, start = self._state, int(query["resourceVersion"])
        began = max(state.cached_from, state.defined.get(kind.plural, 0))
        expired = start < state.compacted or (
            # Events are not cached: etcd itself has their history.
            kind.plural != "events" and start < began
        )
        says = "too old resource version"
        if state.names_oldest_version:
            says += f": {start} ({max(began, state.compacted)})"
        if expired and state.expiry == "status":
            return _status(410, says)
        response = web.StreamResponse()
        response.content_type = "application/json"
        stream = Stream(kind, request, start, state)
        if expired:
            gone = {"kind": "Status", "code": 410, "reason": "Expired"}
            gone["message"] = says
            error = {"type": "ERROR", "object": gone}
            stream.refuse(_json(error) + b"\n")
        for revision, plural, data in state.frames:
            if plural == kind.plural and revision > start:
                stream.give(revision, data)
        state.streams[stream] = None
        seconds = float(query["timeoutSeconds"]) * state.seconds
        try:
            await response.prepare(request)
            await stream.serve(response, seconds)
        except* ConnectionError:
            pass  # a client that went
        finally:
            state.streams.pop(stream, None)
        return response

    def _discover(self, path: str) -> web.Response:
        if path == "/version":
            return _answer({"gitVersion": self._state.version})
        kinds = self._state.kinds.values()
        if path in {"/api", "/apis"} and self._state.aggregated:
            mine = [k for k in kinds if bool(k.group) == (path == "/apis")]
            broken = self._state.broken
            return _answer(fake_discovery.aggregated(mine, broken))
        if path == "/api":
            return _answer({"kind": "APIVersions", "versions": ["v1"]})
        if path == "/apis":
            return _answer(fake_discovery.groups(kinds))
        version = path.removeprefix("/apis/").removeprefix("/api/")
        found = [k for k in kinds if k.api_version == version]
        if not found or found[0].group in self._state.broken:
            return _status(503 if found else 404, "unavailable")
        return _answer(fake_discovery.resources(found))


def _json(body: Body) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


def _answer(body: Body, status: int = 200) -> web.Response:
    return web.Response(
        body=_json(body), content_type="application/json", status=status
    )


async def _cut(
    request: web.Request, answer: web.Response, after: int
) -> web.StreamResponse:
    """Break the connection within a body."""
    body = answer.body
    assert isinstance(body, bytes)
    response = web.StreamResponse()
    response.content_type = "application/json"
    response.content_length = len(body)
    await response.prepare(request)
    await response.write(body[: min(after, len(body) - 1)])
    await asyncio.sleep(0.01)  # else nothing is sent
    if request.transport is not None:
        request.transport.abort()
    return response


def _refusal(failure: Failure) -> web.Response:
    if failure.body is not None:
        return web.Response(status=failure.status, text=failure.body)
    response = _status(failure.status, "scripted")
    if failure.retry_after is not None:
        response.headers["Retry-After"] = str(failure.retry_after)
    return response


def _status(code: int, message: str) -> web.Response:
    status = {"kind": "Status", "code": code, "message": message}
    return _answer(status, code)
