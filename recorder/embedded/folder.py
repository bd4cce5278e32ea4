"""The data folder: its layout, and whether it can be used.

One module names every file, so that the commands and the supervisor agree. The
folder itself belongs to the user who runs Recorder; only PostgreSQL's own data
and its socket belong to the user that PostgreSQL runs as. Folders above it are
never changed.
"""

import os
import pwd
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EDQUOT, ENOSPC, EROFS
from pathlib import Path
from typing import Self

from recorder.embedded.errors import (
    DataFolderError,
    DiskFullError,
    EmbeddedError,
)

_CREATE_BYTES = 160 * 1024 * 1024
"""Space that a new cluster needs: 40 MiB for its tables, 80 for the first
segments of its write-ahead log, 33 for a copy of the programs."""

_START_BYTES = 32 * 1024 * 1024
"""Space that an existing one needs: two segments of its write-ahead log. It
must start on a nearly full disk, so that an operator can free space."""


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The folder that holds the log and everything beside it."""

    path: Path

    @classmethod
    def at(cls, path: Path) -> Self:
        """Resolve the path, so that all processes agree on it."""
        return cls(path.resolve())

    @property
    def cluster(self) -> Path:
        """PostgreSQL's own data folder, mode 0700."""
        return self.path / "postgres"

    @property
    def log(self) -> Path:
        """The output of PostgreSQL and its supervisor."""
        return self.path / "postgres.log"

    @property
    def state(self) -> Path:
        """The state that the supervisor reports to the commands."""
        return self.path / "postgres.json"

    @property
    def passwords(self) -> Path:
        """The roles' passwords, mode 0600."""
        return self.path / "passwords.json"

    @property
    def use_lock(self) -> Path:
        """Shared by commands; the supervisor gets it when all have left."""
        return self.path / "use.lock"

    @property
    def supervisor_lock(self) -> Path:
        """Held by the supervisor as long as it lives."""
        return self.path / "supervisor.lock"

    @property
    def processes_lock(self) -> Path:
        """Inherited by every PostgreSQL process of this cluster."""
        return self.path / "processes.lock"

    @property
    def recording_lock(self) -> Path:
        """Held by the one process that records into this folder."""
        return self.path / "recording.lock"

    def prepare(self) -> None:
        """Create the folder if it is missing, and check that it is ours.

        Raises:
            DataFolderError: it cannot be created, or is not ours.
            DiskFullError: its filesystem is full.
        """
        with translate_os_errors("use the data folder", self.path):
            if not self.path.exists():
                self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self.path.is_dir():
                msg = (
                    f'cannot use the data folder "{self.path}": it is not'
                    " a folder; name another with RECORDER_DATA_DIR"
                )
                raise DataFolderError(msg)
            self._check_owner()

    def check_room(self) -> None:
        """Check that there is space to start the server.

        Raises:
            DiskFullError: there is not.
        """
        needed = _START_BYTES if self.cluster.exists() else _CREATE_BYTES
        free = shutil.disk_usage(self.path).free
        if free < needed:
            msg = (
                f'cannot start PostgreSQL in "{self.path}": its filesystem'
                f" has {free >> 20} MiB free and {needed >> 20} MiB are"
                " needed; free some, or name a folder elsewhere with"
                " RECORDER_DATA_DIR"
            )
            raise DiskFullError(msg)

    def _check_owner(self) -> None:
        # The folder itself may belong to any user who lets us write, such as a
        # volume in a Pod; PostgreSQL insists on owning its own.
        me = os.geteuid()
        if me == 0 or not self.cluster.exists():
            return
        owner = self.cluster.stat().st_uid
        if owner != me:
            msg = (
                f'cannot use the data folder "{self.path}" as'
                f' {_user_name(me)}: "{self.cluster}" belongs to'
                f" {_user_name(owner)}; run as that user, or name another"
                " folder with RECORDER_DATA_DIR"
            )
            raise DataFolderError(msg)


@contextmanager
def translate_os_errors(action: str, path: Path) -> Iterator[None]:
    """Translate `OSError`, with a message that names action and path."""
    try:
        yield
    except OSError as exc:
        raise _in_words(action, path, exc) from exc


def _in_words(action: str, path: Path, error: OSError) -> EmbeddedError:
    where = error.filename or path
    what = f'cannot {action} "{path}": {error.strerror} ("{where}")'
    if error.errno in {ENOSPC, EDQUOT}:
        return DiskFullError(f"{what}; free some space on its filesystem")
    if error.errno == EROFS:
        return DataFolderError(
            f"{what}; mount it writable, or name another folder with"
            " RECORDER_DATA_DIR"
        )
    if isinstance(error, PermissionError):
        return DataFolderError(
            f"{what}; give {_user_name(os.geteuid())} access to it, or name"
            " another folder with RECORDER_DATA_DIR"
        )
    return DataFolderError(what)


def _user_name(uid: int) -> str:
    try:
        return f'user "{pwd.getpwuid(uid).pw_name}"'
    except KeyError:
        return f"user id {uid}"
