"""A client of the API server that has no opinions: paths in, JSON out.

Tests write with it and know what they wrote. It retries nothing and decodes
nothing into models.
"""

import ssl
from pathlib import Path
from typing import Any, Self

import aiohttp

from tests.cluster.certificates import KeyPair

__all__ = ["ApiClient", "ApiError", "address_and_trust", "trusting"]

REQUEST_SECONDS = 30

PATCHES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}


class ApiError(Exception):
    """The API server said no."""

    def __init__(self, request: str, status: int, body: str) -> None:
        super().__init__(f"{request}: {status} {body[:500]}")
        self.status = status


class ApiClient:
    """One user's connection to one API server."""

    def __init__(
        self, server: str, trust: ssl.SSLContext, *, agent: str | None = None
    ) -> None:
        """Connect as a user, under the name of a program if one is given."""
        self._session = aiohttp.ClientSession(
            server,
            headers={"User-Agent": agent} if agent else None,
            connector=aiohttp.TCPConnector(ssl=trust),
            timeout=aiohttp.ClientTimeout(total=REQUEST_SECONDS),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def get(self, path: str, **query: str) -> Any:
        """Return an object or a list."""
        return await self._request("GET", path, query=query)

    async def create(self, path: str, body: Any, **query: str) -> Any:
        """Post an object to a collection, or to a subresource."""
        return await self._request("POST", path, body, query=query)

    async def replace(self, path: str, body: Any, **query: str) -> Any:
        """Put an object."""
        return await self._request("PUT", path, body, query=query)

    async def patch(
        self, path: str, body: Any, *, kind: str = "merge", **query: str
    ) -> Any:
        """Patch an object; ``kind`` is a name in `PATCHES`."""
        return await self._request(
            "PATCH", path, body, query=query, content_type=PATCHES[kind]
        )

    async def delete(self, path: str, **query: str) -> Any:
        """Delete an object or a collection."""
        return await self._request("DELETE", path, query=query)

    async def answers(self, path: str) -> bool:
        """Whether a path answers with 200 just now."""
        try:
            async with self._session.get(path) as response:
                return response.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False

    async def _request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, str],
        content_type: str = "application/json",
    ) -> Any:
        async with self._session.request(
            method,
            path,
            params=query,
            json=body,
            headers={"Content-Type": content_type} if body else None,
        ) as response:
            if not response.ok:
                request = f"{method} {path}"
                raise ApiError(request, response.status, await response.text())
            return await response.json()


def address_and_trust(config: dict[str, Any]) -> tuple[str, ssl.SSLContext]:
    """Return the server of a kubeconfig, and what to be its user with."""
    server = config["clusters"][0]["cluster"]
    user = config["users"][0]["user"]
    pair = KeyPair(
        certificate=Path(user["client-certificate"]),
        key=Path(user["client-key"]),
    )
    return server["server"], trusting(server["certificate-authority"], pair)


def trusting(authority: str, user: KeyPair | None = None) -> ssl.SSLContext:
    """Trust the cluster's authority, and be a user if one is given."""
    trust = ssl.create_default_context(cafile=authority)
    if user is not None:
        trust.load_cert_chain(user.certificate, user.key)
    return trust
