"""Failpoints: counted places of a program, where it can be made to die.

A place has a name and is passed a number of times. `pass_by` counts, and at
the planned passage the process is killed as the kernel would kill it: nothing
is flushed, no handler runs.
"""

import os
import signal
from collections import Counter
from dataclasses import dataclass

__all__ = ["Failpoints", "Kill"]


@dataclass(frozen=True, slots=True, order=True)
class Kill:
    """Where to die."""

    place: str
    passage: int
    """Counted from 1."""

    def __str__(self) -> str:
        return f"{self.place} ({self.passage})"


class Failpoints:
    """The places of one process."""

    def __init__(self, kill: Kill | None) -> None:
        self._kill = kill
        self.passed: Counter[str] = Counter()

    def pass_by(self, place: str) -> None:
        """Count; die here if this is where to die."""
        self.passed[place] += 1
        kill = self._kill
        if (
            kill is not None
            and place == kill.place
            and self.passed[place] == kill.passage
        ):
            os.kill(os.getpid(), signal.SIGKILL)
