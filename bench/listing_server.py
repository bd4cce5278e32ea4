"""An API server with a hundred thousand pods, few of them in memory.

``python -m bench.listing_server PODS FOLDER`` serves discovery, the namespace
kube-system, lists of pods in pages, and watches in which nothing happens, over
plain HTTP on loopback. Pages are made on request. It writes a kubeconfig into
the folder when it listens.
"""

import asyncio
import json
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from bench.fleet import Fleet
from bench.templates import PODS
from tests.support import fake_discovery
from tests.support.fake_discovery import Kind

__all__ = ["KUBECONFIG"]

KUBECONFIG = "kubeconfig"
KINDS = [
    Kind("pods", "Pod"),
    Kind("namespaces", "Namespace", namespaced=False),
]
KUBE_SYSTEM = {
    "metadata": {
        "name": "kube-system",
        "uid": "0d0b1c5e-0000-4000-8000-00000000fee7",
        "resourceVersion": "1",
    }
}
REVISION = 10**9
"""Of the list; above that of every pod."""

KEPT = 2000
"""Pods that can be read one by one: the newest, which the recorder reads to
detect a rewound server."""


class _Metadata(msgspec.Struct):
    name: str
    namespace: str


class _Pod(msgspec.Struct):
    metadata: _Metadata


class Server:
    """Answers requests."""

    def __init__(self, pods: int) -> None:
        self._pods = pods
        self._fleet = Fleet("measured")
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        path, query = request.path, request.query
        if "watch" in query:
            return await _silence(request, float(query["timeoutSeconds"]))
        if query.get("resourceVersionMatch") == "Exact":
            return _answer({"kind": "Status", "code": 410}, 410)
        if path == "/api/v1/pods":
            return self._page(query.get("continue", ""), query["limit"])
        if path in self._kept:
            return _raw(self._kept[path])
        return _small(path)

    def _page(self, token: str, limit: str) -> web.Response:
        start = int(token or 0)
        end = min(start + int(limit), self._pods)
        items = [self._pod() for _ in range(start, end)]
        metadata = {"resourceVersion": str(REVISION)}
        if end < self._pods:
            metadata["continue"] = str(end)
        return _raw(
            b'{"kind":"PodList","apiVersion":"v1","metadata":%b,"items":[%b]}'
            % (json.dumps(metadata).encode(), b",".join(items))
        )

    def _pod(self) -> bytes:
        raw = self._fleet.living(PODS)
        named = msgspec.json.decode(raw, type=_Pod).metadata
        path = f"/api/v1/namespaces/{named.namespace}/pods/{named.name}"
        self._kept[path] = raw
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return raw


async def _silence(request: web.Request, seconds: float) -> web.StreamResponse:
    response = web.StreamResponse()
    response.content_type = "application/json"
    await response.prepare(request)
    await asyncio.sleep(seconds)
    return response


def _small(path: str) -> web.Response:
    if path == "/api/v1/namespaces/kube-system":
        return _answer(KUBE_SYSTEM)
    if path == "/api/v1/namespaces":
        return _answer(_list("Namespace", [KUBE_SYSTEM]))
    if path == "/version":
        return _answer({"gitVersion": "v1.36.3"})
    if path in {"/api", "/apis"}:
        mine = [kind for kind in KINDS if path == "/api"]
        return _answer(fake_discovery.aggregated(mine, set()))
    return _answer({"kind": "Status", "code": 404}, 404)


def _list(kind: str, items: list[Any]) -> dict[str, Any]:
    return {
        "kind": f"{kind}List",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": str(REVISION)},
        "items": items,
    }


def _answer(body: Any, status: int = 200) -> web.Response:
    return _raw(json.dumps(body).encode(), status)


def _raw(body: bytes, status: int = 200) -> web.Response:
    return web.Response(
        body=body, content_type="application/json", status=status
    )


def _kubeconfig(port: int) -> dict[str, Any]:
    server = f"http://127.0.0.1:{port}"
    context = {"cluster": "bench", "user": "bench"}
    return {
        "current-context": "bench",
        "clusters": [{"name": "bench", "cluster": {"server": server}}],
        "users": [{"name": "bench", "user": {"token": "none"}}],
        "contexts": [{"name": "bench", "context": context}],
    }


async def main() -> None:
    server = Server(int(sys.argv[1]))
    app = web.Application()
    app.router.add_get("/{path:.*}", server.serve)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    folder = Path(sys.argv[2])
    config = json.dumps(_kubeconfig(runner.addresses[0][1]))
    (folder / "written").write_text(config)
    (folder / "written").rename(folder / KUBECONFIG)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
