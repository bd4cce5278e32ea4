"""The watch that a command keeps over the supervisor.

A supervisor that was killed takes its server with it. The commands that
still need one notice and start the next; several may try, one wins. This is
a thread, so that it works while the command's event loop is busy.
"""

import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from recorder.embedded.backoff import Backoff
from recorder.embedded.errors import EmbeddedError
from recorder.embedded.folder import DataFolder
from recorder.embedded.launch import has_ended, launch_supervisor
from recorder.embedded.locks import is_unheld
from recorder.embedded.state import Phase, read_state

__all__ = ["Keeper"]

_LOOK_SECONDS = 0.5


class Keeper:
    """Sees to it that a supervisor lives."""

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
        """Whether a supervisor lives, ours or another's; reaps ours."""
        self._children = {pid for pid in self._children if not has_ended(pid)}
        # Ours may not have come as far as its lock yet.
        return bool(self._children) or not is_unheld(
            self._folder.supervisor_lock
        )

    def __enter__(self) -> Self:
        """Begin to watch."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Watch no longer."""
        self._over.set()
        self._thread.join()

    def _is_ready(self) -> bool:
        state = read_state(self._folder.state)
        return state is not None and state.phase is Phase.READY

    def _watch(self) -> None:
        backoff = Backoff()
        while not self._over.wait(_LOOK_SECONDS):
            # A full disk, or no file left to open: there is nothing to do
            # but to try again, and the command sees it by its connections.
            with suppress(EmbeddedError, OSError):
                if self.is_supervised():
                    if self._is_ready():
                        backoff.settle()
                elif backoff.is_over():
                    backoff.lengthen()
                    self.launch()
