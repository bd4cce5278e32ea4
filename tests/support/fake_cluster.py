"""A scripted API server for the faults that a real one has only by chance.

It keeps objects with revisions, lists them in pages and streams what changes,
over plain HTTP on loopback, as closely to the real one as matters: one counter
of revisions for all resources, list items without their kind, an expired
version told after HTTP 200, a version in the future met with silence. Every
change ever made is in `history`, the oracle of the tests that use it.

It enforces no schema, knows no authorisation beyond one token, and never
sends a bookmark unless told to. `seconds` scales the ``timeoutSeconds`` asked.
"""

import asyncio
import copy
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from aiohttp import web

__all__ = ["POD", "Change", "Failure", "FakeCluster", "Kind"]

Body = dict[str, Any]
Verb = Literal["list", "watch", "get", "discover"]


@dataclass(frozen=True)
class Kind:
    """A resource that is served."""

    plural: str
    kind: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


POD = Kind("pods", "Pod")
NODE = Kind("nodes", "Node", namespaced=False)
EVENT = Kind("events", "Event")
NAMESPACE = Kind("namespaces", "Namespace", namespaced=False)
CRD = Kind(
    "customresourcedefinitions",
    "CustomResourceDefinition",
    "apiextensions.k8s.io",
    namespaced=False,
)
STANDARD = (POD, NODE, EVENT, NAMESPACE, CRD)


@dataclass(frozen=True)
class Change:
    """One change of one object, as etcd would remember it."""

    epoch: int
    revision: int
    type: str
    plural: str
    object: Body

    @property
    def key(self) -> tuple[int, str, str, int, bool]:
        uid = self.object["metadata"]["uid"]
        deleted = self.type == "DELETED"
        return self.epoch, self.plural, uid, self.revision, deleted


@dataclass
class Failure:
    """Answers matching requests with an error, ``times`` times."""

    status: int
    verb: Verb | None = None
    plural: str | None = None
    times: int = 1
    retry_after: int | None = None
    body: str | None = None


@dataclass(eq=False)
class _Stream:
    """One open watch: what is still to be written to it."""

    kind: Kind
    request: web.Request
    queue: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)


@dataclass(frozen=True)
class Snapshot:
    """A backup of everything stored."""

    revision: int
    objects: dict[tuple[str, str, str], Body]


class FakeCluster:
    """The server; use as an asynchronous context manager."""

    def __init__(self, kinds: Sequence[Kind] = STANDARD) -> None:
        self.kinds = {kind.plural: kind for kind in kinds}
        self.uid = "fake-cluster-uid"
        self.token: str | None = None
        self.aggregated = True
        self.broken_groups: set[str] = set()
        self.expiry: Literal["frame", "status"] = "frame"
        self.seconds = 1.0
        self.failures: list[Failure] = []
        self.cut_after: int | None = None
        """Bytes after which the next watch is cut."""
        self.stalled = False
        """While set, streams stay open and nothing is written to them."""
        self.chunk: int | None = None
        """The size of the portions in which frames are written."""
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.epoch = 0
        self.revision = 100
        self.compacted = 0
        self.history: list[Change] = []
        self._objects: dict[tuple[str, str, str], Body] = {}
        self._frames: list[tuple[int, str, bytes]] = []
        self._streams: set[_Stream] = set()
        self._pages: dict[str, tuple[int, list[Body]]] = {}
        self._serial = itertools.count(1)
        self._runner: web.AppRunner | None = None
        self._port = 0

    async def __aenter__(self) -> Self:
        await self.up()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.down()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def kubeconfig(self, folder: Path, token: str = "none") -> Path:
        """Write a kubeconfig whose context is called ``fake``."""
        user = {"token": token}
        cluster = {"server": self.url}
        context = {"cluster": "fake", "user": "fake"}
        path = folder / "kubeconfig"
        path.write_text(
            json.dumps(
                {
                    "current-context": "fake",
                    "clusters": [{"name": "fake", "cluster": cluster}],
                    "users": [{"name": "fake", "user": user}],
                    "contexts": [{"name": "fake", "context": context}],
                }
            )
        )
        return path

    async def up(self) -> None:
        """Listen, on the same port as before."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def down(self) -> None:
        """Die: every connection breaks, and nothing listens."""
        self.cut()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    # What happens in the cluster.

    def put(
        self,
        plural: str,
        name: str,
        *,
        namespace: str = "default",
        **body: Any,
    ) -> Body:
        """Create or update an object; gives it as stored."""
        kind = self.kinds[plural]
        key = plural, namespace if kind.namespaced else "", name
        old = self._objects.get(key)
        self.revision += 1
        metadata = {"name": name, "resourceVersion": str(self.revision)}
        if kind.namespaced:
            metadata["namespace"] = namespace
        serial = old["metadata"]["uid"] if old else f"u{next(self._serial)}"
        metadata["uid"] = serial
        made: Body = {"metadata": metadata, **body}
        self._objects[key] = made
        self._tell("MODIFIED" if old else "ADDED", kind, made)
        return made

    def delete(
        self, plural: str, *names: str, namespace: str = "default"
    ) -> None:
        """Delete objects, all in one revision, as an expired lease does."""
        kind = self.kinds[plural]
        self.revision += 1
        for name in names:
            key = plural, namespace if kind.namespaced else "", name
            gone = copy.deepcopy(self._objects.pop(key))
            gone["metadata"]["resourceVersion"] = str(self.revision)
            self._tell("DELETED", kind, gone)

    def add_crd(self, kind: Kind) -> None:
        """Define and serve a kind."""
        self.kinds[kind.plural] = kind
        self.put(CRD.plural, f"{kind.plural}.{kind.group}")

    def remove_crd(self, plural: str) -> None:
        """Delete a kind with all its objects; its watches end."""
        kind = self.kinds[plural]
        for _, namespace, name in [k for k in self._objects if k[0] == plural]:
            self.delete(plural, name, namespace=namespace)
        self.end(plural)
        del self.kinds[plural]
        self.delete(CRD.plural, f"{plural}.{kind.group}")

    def forget_silently(self, plural: str, name: str) -> None:
        """Lose a delete: the object is gone and no frame tells it."""
        namespace = "default" if self.kinds[plural].namespaced else ""
        self._objects.pop((plural, namespace, name))

    def snapshot(self) -> Snapshot:
        return Snapshot(self.revision, copy.deepcopy(self._objects))

    def rewind(self, backup: Snapshot) -> None:
        """Restore a backup: a new epoch, whose revisions were used before."""
        self.epoch += 1
        self.revision = self.compacted = backup.revision
        self._objects = copy.deepcopy(backup.objects)
        self._frames.clear()
        self._pages.clear()
        self.cut()

    def compact(self) -> None:
        """Forget every version up to now."""
        self.compacted = self.revision
        self._frames.clear()
        self._pages.clear()

    # What happens to streams.

    def cut(self, plural: str | None = None) -> None:
        """Break the connections of watches."""
        for stream in self._of(plural):
            if stream.request.transport is not None:
                stream.request.transport.abort()
            stream.queue.put_nowait(None)

    def end(self, plural: str | None = None) -> None:
        """End watches cleanly."""
        for stream in self._of(plural):
            stream.queue.put_nowait(None)

    def send(self, plural: str, data: bytes) -> None:
        """Write bytes into watches, whatever they are."""
        for stream in self._of(plural):
            stream.queue.put_nowait(data)

    def bookmark(self, plural: str | None = None) -> None:
        """Send a bookmark of the current revision."""
        for stream in self._of(plural):
            metadata = {"resourceVersion": str(self.revision)}
            stream.queue.put_nowait(
                self._frame("BOOKMARK", stream.kind, {"metadata": metadata})
            )

    def watching(self, plural: str) -> int:
        """Count the open watches of a resource."""
        return sum(1 for _ in self._of(plural))

    def _of(self, plural: str | None) -> Iterator[_Stream]:
        for stream in list(self._streams):
            if plural in {None, stream.kind.plural}:
                yield stream

    def _tell(self, event: str, kind: Kind, made: Body) -> None:
        kept = copy.deepcopy(made)
        self.history.append(
            Change(self.epoch, self.revision, event, kind.plural, kept)
        )
        frame = self._frame(event, kind, made)
        self._frames.append((self.revision, kind.plural, frame))
        for stream in self._of(kind.plural):
            stream.queue.put_nowait(frame)

    def _frame(self, event: str, kind: Kind, made: Body) -> bytes:
        typed = {"kind": kind.kind, "apiVersion": kind.api_version, **made}
        return _json({"type": event, "object": typed}) + b"\n"

    # HTTP.

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        path, query = request.path, dict(request.query)
        self.requests.append((path, query))
        wanted = f"Bearer {self.token}" if self.token else None
        if wanted and request.headers.get("Authorization") != wanted:
            return _status(401, "Unauthorized")
        kind, name = self._route(path)
        verb: Verb = "discover"
        if kind is not None:
            verb = "get" if name else "watch" if "watch" in query else "list"
        if failure := self._failure(verb, kind):
            return _refusal(failure)
        if kind is not None and name:
            return self._get(kind, path)
        if kind is not None and verb == "watch":
            return await self._watch(request, kind, query)
        if kind is not None:
            return self._list(kind, query)
        return self._discover(path)

    def _failure(self, verb: Verb, kind: Kind | None) -> Failure | None:
        plural = kind.plural if kind else None
        for failure in self.failures:
            if failure.times > 0 and (
                failure.verb in {None, verb}
                and failure.plural in {None, plural}
            ):
                failure.times -= 1
                return failure
        return None

    def _route(self, path: str) -> tuple[Kind | None, str]:
        parts = path.strip("/").split("/")
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        if rest[:1] == ["namespaces"] and len(rest) > 2:
            rest = rest[2:]
        kind = self.kinds.get(rest[0]) if rest else None
        if kind and f"/{kind.api_version}/" not in path:
            kind = None
        return kind, rest[1] if len(rest) > 1 else ""

    def _get(self, kind: Kind, path: str) -> web.Response:
        parts = path.strip("/").split("/")
        if path == "/api/v1/namespaces/kube-system":
            return _answer({"metadata": {"uid": self.uid}})
        namespace = parts[-3] if kind.namespaced else ""
        made = self._objects.get((kind.plural, namespace, parts[-1]))
        if made is None:
            return _status(404, "NotFound")
        typed = {"kind": kind.kind, "apiVersion": kind.api_version, **made}
        return _answer(typed)

    def _list(self, kind: Kind, query: dict[str, str]) -> web.Response:
        token = query.get("continue", "")
        if token and token not in self._pages:
            return _status(410, "Expired")
        if token:
            revision, items = self._pages[token]
        else:
            revision = self.revision
            found = (
                v for k, v in self._objects.items() if k[0] == kind.plural
            )
            items = sorted(found, key=lambda item: str(item["metadata"]))
        limit = int(query.get("limit", "0")) or len(items) or 1
        metadata: Body = {"resourceVersion": str(revision)}
        if len(items) > limit:
            metadata["continue"] = f"t{next(self._serial)}"
            self._pages[metadata["continue"]] = revision, items[limit:]
        page = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version}
        return _answer({**page, "metadata": metadata, "items": items[:limit]})

    async def _watch(
        self, request: web.Request, kind: Kind, query: dict[str, str]
    ) -> web.StreamResponse:
        start = int(query["resourceVersion"])
        expired = start < self.compacted
        if expired and self.expiry == "status":
            return _status(410, "Expired")
        response = web.StreamResponse()
        response.content_type = "application/json"
        await response.prepare(request)
        stream = _Stream(kind, request)
        if expired:
            gone = {"kind": "Status", "code": 410, "reason": "Expired"}
            stream.queue.put_nowait(
                _json({"type": "ERROR", "object": gone}) + b"\n"
            )
            stream.queue.put_nowait(None)
        for revision, plural, frame in self._frames:
            if plural == kind.plural and revision > start:
                stream.queue.put_nowait(frame)
        self._streams.add(stream)
        cut_after, self.cut_after = self.cut_after, None
        try:
            async with asyncio.timeout(
                float(query["timeoutSeconds"]) * self.seconds
            ):
                await self._write(stream, response, cut_after)
        except TimeoutError:
            pass
        finally:
            self._streams.discard(stream)
        return response

    async def _write(
        self,
        stream: _Stream,
        response: web.StreamResponse,
        cut_after: int | None,
    ) -> None:
        while (data := await stream.queue.get()) is not None:
            while self.stalled:
                await asyncio.sleep(0.01)
            size = self.chunk or len(data)
            for start in range(0, len(data), size):
                part = data[start : start + size]
                if cut_after is not None:
                    part, cut_after = part[:cut_after], cut_after - len(part)
                if part:
                    await response.write(part)
                if cut_after is not None and cut_after <= 0:
                    await asyncio.sleep(0.01)  # else the bytes are dropped
                    if stream.request.transport is not None:
                        stream.request.transport.abort()
                    return

    def _discover(self, path: str) -> web.Response:
        if path == "/version":
            return _answer({"gitVersion": "v1.36.3-fake"})
        groups: dict[str, list[Kind]] = {}
        for kind in self.kinds.values():
            groups.setdefault(kind.group, []).append(kind)
        if path in {"/api", "/apis"} and self.aggregated:
            mine = {g for g in groups if bool(g) == (path == "/apis")}
            items = [_group(g, groups[g], self.broken_groups) for g in mine]
            return _answer({"kind": "APIGroupDiscoveryList", "items": items})
        if path == "/api":
            return _answer({"kind": "APIVersions", "versions": ["v1"]})
        if path == "/apis":
            legacy = [_legacy_group(g, groups[g]) for g in groups if g]
            return _answer({"kind": "APIGroupList", "groups": legacy})
        version = path.removeprefix("/apis/").removeprefix("/api/")
        found = [k for k in self.kinds.values() if k.api_version == version]
        if not found or found[0].group in self.broken_groups:
            return _status(503 if found else 404, "Unavailable")
        return _answer({"resources": [_legacy_resource(k) for k in found]})


_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]


def _group(name: str, kinds: list[Kind], broken: set[str]) -> Body:
    versions: dict[str, list[Body]] = {}
    for kind in kinds:
        versions.setdefault(kind.version, []).append(
            {
                "resource": kind.plural,
                "responseKind": {"kind": kind.kind},
                "scope": "Namespaced" if kind.namespaced else "Cluster",
                "verbs": _VERBS,
            }
        )
    stale = name in broken
    return {
        "metadata": {"name": name},
        "versions": [
            {
                "version": version,
                "freshness": "Stale" if stale else "Current",
                "resources": [] if stale else resources,
            }
            for version, resources in versions.items()
        ],
    }


def _legacy_group(name: str, kinds: list[Kind]) -> Body:
    versions = [
        {"version": v} for v in dict.fromkeys(k.version for k in kinds)
    ]
    return {
        "name": name,
        "versions": versions,
        "preferredVersion": versions[0],
    }


def _legacy_resource(kind: Kind) -> Body:
    return {
        "name": kind.plural,
        "kind": kind.kind,
        "namespaced": kind.namespaced,
        "verbs": _VERBS,
    }


def _json(body: Body) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


def _answer(body: Body) -> web.Response:
    return web.Response(body=_json(body), content_type="application/json")


def _refusal(failure: Failure) -> web.Response:
    if failure.body is not None:
        return web.Response(status=failure.status, text=failure.body)
    response = _status(failure.status, "scripted")
    if failure.retry_after is not None:
        response.headers["Retry-After"] = str(failure.retry_after)
    return response


def _status(code: int, message: str) -> web.Response:
    status = {"kind": "Status", "code": code, "message": message}
    response = _answer(status)
    response.set_status(code)
    return response
