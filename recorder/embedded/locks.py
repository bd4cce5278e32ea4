"""Locks that the kernel releases when their holder dies.

Everything that must survive SIGKILL is expressed with ``flock``: the holder of
a lock is alive, whatever a pid file says. A lock belongs to an open file, not
to a process, so a child that inherits the file keeps the lock; this shows the
supervisor when the last PostgreSQL process of a cluster has ended.

Several commands may share the embedded server, but two that record into one
folder would write one log twice: one of them holds its `RecordingLock`. The
pid in the file is only for the message.

No call blocks. Waiting, with its bounds, is up to the caller.
"""

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from recorder.embedded.errors import AlreadyRecordingError
from recorder.embedded.folder import DataFolder, translate_os_errors

_PROBE_EVERY_SECONDS = 0.02


class FileLock:
    """One open lock file.

    Two of these on one path exclude each other, also within one process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        _give_to_folder_owner(self._descriptor, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    @property
    def descriptor(self) -> int:
        """The open file, for a child that is to keep the lock."""
        return self._descriptor

    def take_shared(self) -> bool:
        """Share the lock, unless another holder has it exclusively."""
        return self._take(fcntl.LOCK_SH)

    def take_exclusive(self) -> bool:
        """Hold the lock exclusively, unless there is any other holder."""
        return self._take(fcntl.LOCK_EX)

    def release(self) -> None:
        """Release the lock, and keep the file open."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def is_in_place(self) -> bool:
        """Whether the path still names this file.

        A lock on a removed file excludes no process.
        """
        try:
            found = self.path.stat()
        except OSError:
            return False
        return os.path.samestat(found, os.fstat(self._descriptor))

    def read_text(self) -> str:
        """Read what the holder wrote into the file."""
        return os.pread(self._descriptor, 256, 0).decode(errors="replace")

    def write_text(self, text: str) -> None:
        """Replace the content of the file."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def close(self) -> None:
        """Close this copy; a child that inherited one keeps the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _take(self, how: int) -> bool:
        try:
            fcntl.flock(self._descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def is_unheld(path: Path) -> bool:
    """Return whether no process holds a lock exclusively at this moment."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def within(seconds: float, attempt: Callable[[], bool]) -> bool:
    """Repeat an attempt until it succeeds or the time is over."""
    deadline = time.monotonic() + seconds
    while not attempt():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PROBE_EVERY_SECONDS)
    return True


def _give_to_folder_owner(descriptor: int, path: Path) -> None:
    # root may use a user's folder; the user must be able to afterwards.
    if os.geteuid() == 0:
        owner = path.parent.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


class RecordingLock:
    """Held while this process records into a folder."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = DataFolder.at(data_dir)
        self._lock: FileLock | None = None

    def __enter__(self) -> Self:
        """Take the lock.

        Raises:
            AlreadyRecordingError: another process holds it.
            DataFolderError: the folder cannot be used.
        """
        self._folder.prepare()
        path = self._folder.recording_lock
        with translate_os_errors("lock", path):
            lock = FileLock(path)
        if not lock.take_exclusive():
            holder = lock.read_text().strip() or "unknown"
            lock.close()
            msg = (
                f'cannot record into "{self._folder.path}": process {holder}'
                " records there already; stop it, or name another folder"
                " with RECORDER_DATA_DIR"
            )
            raise AlreadyRecordingError(msg)
        lock.write_text(f"{os.getpid()}\n")
        self._lock = lock
        return self

    def __exit__(self, *failure: object) -> None:
        if self._lock is not None:
            self._lock.write_text("")
            self._lock.close()
            self._lock = None
