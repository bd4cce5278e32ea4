"""Inspecting a data folder and the programs without touching either.

For `recorder doctor`: finds out what opening the server would create or
reject, without creating anything.
"""

import os
import pwd
from pathlib import Path

from recorder.doctor.folder import FolderFacts, ProgramFacts
from recorder.embedded.account import SYSTEM_USER
from recorder.embedded.binaries import MAJOR_VERSION, find_binaries
from recorder.embedded.errors import BinariesError
from recorder.embedded.folder import DataFolder

ROOT = 0


def look_at_folder(data_dir: Path, *, embedded: bool) -> FolderFacts:
    """Find out whether the folder can be used, or created."""
    folder = DataFolder.at(data_dir)
    path, me = folder.path, os.geteuid()
    exists = os.path.lexists(path)
    place = path if exists else _nearest(path)
    owner = _owner(folder.cluster) if embedded else None
    is_foreign = owner is not None and me not in {ROOT, owner}
    return FolderFacts(
        path=path,
        user=_name(me),
        exists=exists,
        is_folder=path.is_dir(),
        is_writable=os.access(place, os.W_OK | os.X_OK),
        foreign_owner=_name(owner)
        if is_foreign and owner is not None
        else None,
        closed_at=_closed_at(path, owner) if embedded and me == ROOT else None,
    )


def look_at_programs(data_dir: Path) -> ProgramFacts:
    """Find out whether the programs run here, and whose data there is."""
    folder = DataFolder.at(data_dir)
    version = trouble = found = None
    try:
        version = find_binaries().version
    except BinariesError as exc:
        trouble = str(exc)
    is_readable = True
    if folder.cluster.exists():
        try:
            found = (folder.cluster / "PG_VERSION").read_text().strip()
        except (OSError, UnicodeDecodeError):
            is_readable = False
    return ProgramFacts(
        folder=folder.cluster,
        version=version,
        trouble=trouble,
        major=MAJOR_VERSION,
        found=found,
        is_readable=is_readable,
    )


def _nearest(path: Path) -> Path:
    """Return the nearest folder above that exists."""
    return next(above for above in path.parents if above.exists())


def _owner(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _closed_at(path: Path, owner: int | None) -> Path | None:
    """Return a folder above that PostgreSQL's user cannot pass.

    A user who is still to be created has no special access.
    """
    user, group = _server_user(path, owner)
    for above in reversed(path.parents):
        if not above.exists():
            break
        found = above.stat()
        bit = 0o001
        if found.st_uid == user:
            bit = 0o100
        elif found.st_gid == group:
            bit = 0o010
        if not found.st_mode & bit:
            return above
    return None


def _server_user(path: Path, owner: int | None) -> tuple[int, int]:
    uid = owner or _owner(path) or ROOT
    try:
        entry = pwd.getpwuid(uid) if uid else pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        return uid or -1, -1
    return entry.pw_uid, entry.pw_gid
