"""Authentication: who makes a request, and who has access.

`Guard` is the place where another way to prove who one is would stand beside
`Tokens`: what comes after it knows a `Principal` and nothing of how it was
proved.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol

from api.errors import ApiError
from api.ports import Rights, TokenFile
from recorder.model.errors import ConfigError

__all__ = [
    "LOCAL",
    "PRINCIPAL",
    "Anybody",
    "DeniedError",
    "ForbiddenError",
    "Guard",
    "OpenToAllError",
    "Principal",
    "Tokens",
    "UnreadableError",
    "bearer_token",
    "check_listening",
    "is_loopback",
]

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
    """Who asks is known, and has no right to an answer."""

    code = "access.forbidden"
    status = 403


class OpenToAllError(ConfigError):
    """Everybody could read everything."""

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
"""Where an ASGI scope holds who asks, for what is behind another library."""


class Guard(Protocol):
    """Decides who has access."""

    async def admit(
        self, headers: Mapping[str, str], peer: str | None = None
    ) -> Principal:
        """Return who asks; asked again while a subscription goes on.

        Args:
            headers: of the request.
            peer: the common name of the client certificate that was verified.

        Raises:
            DeniedError: it was not proved.
        """


class Anybody:
    """For the loopback address, which only this machine can reach."""

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
        """Return the name of the token that is presented.

        Raises:
            DeniedError: there is none, or it does not count.
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
    said = headers.get("authorization", "")
    if not said.lower().startswith(BEARER):
        msg = "present a token: Authorization: Bearer ..."
        raise DeniedError(msg)
    return said[len(BEARER) :].strip()


def check_listening(host: str, *, guarded: bool) -> None:
    """Check that an address open to others requires tokens.

    Raises:
        OpenToAllError: an address that others reach, and nobody is asked who
            they are.
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
