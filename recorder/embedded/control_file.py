"""The state of the cluster, from its control file.

PostgreSQL keeps the cluster's state as one number, at an offset that has never
changed. Reading it needs neither a server nor the programs, which may not
exist yet when an old server has to be ended.
"""

import struct
from pathlib import Path

_STATE = struct.Struct("=i")
_STATE_AT = 16
"""After the system identifier and two version numbers."""

_SHUT_DOWN = 1
_IN_CRASH_RECOVERY = 4


def was_stopped_cleanly(cluster: Path) -> bool:
    """Whether the next start has nothing to recover."""
    return _state(cluster) == _SHUT_DOWN


def is_recovering(cluster: Path) -> bool:
    """Whether a server recovers it, or died doing so."""
    return _state(cluster) == _IN_CRASH_RECOVERY


def _state(cluster: Path) -> int | None:
    try:
        content = (cluster / "global" / "pg_control").read_bytes()
        (state,) = _STATE.unpack_from(content, _STATE_AT)
    except (OSError, struct.error):
        return None
    return int(state)
