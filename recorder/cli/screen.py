"""Progress, on a terminal or in a log.

On a terminal one line is kept up to date; elsewhere a line is printed when
something changes, so that a log of it stays short.
"""

import shutil
import sys
import time
from collections.abc import Sequence

import click

from recorder.cli.calling import as_typed

QUIET_SECONDS = 60
"""Without a terminal, the least time between two lines that say the same."""


class Screen:
    """Standard error as a place for progress."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._drawn = False
        self._said = ""
        self._said_at = float("-inf")
        self._width = 0

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.clear()
        click.echo(as_typed(text), err=True)

    def facts(self, rows: Sequence[tuple[str, str]]) -> None:
        """Print names and values, aligned, also with earlier ones."""
        self._width = max(self._width, *(len(name) for name, _ in rows))
        for name, value in rows:
            shown = click.style(name.ljust(self._width), dim=True)
            self.say(f"  {shown}  {value}")

    def progress(self, doing: str, detail: str) -> None:
        """Show the progress of work with an end; only on a terminal."""
        if self._live:
            columns = shutil.get_terminal_size().columns
            line = _line(doing, detail)[: columns - 1]
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)
            self._drawn = True

    def state(self, state: str, detail: str) -> None:
        """Show the state of work without an end."""
        if self._live:
            self.progress(state, detail)
            return
        now = time.monotonic()
        if state != self._said or now - self._said_at > QUIET_SECONDS:
            self._said, self._said_at = state, now
            click.echo(_line(state, detail), err=True)

    def clear(self) -> None:
        """Take the progress line away."""
        if self._drawn:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._drawn = False


def _line(doing: str, detail: str) -> str:
    return f"{time.strftime('%H:%M:%S')} {doing}  {detail}".rstrip()
