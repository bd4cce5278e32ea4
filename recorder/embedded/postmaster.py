"""One run of the server, from start to stop.

Readiness is read from the server's own pid file, which can be trusted here
because the server is our child. Pid files of earlier runs are removed before
the start: the inherited lock has proven that their processes are gone, while
the server itself could be misled by a recycled pid or a zombie.
"""

import os
import signal
import subprocess
from contextlib import suppress
from errno import ENOSPC
from pathlib import Path

from recorder.embedded.errors import (
    DiskFullError,
    EmbeddedError,
    StartTimeoutError,
)
from recorder.embedded.folder import translate_os_errors
from recorder.embedded.installation import Installation
from recorder.embedded.locks import within

START_SECONDS_MAX = 3600.0
"""The longest recovery that we wait for: at 0.5 GB/s of WAL far more than
`max_wal_size` can leave behind. Commands give up much earlier; the recovery
continues without them, or it would never end."""

_STOP_SECONDS = 300.0
_ABANDON_SECONDS = 10.0
_REASON_MARKS = ("PANIC:", "FATAL:", "error:")


class Postmaster:
    """The server process and its children."""

    def __init__(self, site: Installation) -> None:
        self.site = site
        self._folder = site.folder
        self._processes = site.processes
        self._child: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    def start(self) -> None:
        """Start it and wait until it accepts connections.

        Raises:
            DiskFullError: the disk is full.
            StartTimeoutError: it is neither ready nor dead after an hour.
            EmbeddedError: it ended for another reason, which the message
                states.
        """
        with translate_os_errors("start PostgreSQL in", self._folder.path):
            self._processes.end_leftovers()
            self._pid_file.unlink(missing_ok=True)
            self._log_start = _size(self._folder.log)
            self._child = self._processes.start(
                [
                    self.site.binaries.program("postgres"),
                    "-D",
                    str(self._folder.cluster),
                ],
                death_signal=signal.SIGINT,
            )
        if not within(START_SECONDS_MAX, self._has_settled):
            self.kill()
            msg = f'PostgreSQL in "{self._folder.path}" does not become ready'
            raise StartTimeoutError(msg)
        if not self.is_running():
            raise self.ending()

    def is_running(self) -> bool:
        """Whether the server process lives."""
        return self._child is not None and self._child.poll() is None

    def stop(self) -> None:
        """Stop it cleanly, even with open connections."""
        if self._child is None:
            return
        self._child.send_signal(signal.SIGINT)
        within(_STOP_SECONDS, self._is_stopped_or_stuck)
        if self.is_running():
            self.kill()

    def kill(self) -> None:
        """End it at once; the next start recovers."""
        self._processes.kill()
        if self._child is not None:
            self._child.wait(_STOP_SECONDS)

    def abandon(self) -> None:
        """End it although its folder, and the lock with it, is gone."""
        if self._child is None:
            return
        for ending in (signal.SIGQUIT, signal.SIGKILL):
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                self._child.send_signal(ending)
                self._child.wait(_ABANDON_SECONDS)

    def ending(self) -> EmbeddedError:
        """Return the error for how the server ended."""
        status = self._child.returncode if self._child is not None else None
        reason = self._last_words() or f"it ended with status {status}"
        msg = (
            f'PostgreSQL in "{self._folder.path}" stopped: {reason}'
            f' (see "{self._folder.log}")'
        )
        if os.strerror(ENOSPC) in reason:
            return DiskFullError(f"{msg}; free some space on its filesystem")
        return EmbeddedError(msg)

    @property
    def _pid_file(self) -> Path:
        return self._folder.cluster / "postmaster.pid"

    def _is_stopped_or_stuck(self) -> bool:
        return not self.is_running() or self._processes.are_gone_or_stuck()

    def _has_settled(self) -> bool:
        if not self.is_running() or self._child is None:
            return True
        try:
            lines = self._pid_file.read_text().split("\n")
        except OSError:
            return False
        is_ours = lines[0] == str(self._child.pid)
        return is_ours and any(line.strip() == "ready" for line in lines)

    def _last_words(self) -> str:
        try:
            with self._folder.log.open("rb") as log:
                log.seek(max(self._log_start, _size(self._folder.log) - 65536))
                text = log.read().decode(errors="replace")
        except OSError:
            return ""
        for line in reversed(text.splitlines()):
            for mark in _REASON_MARKS:
                if mark in line:
                    return line.partition(mark)[2].strip()
        return ""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
