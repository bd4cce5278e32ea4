"""Checks of Host and Origin, before every request.

A page of another site, opened in the browser of a person with access, must not
send requests in that person's name: neither under a domain that resolves to
this address (checked by Host) nor across origins (checked by Origin).
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.access import is_loopback
from api.errors import ApiError
from api.http.graphql_http import error_response

HEADERS = (
    (
        b"content-security-policy",
        (
            b"default-src 'self'; object-src 'none'; base-uri 'none';"
            b" form-action 'none'; frame-ancestors 'none'"
        ),
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class MisdirectedError(ApiError):
    """A request for another host, or from another site."""

    code = "access.origin"
    status = 403


class Gate:
    """Passes on requests for this server; adds missing security headers."""

    def __init__(self, app: ASGIApp, *, only_loopback_names: bool) -> None:
        """Wrap an application.

        Args:
            app: the application.
            only_loopback_names: whether the Host must be a loopback name,
                as it must where requests are not authenticated.
        """
        self._app = app
        self._only_loopback_names = only_loopback_names

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer one request."""
        if scope["type"] == "websocket":
            # Browsers let any page open one: only the Origin shows whose.
            if self._wrong(Headers(scope=scope)) is None:
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: dict[str, object]) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))  # type: ignore[call-overload]
                own = {name.lower() for name, _ in headers}
                ours = [one for one in HEADERS if one[0] not in own]
                message["headers"] = [*headers, *ours]
            await send(message)

        wrong = self._wrong(Headers(scope=scope))
        if wrong is None:
            await self._app(scope, receive, sending)  # type: ignore[arg-type]
            return
        response = error_response(MisdirectedError(wrong))
        await response(scope, receive, sending)  # type: ignore[arg-type]

    def _wrong(self, headers: Headers) -> str | None:
        host = headers.get("host", "")
        if self._only_loopback_names and not is_loopback(_name(host)):
            return f'this server is not known as "{host[:100]}"'
        origin = headers.get("origin")
        if origin is None:
            return None
        if _netloc(origin) != host.lower():
            return f'requests from "{origin[:100]}" are not allowed'
        return None


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _name(host: str) -> str:
    """Return a host without its port."""
    if host.startswith("["):
        return host.partition("]")[0].strip("[")
    return host.partition(":")[0]
