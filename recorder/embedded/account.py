"""The operating system user that PostgreSQL runs as.

PostgreSQL refuses to run as root, so root runs it as a user of its own, unless
the data folder belongs to another user: then it stays theirs. Other users run
it as themselves. Modes of folders above the data folder are never changed; if
they make it inaccessible, the error names the folder and the command.
"""

import os
import pwd
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from recorder.embedded.errors import DataFolderError, OsUserError
from recorder.embedded.folder import DataFolder

SYSTEM_USER = "recorder"
"""The system user that root runs PostgreSQL as."""

_USERADD = (
    "useradd",
    "--system",
    "--user-group",
    "--no-create-home",
    "--home-dir",
    "/nonexistent",
    "--shell",
    "/usr/sbin/nologin",
    SYSTEM_USER,
)
_USERADD_ATTEMPTS = 3
_USERADD_PAUSE_SECONDS = 0.5
"""Another process may hold the lock on /etc/passwd."""

_SERVER_INSTEAD = "or name a server with RECORDER_DATABASE_URL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The user that PostgreSQL runs as."""

    name: str
    uid: int
    gid: int
    is_another: bool
    """Whether we are root and must become this user."""

    def own(self, path: Path) -> None:
        """Make this user the owner of a path."""
        if self.is_another:
            os.chown(path, self.uid, self.gid)


def choose_account(folder: DataFolder) -> Account:
    """Find the user for this folder, creating the system user if needed.

    Raises:
        OsUserError: there is none, and it cannot be created.
    """
    me = os.geteuid()
    if me != 0:
        return _as_myself(folder, me)
    if folder.cluster.exists() and folder.cluster.stat().st_uid != 0:
        return _owner_of(folder.cluster)
    entry = (
        _named_owner_of(folder.path)
        or _find_system_user()
        or _create_system_user()
    )
    return Account(
        name=entry.pw_name,
        uid=entry.pw_uid,
        gid=entry.pw_gid,
        is_another=True,
    )


def open_folder_to(account: Account, folder: DataFolder) -> None:
    """Let the user pass through the data folder to its own parts.

    Only the mode of the data folder itself is changed, so that this user's
    group may pass through it, but not list it.

    Raises:
        DataFolderError: a folder above it is closed to the user.
    """
    if not account.is_another:
        return
    _check_way_to(account, folder.path)
    if not _may_pass(account, folder.path):
        os.chown(folder.path, -1, account.gid)
        folder.path.chmod(folder.path.stat().st_mode & 0o7777 | 0o010)


def _as_myself(folder: DataFolder, uid: int) -> Account:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        if folder.cluster.exists():
            return Account(
                name=str(uid), uid=uid, gid=os.getegid(), is_another=False
            )
        msg = (
            f"cannot create a PostgreSQL cluster as user id {uid}: it has no"
            " entry in /etc/passwd, which initdb needs; add one"
            f" (recorder:x:{uid}:{os.getegid()}::/:/sbin/nologin),"
            f" {_SERVER_INSTEAD}"
        )
        raise OsUserError(msg) from None
    return Account(
        name=entry.pw_name, uid=uid, gid=os.getegid(), is_another=False
    )


def _owner_of(path: Path) -> Account:
    found = path.stat()
    try:
        name = pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        name = str(found.st_uid)
    return Account(
        name=name, uid=found.st_uid, gid=found.st_gid, is_another=True
    )


def _named_owner_of(path: Path) -> pwd.struct_passwd | None:
    owner = path.stat().st_uid
    try:
        return pwd.getpwuid(owner) if owner != 0 else None
    except KeyError:
        return None


def _find_system_user() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        return None


def _create_system_user() -> pwd.struct_passwd:
    command = " ".join(_USERADD)
    what = (
        "cannot run PostgreSQL as root, and the system user"
        f' "{SYSTEM_USER}" does not exist'
    )
    program = shutil.which(_USERADD[0])
    if program is None:
        msg = (
            f'{what}; "useradd" is not on this machine: create the user'
            f" (elsewhere: {command}), {_SERVER_INSTEAD}"
        )
        raise OsUserError(msg)
    said = ""
    for _ in range(_USERADD_ATTEMPTS):
        done = subprocess.run(  # noqa: S603 - fixed words, found on PATH
            [program, *_USERADD[1:]],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if (entry := _find_system_user()) is not None:
            return entry
        said = done.stderr.strip().replace("\n", " ")
        time.sleep(_USERADD_PAUSE_SECONDS)
    msg = f'{what}; "{command}" failed ({said}): create it, {_SERVER_INSTEAD}'
    raise OsUserError(msg)


def _check_way_to(account: Account, path: Path) -> None:
    for above in reversed(path.resolve().parents):
        if not _may_pass(account, above):
            msg = (
                f'cannot keep PostgreSQL\'s data in "{path}": user'
                f' "{account.name}" may not pass through "{above}"; allow it'
                f" (chmod o+x {above}), or name another folder with"
                " RECORDER_DATA_DIR"
            )
            raise DataFolderError(msg)


def _may_pass(account: Account, path: Path) -> bool:
    found = path.stat()
    if found.st_uid == account.uid:
        return bool(found.st_mode & 0o100)
    if found.st_gid == account.gid:
        return bool(found.st_mode & 0o010)
    return bool(found.st_mode & 0o001)
