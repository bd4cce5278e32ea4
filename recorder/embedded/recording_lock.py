"""One recorder per data folder.

Several commands may share the embedded server, but two that record into one
folder would write one log twice. The kernel gives the lock back when its
holder dies; the pid in the file is only there for the message.
"""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from recorder.embedded.errors import AlreadyRecordingError
from recorder.embedded.folder import DataFolder, translate_os_errors
from recorder.embedded.locks import FileLock

__all__ = ["RecordingLock"]


class RecordingLock:
    """Held while this process records into a folder."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = DataFolder.at(data_dir)
        self._lock: FileLock | None = None

    def __enter__(self) -> Self:
        """Take it.

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._lock is not None:
            self._lock.write_text("")
            self._lock.close()
            self._lock = None
