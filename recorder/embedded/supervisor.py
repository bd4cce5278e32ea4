"""The supervisor: the process that owns the server.

The first command starts it, detached. It creates the cluster if there is none,
runs the server, restarts it when it dies, and stops it when the last command
has left. A lock shows that it is alive; a second supervisor sees the lock and
exits. It has one thread and imports little, because it stays as long as the
recording.

It knows nothing of databases, roles or SQL; see `bootstrap`.
"""

import argparse
import os
import secrets
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from recorder.embedded.backoff import Backoff
from recorder.embedded.cluster import (
    SETTINGS,
    check_version,
    create_cluster,
    set_superuser_password,
    write_configuration,
)
from recorder.embedded.control_file import was_stopped_cleanly
from recorder.embedded.errors import EmbeddedError
from recorder.embedded.folder import DataFolder, translate_os_errors
from recorder.embedded.installation import Installation, install
from recorder.embedded.locks import FileLock, within
from recorder.embedded.passwords import (
    SUPERUSER,
    complete_passwords,
    make_passwords,
    write_passwords,
)
from recorder.embedded.postmaster import Postmaster
from recorder.embedded.server_log import bound_log
from recorder.embedded.socket_folder import (
    choose_socket_folder,
    has_socket,
    leave_socket_folder,
)
from recorder.embedded.state import Phase, State, read_state, write_state

_TICK_SECONDS = 0.1
"""How soon a dead server or the absence of commands is noticed. A tick is a
handful of system calls; all of them together take 0.2 % of a core."""

_LOCK_SECONDS = 1.0
"""Commands that check whether we are alive hold our lock for microseconds."""

_GRACE_SECONDS = 10.0
"""The time that commands get to finish after SIGTERM: a shutdown signals all
processes at once, and commands still have something to commit."""


class Supervisor:
    """Keeps one server running as long as a command uses it."""

    def __init__(
        self, folder: DataFolder, settings: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._users = FileLock(folder.use_lock)
        self._instance = secrets.token_hex(8)
        before = read_state(folder.state)
        self._socket_folder = before.socket_folder if before else ""
        self._stop_at: float | None = None

    def run(self) -> int:
        """Serve until no command is left; return the exit status."""
        if self._users.take_exclusive():
            # The command that started us holds a share, unless it died
            # meanwhile.
            return 0
        signal.signal(signal.SIGTERM, self._ask_to_stop)
        for harmless in (signal.SIGINT, signal.SIGHUP):
            signal.signal(harmless, signal.SIG_IGN)
        try:
            with translate_os_errors("start PostgreSQL in", self._folder.path):
                server = self._begin()
        except EmbeddedError as error:
            self._report(Phase.FAILED, error)
            return 1
        try:
            self._stay(server)
        finally:
            self._report(Phase.STOPPING)
            if self._users.is_in_place():
                server.stop()
            else:
                # Our folder was removed: there is nothing to stop cleanly.
                server.abandon()
        leave_socket_folder(self._folder, Path(self._socket_folder))
        self._socket_folder = ""
        self._report(Phase.STOPPED)
        return 0

    def _begin(self) -> Postmaster:
        folder = self._folder
        self._report(Phase.STARTING)
        site = install(folder)
        if not folder.cluster.exists():
            self._report(Phase.CREATING)
            create_cluster(site)
        check_version(folder)
        if not was_stopped_cleanly(folder.cluster):
            self._report(Phase.RECOVERING)
        server = Postmaster(site)
        self._configure(site)
        if not folder.passwords.exists():
            passwords = make_passwords()
            set_superuser_password(site, passwords[SUPERUSER])
            write_passwords(folder.passwords, passwords)
        else:
            complete_passwords(folder.passwords)
        server.start()
        self._report(Phase.READY)
        return server

    def _configure(self, site: Installation) -> None:
        chosen = choose_socket_folder(
            self._folder, site.account, kept=self._socket_folder
        )
        self._socket_folder = str(chosen)
        settings = {
            **SETTINGS,
            **self._settings,
            "cluster_name": site.processes.name,
            "unix_socket_directories": self._socket_folder,
        }
        write_configuration(site, settings)

    def _stay(self, server: Postmaster) -> None:
        backoff = Backoff()
        while not self._is_over():
            time.sleep(_TICK_SECONDS)
            bound_log(self._folder)
            if not server.is_running():
                if backoff.is_over():
                    backoff.lengthen()
                    self._restart(server)
            elif has_socket(Path(self._socket_folder)):
                backoff.settle()
            else:
                # No command could connect any more.
                server.stop()

    def _restart(self, server: Postmaster) -> None:
        self._report(Phase.RESTARTING, server.ending())
        try:
            with translate_os_errors("start PostgreSQL in", self._folder.path):
                self._configure(server.site)
                server.start()
        except EmbeddedError as error:
            self._report(Phase.RESTARTING, error)
        else:
            self._report(Phase.READY)

    def _is_over(self) -> bool:
        if self._stop_at is not None and time.monotonic() >= self._stop_at:
            return True
        # A command that arrives while we hold it exclusively waits until we
        # have ended, and starts the next supervisor.
        if self._users.take_exclusive():
            return True
        return not self._users.is_in_place()

    def _report(
        self, phase: Phase, error: EmbeddedError | None = None
    ) -> None:
        state = State(
            instance=self._instance,
            supervisor_pid=os.getpid(),
            phase=phase,
            socket_folder=self._socket_folder,
            error_code=error.code if error else "",
            message=str(error) if error else "",
        )
        # A full disk must not end us: we continue, and commands see by
        # connecting whether the server responds.
        with suppress(OSError):
            said = f"{phase}: {error}" if error else phase
            sys.stderr.write(f"supervisor [{os.getpid()}] {said}\n")
            sys.stderr.flush()
        with suppress(OSError):
            write_state(self._folder.state, state)

    def _ask_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        if self._stop_at is None:
            self._stop_at = time.monotonic() + _GRACE_SECONDS


def main(arguments: Sequence[str]) -> int:
    """Supervise the server of one data folder."""
    parser = argparse.ArgumentParser(prog="recorder.embedded.supervisor")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", action="append", default=[], dest="settings")
    options = parser.parse_args(arguments)
    folder = DataFolder(options.folder)
    settings = dict(item.split("=", 1) for item in options.settings)
    os.chdir("/")
    os.umask(0o077)
    # Never closed: the kernel releases it when this process ends, and a
    # command that waits for that finds nothing of it left.
    alive = FileLock(folder.supervisor_lock)
    if not _claim(alive):
        return 0
    return Supervisor(folder, settings).run()


def _claim(alive: FileLock) -> bool:
    """Become the supervisor, unless there is one.

    A command that checks for one shares the lock for a moment; only a
    supervisor holds it exclusively.
    """
    another_lives = False

    def has_settled() -> bool:
        nonlocal another_lives
        if alive.take_exclusive():
            return True
        another_lives = not alive.take_shared()
        return another_lives

    return within(_LOCK_SECONDS, has_settled) and not another_lives


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
