"""PostgreSQL's processes: starting them, and knowing when all have ended.

Every process of a cluster inherits one locked file. The lock is free exactly
when the last of them has ended, which neither a recycled pid nor a zombie can
fake, and a new server must not start before.

When the supervisor dies, the kernel sends its children a signal: the server
gets SIGINT, its fast shutdown, so nothing remains and nothing has to be
recovered. On systems other than Linux, the next supervisor ends what it finds.
"""

import ctypes
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from recorder.embedded.account import Account
from recorder.embedded.control_file import is_recovering
from recorder.embedded.errors import EmbeddedError
from recorder.embedded.folder import DataFolder
from recorder.embedded.locks import FileLock, within

_PR_SET_PDEATHSIG = 1
_PROC = Path("/proc")
_STDERR = 2

_FAST_SECONDS = 60.0
"""How long an orphaned server may take to write its last checkpoint."""
_IMMEDIATE_SECONDS = 7.0
"""How long it may take to stop without one; after 5 it kills its own."""
_ORPHANS_SECONDS = 1.0
"""How long processes without a server may take: they have nothing to do."""

_ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath}
"""Nothing of the caller's environment: ``PG*`` variables would change what we
start."""


class Processes:
    """All PostgreSQL processes of one data folder."""

    def __init__(
        self, folder: DataFolder, account: Account, *, output: int = _STDERR
    ) -> None:
        self._folder = folder
        self._account = account
        self._output = output
        self._libc = ctypes.CDLL(None, use_errno=True)
        place = hashlib.sha256(os.fsencode(folder.path)).hexdigest()[:12]
        self.name = f"recorder-{place}"
        """The cluster's name, which is in the title of each process."""

    def start(
        self,
        command: Sequence[str],
        *,
        death_signal: signal.Signals,
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[bytes]:
        """Start a process as the account; it dies with us if possible."""
        another = self._account.is_another
        with FileLock(self._folder.processes_lock) as lock:
            if not lock.take_exclusive():
                msg = (
                    f'cannot start PostgreSQL in "{self._folder.path}":'
                    " processes of an earlier one are still running"
                )
                raise EmbeddedError(msg)
            return subprocess.Popen(  # noqa: S603 - programs we placed
                command,
                stdin=stdin,
                stdout=self._output,
                stderr=self._output,
                cwd="/",
                env=_ENVIRONMENT,
                user=self._account.uid if another else None,
                group=self._account.gid if another else None,
                extra_groups=[] if another else None,
                umask=0o077,
                pass_fds=[lock.descriptor],
                # Safe: the supervisor, whose child this is, has one thread.
                preexec_fn=self._tie_to_us(death_signal),  # noqa: PLW1509
            )

    def are_gone(self) -> bool:
        """Return whether all processes of the cluster have ended."""
        with FileLock(self._folder.processes_lock) as lock:
            return lock.take_exclusive()

    def end_leftovers(self) -> None:
        """Wait for the processes of an earlier supervisor; end them if needed.

        Raises:
            EmbeddedError: a process survived even SIGKILL.
        """
        if within(0.2, self.are_gone):
            return
        server = self._server_pid()
        if server is not None:
            with suppress(ProcessLookupError):
                os.kill(server, signal.SIGINT)
            within(_FAST_SECONDS, self.are_gone_or_stuck)
        if not self.are_gone():
            self.kill()

    def are_gone_or_stuck(self) -> bool:
        """Return whether a fast shutdown has ended or may never end.

        PostgreSQL 18 can miss it when it starts to recover at that moment, and
        then rejects connections forever. Killing a recovery loses nothing: the
        next start repeats it.
        """
        return is_recovering(self._folder.cluster) or self.are_gone()

    def kill(self) -> None:
        """End all of them at once; the next start recovers.

        Raises:
            EmbeddedError: a process survived even SIGKILL.
        """
        is_led = self._server_pid() is not None
        patience = _IMMEDIATE_SECONDS if is_led else _ORPHANS_SECONDS
        for ending in (signal.SIGQUIT, signal.SIGKILL):
            for pid in list(self._members()):
                with suppress(ProcessLookupError):
                    os.kill(pid, ending)
            if within(patience, self.are_gone):
                return
        pids = ", ".join(str(pid) for pid in self._members()) or "unknown"
        msg = (
            f'cannot start PostgreSQL in "{self._folder.path}": processes of'
            f" an earlier one do not exit (pids {pids}); end them"
        )
        raise EmbeddedError(msg)

    def _tie_to_us(self, death_signal: signal.Signals) -> Callable[[], None]:
        supervisor = os.getpid()
        libc = self._libc

        def tie() -> None:
            # After the change of user, which would undo it.
            if sys.platform == "linux":
                libc.prctl(_PR_SET_PDEATHSIG, death_signal)
            if os.getppid() != supervisor:
                os._exit(1)

        return tie

    def _server_pid(self) -> int | None:
        try:
            text = (self._folder.cluster / "postmaster.pid").read_text()
            pid = int(text.splitlines()[0])
        except (OSError, ValueError, IndexError):
            return None
        if _PROC.joinpath("self").exists() and pid not in self._members():
            return None
        return pid

    def _members(self) -> Iterator[int]:
        # By their command lines, which any user may read: the other ways to
        # identify processes are closed to root without CAP_SYS_PTRACE.
        title = f"postgres: {self.name}:".encode()
        folder = os.fsencode(self._folder.cluster)
        for entry in _PROC.glob("[0-9]*"):
            with suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                is_server = words[0].endswith(b"/postgres")
                is_ours = words[0].startswith(title) or (
                    is_server and folder in words
                )
                if is_ours and entry.stat().st_uid == self._account.uid:
                    yield int(entry.name)
