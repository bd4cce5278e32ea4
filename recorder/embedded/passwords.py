"""The passwords of the embedded server's roles.

They are random, created once by the supervisor and kept in one file that only
the folder's owner can read. Commands read them; users never type them. If the
file is lost, new ones are created and set in the same way.
"""

import json
import os
import secrets
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

SUPERUSER = "postgres"
"""The role that the cluster is created with; only this package uses it."""


class Role(StrEnum):
    """What a command intends to do with the log."""

    OWNER = "owner"
    WRITER = "writer"
    READER = "reader"
    RETENTION = "retention"
    NOTIFIER = "notifier"


def login_role(role: Role) -> str:
    """Return the login role that is a member of a role's group."""
    return f"recorder_embedded_{role}"


def make_passwords() -> Mapping[str, str]:
    """Create a password for every role that logs in."""
    return {name: secrets.token_urlsafe(24) for name in _names()}


def read_passwords(path: Path) -> Mapping[str, str]:
    """Read the passwords by role name.

    Raises:
        ValueError: the file holds something else.
    """
    found = json.loads(path.read_text())
    if not isinstance(found, dict) or set(found) != set(_names()):
        msg = "it lacks some of our roles"
        raise ValueError(msg)
    return found


def complete_passwords(path: Path) -> None:
    """Create passwords of roles that are new in this release; keep the rest.

    A file that holds something else is left unchanged for its reader to
    reject.
    """
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return
    if isinstance(found, dict) and set(found) < set(_names()):
        write_passwords(path, {**make_passwords(), **found})


def write_passwords(path: Path, passwords: Mapping[str, str]) -> None:
    """Write them durably, complete or not at all."""
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        if os.geteuid() == 0:
            owner = path.parent.stat()
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        json.dump(dict(passwords), file)
        file.flush()
        os.fsync(descriptor)
    fresh.replace(path)


def _names() -> tuple[str, ...]:
    return (SUPERUSER, *(login_role(role) for role in Role))
