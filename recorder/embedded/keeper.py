"""How a command keeps a supervisor running.

A supervisor that was killed takes its server with it. The commands that still
need one notice and start the next; several may try, one succeeds. This is a
thread, so that it works while the command's event loop is busy.

A supervisor is detached from the command: it gets a session of its own, so
that a terminal's Ctrl-C does not reach the server, and an environment without
the command's secrets. Starting one too many is harmless: the second sees the
lock of the first one and exits.
"""

import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

import recorder
from recorder.embedded.backoff import Backoff
from recorder.embedded.errors import EmbeddedError
from recorder.embedded.folder import DataFolder, translate_os_errors
from recorder.embedded.locks import is_unheld
from recorder.embedded.server_log import open_log
from recorder.embedded.state import Phase, read_state

_LOOK_SECONDS = 0.5


class Keeper:
    """Keeps a supervisor running."""

    def __init__(
        self, folder: DataFolder, settings: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._children: set[int] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._watch, name="embedded-postgres", daemon=True
        )

    def launch(self) -> None:
        """Start a supervisor."""
        self._children.add(launch_supervisor(self._folder, self._settings))

    def is_supervised(self) -> bool:
        """Whether a supervisor is alive, ours or another's; reaps ours."""
        self._children = {pid for pid in self._children if not has_ended(pid)}
        # Ours may not have taken its lock yet.
        return bool(self._children) or not is_unheld(
            self._folder.supervisor_lock
        )

    def __enter__(self) -> Self:
        """Start watching."""
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        """Stop watching."""
        self._over.set()
        self._thread.join()

    def _is_ready(self) -> bool:
        state = read_state(self._folder.state)
        return state is not None and state.phase is Phase.READY

    def _watch(self) -> None:
        backoff = Backoff()
        while not self._over.wait(_LOOK_SECONDS):
            # A full disk, or no free file descriptor: the only remedy is to
            # try again, and the command notices by its connections.
            with suppress(EmbeddedError, OSError):
                if self.is_supervised():
                    if self._is_ready():
                        backoff.settle()
                elif backoff.is_over():
                    backoff.lengthen()
                    self.launch()


_OWN_SIGNALS = (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Reset in the supervisor even if the caller ignores them."""

_PASSED_ON = (
    "HOME",
    "PATH",
    "PYTHONHOME",
    "PYTHONPATH",
    "TMPDIR",
)


def launch_supervisor(folder: DataFolder, settings: Mapping[str, str]) -> int:
    """Start a supervisor and return its pid; it writes to the log."""
    words = [sys.executable, "-P", "-m", "recorder.embedded.supervisor"]
    words.append(str(folder.path))
    words.extend(f"--set={name}={value}" for name, value in settings.items())
    with translate_os_errors("start PostgreSQL in", folder.path):
        log = open_log(folder)
        try:
            return os.posix_spawn(
                sys.executable,
                words,
                _environment(),
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, log, 1),
                    (os.POSIX_SPAWN_DUP2, log, 2),
                ],
                setsid=True,
                setsigmask=(),
                setsigdef=_OWN_SIGNALS,
            )
        finally:
            os.close(log)


def has_ended(pid: int) -> bool:
    """Return whether a supervisor that we started has ended; reap it if so."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        # Reaped by another thread, or by the kernel if SIGCHLD is ignored.
        return not _exists(pid)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _environment() -> dict[str, str]:
    passed = {
        name: os.environ[name] for name in _PASSED_ON if name in os.environ
    }
    # The package may be run from a source tree that is not installed.
    here = str(Path(recorder.__file__).parent.parent)
    paths = [here, *passed.get("PYTHONPATH", "").split(os.pathsep)]
    passed["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return passed
