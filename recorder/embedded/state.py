"""The state that the supervisor reports to the commands, in one small file.

The file is replaced as a whole, so a reader sees the old text or the new one,
never half. It is a message, not the truth: the lock shows whether a supervisor
is alive, and connecting shows whether PostgreSQL responds.
"""

import json
import os
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


class Phase(StrEnum):
    """The phases in the life of the server."""

    CREATING = "creating"
    STARTING = "starting"
    RECOVERING = "recovering"
    READY = "ready"
    RESTARTING = "restarting"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One message of a supervisor."""

    instance: str
    """The supervisor that wrote it: a random name, new with each process."""

    supervisor_pid: int
    phase: Phase
    socket_folder: str = ""
    """The folder of the socket; kept from start to start, so that the
    addresses that commands hold stay valid."""

    error_code: str = ""
    message: str = ""
    """Why it failed or restarts, as text."""


def read_state(path: Path) -> State | None:
    """Read the last message; None if it is missing or cannot be parsed."""
    try:
        fields = json.loads(path.read_text())
        return State(**{**fields, "phase": Phase(fields["phase"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_state(path: Path, state: State) -> None:
    """Replace the message."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(state)))
    if os.geteuid() == 0:
        owner = path.parent.stat()
        os.chown(fresh, owner.st_uid, owner.st_gid)
    fresh.replace(path)
