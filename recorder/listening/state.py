"""The state of a connection, in the scope of each of its requests."""

from collections.abc import MutableMapping
from typing import Any

CERTIFIED = "recorder.certified"
"""The key in the state of an ASGI scope for whether the client presented a
certificate, which was verified."""

PEER = "recorder.peer"
"""The key in the state of an ASGI scope for the name in a client certificate.
"""

LET_IN = "recorder.let_in"
"""The key for what to call once a client has authenticated."""


def let_in(scope: MutableMapping[str, Any]) -> None:
    """Note that the sender of a request has authenticated.

    Its connection is not dropped to make room any more.
    """
    prove = scope.get("state", {}).get(LET_IN)
    if prove is not None:
        prove()
