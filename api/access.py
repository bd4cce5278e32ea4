"""Authentication: who makes a request, and who has access.

Another way to authenticate is another `Guard`, like `Tokens`: the code behind
it gets a `Principal`, and does not depend on how the caller authenticated.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol

from api.errors import ApiError
from api.ports import Rights, TokenFile
from recorder.model.errors import ConfigError

log = logging.getLogger("recorder.api")

BEARER = "bearer "
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})


class DeniedError(ApiError):
    """The request has no valid credentials."""

    code = "access.denied"
    status = 401


class UnreadableError(ApiError):
    """The server cannot read its tokens."""

    code = "access.unavailable"
    status = 503


class ForbiddenError(ApiError):
    """The caller is authenticated and has no permission to read this."""

    code = "access.forbidden"
    status = 403


class OpenToAllError(ConfigError):
    """Every client that reaches the address could read everything."""

    code = "config.listen"
    exit_status = 2


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller."""

    name: str
    """Name of the token or the user; ``local`` on the loopback address."""

    rights: Rights | None = None
    """What may be read; None for everything."""


LOCAL = Principal("local")
PRINCIPAL = "recorder.principal"
"""The key of the caller in an ASGI scope, for code behind another library."""


class Guard(Protocol):
    """Authenticates callers."""

    async def admit(
        self, headers: Mapping[str, str], peer: str | None = None
    ) -> Principal:
        """Return the caller; called again while a subscription is open.

        Args:
            headers: the headers of the request.
            peer: the common name of the client certificate that was verified.

        Raises:
            DeniedError: the caller is not authenticated.
        """


class LocalGuard:
    """Accepts all requests: for loopback, which only this machine reaches."""

    async def admit(
        self, headers: Mapping[str, str], peer: str | None = None
    ) -> Principal:
        """Return the local caller."""
        del headers, peer
        return LOCAL


class Tokens:
    """Bearer tokens of a file."""

    def __init__(self, file: TokenFile) -> None:
        self._file = file

    async def admit(
        self, headers: Mapping[str, str], peer: str | None = None
    ) -> Principal:
        """Return a principal with the name of the presented token.

        Raises:
            DeniedError: there is none, or it is not valid.
        """
        del peer
        presented = bearer_token(headers)
        try:
            token = self._file.holder(presented)
        except ConfigError as exc:
            log.exception("cannot read the token file")
            msg = "the server cannot read its tokens"
            raise UnreadableError(msg) from exc
        if token is None:
            msg = "the token is unknown or was revoked"
            raise DeniedError(msg)
        return Principal(token.name)


def bearer_token(headers: Mapping[str, str]) -> str:
    """Return the token that a request presents.

    Raises:
        DeniedError: it presents none.
    """
    value = headers.get("authorization", "")
    if not value.lower().startswith(BEARER):
        msg = "present a token: Authorization: Bearer ..."
        raise DeniedError(msg)
    return value[len(BEARER) :].strip()


def check_listening(host: str, *, guarded: bool) -> None:
    """Check that an address open to others requires tokens.

    Raises:
        OpenToAllError: other machines reach the address, and requests are
            not authenticated.
    """
    if guarded or is_loopback(host):
        return
    msg = (
        f'cannot serve on "{host}": other machines can reach it and no tokens'
        " are required; set token_file and run `recorder token add NAME`, or"
        " serve on 127.0.0.1"
    )
    raise OpenToAllError(msg)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a host."""
    bare = host.strip("[]")
    if bare.lower() in LOOPBACK_NAMES:
        return True
    try:
        return ip_address(bare).is_loopback
    except ValueError:
        return False
