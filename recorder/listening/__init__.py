"""Listening: HTTP servers whose connections and requests are bounded.

Serves the API, the audit webhook and the probes, without knowing their
responses.
"""

from recorder.listening.room import Bounds
from recorder.listening.server import (
    AddressTakenError,
    ListenError,
    bound_socket,
    listening,
    parsed_address,
)
from recorder.listening.state import CERTIFIED, PEER, let_in

__all__ = [
    "CERTIFIED",
    "PEER",
    "AddressTakenError",
    "Bounds",
    "ListenError",
    "bound_socket",
    "let_in",
    "listening",
    "parsed_address",
]
