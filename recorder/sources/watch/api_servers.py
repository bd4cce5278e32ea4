"""The API servers of a cluster, each at its own address.

They are in an EndpointSlice, which they maintain themselves, and renew a Lease
each. Both are read to count them: one that is not ready, or on a network of
its own, is not in the slice, and two on one machine share a Lease.
"""

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

import msgspec

from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import MissingError

METRICS = "/metrics"
METRICS_SECONDS = 10.0
"""How long an API server may be silent within its response."""

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
API_SERVERS = {
    "labelSelector": "apiserver.kubernetes.io/identity=kube-apiserver"
}
"""Each API server renews a Lease of its own; that of a removed server stays
for an hour."""

SLICE = (
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
)

Document = TypeVar("Document")


class _Leases(msgspec.Struct):
    items: list[msgspec.Raw] = []


class _Port(msgspec.Struct):
    port: int | None = None
    name: str | None = None


class _Endpoint(msgspec.Struct):
    addresses: list[str] = []


class _Slice(msgspec.Struct):
    endpoints: list[_Endpoint] | None = None
    ports: list[_Port] | None = None


class AskedServers:
    """Queries a cluster about its API servers."""

    def __init__(self, client: ClusterClient) -> None:
        self._client = client

    async def addresses(self) -> Sequence[str]:
        """Return their own addresses, in order; none if they are unknown.

        Raises:
            RequestError: the request failed.
        """
        try:
            said = await self._read(SLICE, verb="get", as_type=_Slice)
        except MissingError:
            return []
        ports = [
            one.port
            for one in said.ports or ()
            if one.port is not None and one.name in (None, "", "https")
        ]
        return sorted(
            f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
            for endpoint in said.endpoints or ()
            for address in endpoint.addresses[:1]
            for port in ports[:1]
        )

    async def leases(self) -> int | None:
        """Return how many renew a Lease; None if that is unknown.

        Raises:
            RequestError: the request failed.
        """
        said = await self._read(
            LEASES, verb="list", as_type=_Leases, params=API_SERVERS
        )
        return len(said.items) or None

    async def metrics(self, server: str) -> AsyncIterator[bytes]:
        """Yield the metrics of a server, or of whichever responds.

        Raises:
            RequestError: the request failed.
        """
        what = f"{METRICS} of the API server {server}" if server else METRICS
        async with self._client.stream(
            METRICS,
            what=what,
            params={},
            idle=METRICS_SECONDS,
            server=server,
            verb="get",
        ) as answer:
            async for chunk in answer.chunks():
                yield chunk

    async def _read(
        self,
        path: str,
        *,
        verb: str,
        as_type: type[Document],
        params: dict[str, str] | None = None,
    ) -> Document:
        answer = await self._client.read(
            path, verb=verb, what=path, params=params
        )
        try:
            return msgspec.json.decode(answer, type=as_type)
        except (ValueError, RecursionError) as exc:
            raise self._client.bad_answer(path, exc, verb=verb) from exc
