"""Starting the supervisor, detached from the command that needs it.

It gets a session of its own, so that a terminal's Ctrl-C does not reach the
server, and an environment without the command's secrets. Starting one too
many is harmless: the second sees the first one's lock and ends.
"""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import recorder
from recorder.embedded.folder import DataFolder, translate_os_errors
from recorder.embedded.server_log import open_log

__all__ = ["has_ended", "launch_supervisor"]

_OWN_SIGNALS = (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What a caller ignores is not ignored by us."""

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
    """Whether a supervisor that we started is gone; reaps it if so."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        # Reaped by somebody else, or by the kernel where SIGCHLD is ignored.
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
