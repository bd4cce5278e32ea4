"""Serving: what the API needs of a server that listens.

Begun by `recorder.wiring.serving`. The address is taken before anything is
said of it, so that one that is taken is told at once.
"""

import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from api.access import check_listening
from api.graphql_http import BODY_MAX
from api.opening import Opening
from recorder import listening as server

__all__ = ["BOUNDS", "listening"]

BOUNDS = server.Bounds(
    connections=3000,
    strangers=1000,
    # Behind a proxy all clients are one peer.
    strangers_of_a_peer=500,
    idle_seconds=75,
)

SWITCH_SECONDS = 0.001
"""How long a worker computes before the loop that talks to clients may."""


@asynccontextmanager
async def listening(
    listen: str,
    *,
    any_port: bool = False,
    guarded: bool,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[tuple[str, Opening]]:
    """Listen while entered; yield the address, and what to serve through.

    Leaving waits for answers that have begun, a few seconds at most.

    Raises:
        OpenToAllError: others could read everything.
        ListenError: the address is malformed.
        AddressTakenError: it is taken, or not of this machine.
    """
    host, _ = server.parsed_address(listen)
    check_listening(host, guarded=guarded)
    sys.setswitchinterval(SWITCH_SECONDS)
    opening = Opening()
    bound = server.bound_socket(listen, setting="--listen", any_port=any_port)
    async with server.listening(
        opening, bound, BOUNDS, tls=tls, message_bytes_max=BODY_MAX
    ) as address:
        scheme = "http" if tls is None else "https"
        yield f"{scheme}://{address}/", opening
