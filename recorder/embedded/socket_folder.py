"""The folder of the server's unix socket.

The kernel allows about a hundred bytes for a socket's path, and some
filesystems support no sockets at all. The data folder is the first choice,
since it is never cleaned up; otherwise a folder with a random name in the
temporary folder that only PostgreSQL's user can enter. (Not the user's runtime
folder, which is removed at logout.) The same folder is used from start to
start, so addresses stay valid while a supervisor is replaced.
"""

import os
import re
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from recorder.embedded.account import Account
from recorder.embedded.errors import DataFolderError
from recorder.embedded.folder import DataFolder

PORT = 5432
"""Only a part of the socket's name: nothing listens on TCP."""

_PATH_BYTES_MAX = 103
"""The smallest limit among our platforms, less the closing zero byte."""

_PLAIN = re.compile(r"/[A-Za-z0-9._/+~-]+")
"""Paths that mean the same in every address format; commas, for one,
separate hosts."""


def choose_socket_folder(
    folder: DataFolder, account: Account, *, kept: str
) -> Path:
    """Find or create the folder, empty except for files of a dead server.

    Raises:
        DataFolderError: no folder can hold a socket.
    """
    for candidate in _candidates(folder, kept):
        try:
            _make(candidate, account)
            _try_socket(candidate)
        except OSError:
            continue
        for left in candidate.glob(".s.PGSQL.*"):
            left.unlink()
        return candidate
    msg = (
        f'cannot place PostgreSQL\'s socket: neither "{folder.path}" nor'
        f' "{tempfile.gettempdir()}" can hold a unix socket; set TMPDIR to a'
        " short path on a local filesystem"
    )
    raise DataFolderError(msg)


def has_socket(chosen: Path) -> bool:
    """Return whether the socket exists; temporary folders are cleaned up."""
    return (chosen / f".s.PGSQL.{PORT}").exists()


def leave_socket_folder(folder: DataFolder, chosen: Path) -> None:
    """Remove a folder outside the data folder."""
    if folder.path in chosen.parents:
        return
    try:
        for left in chosen.iterdir():
            left.unlink()
        chosen.rmdir()
    except OSError:
        return


def _candidates(folder: DataFolder, kept: str) -> Iterator[Path]:
    if kept:
        yield Path(kept)
    yield folder.path / "socket"
    yield Path(tempfile.mkdtemp(prefix="recorder-"))


def _make(path: Path, account: Account) -> None:
    place = path / f".s.PGSQL.{PORT}"
    if not path.parent.is_dir() or len(os.fsencode(place)) > _PATH_BYTES_MAX:
        raise OSError
    if not _PLAIN.fullmatch(str(path)):
        raise OSError
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError
    if found.st_uid not in {account.uid, os.geteuid()}:
        raise PermissionError
    path.chmod(0o700)
    account.own(path)


def _try_socket(path: Path) -> None:
    # A process that died here left one, and pids are reused, soon in a
    # container.
    for left in path.glob(".probe-*"):
        left.unlink()
    probe = path / f".probe-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.bind(str(probe))
    probe.unlink()
