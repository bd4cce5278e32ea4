"""Ports on 127.0.0.1 that no other process takes between choice and use.

The usual way, to let the kernel choose one and close it again, is a race:
until the part that gets it listens, anything may take it, and an outgoing
connection is enough. These ports lie below the range from which the kernel
chooses, and a locked file per port keeps other runs of the tests away.
"""

import errno
import fcntl
import os
import random
import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

__all__ = ["Ports"]

LOWEST, HIGHEST = 20000, 32767
"""Linux gives 32768 and up to a process that binds port 0."""

CHOSEN_BY_KERNEL = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""Where a machine says that it begins lower."""

TRIES = 200


class Ports:
    """The ports of one cluster, held until it ends."""

    def __init__(self) -> None:
        self._folder = Path(
            tempfile.gettempdir(), f"recorder-test-ports.{os.getuid()}"
        )
        self._held: dict[int, IO[str]] = {}

    def take(self) -> int:
        """Return a port that is not in use and that no other run takes.

        Raises:
            OSError: There was none in a bounded number of tries.
        """
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for _ in range(TRIES):
            # Not the same first choice for two runs started at once.
            port = random.SystemRandom().randint(*_range())
            if port not in self._held and self._hold(port):
                return port
        raise OSError(errno.EADDRNOTAVAIL, "no free port found")

    def give_back(self) -> None:
        """Let others have the ports. The files stay: removing is a race."""
        for held in self._held.values():
            held.close()
        self._held.clear()

    def _hold(self, port: int) -> bool:
        held = (self._folder / str(port)).open("w")
        with suppress(BlockingIOError):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _free(port):
                self._held[port] = held
                return True
        held.close()
        return False


def _range() -> tuple[int, int]:
    if CHOSEN_BY_KERNEL.exists():
        first = int(CHOSEN_BY_KERNEL.read_text().split()[0])
        if first > LOWEST:
            return LOWEST, min(HIGHEST, first - 1)
    return LOWEST, HIGHEST


def _free(port: int) -> bool:
    with socket.socket() as probe:
        # As the parts do; else a port of a cluster just ended looks taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
