"""What a connection says of itself in the scope of each of its requests."""

from collections.abc import MutableMapping
from typing import Any

__all__ = ["LET_IN", "PEER", "let_in"]

PEER = "recorder.peer"
"""Where the state of an ASGI scope holds the name in a client certificate."""

LET_IN = "recorder.let_in"
"""Where it holds what to call once a client has proved who it is."""


def let_in(scope: MutableMapping[str, Any]) -> None:
    """Take note that who sent a request has proved who it is.

    From now on its connection makes no room for others.
    """
    prove = scope.get("state", {}).get(LET_IN)
    if prove is not None:
        prove()
