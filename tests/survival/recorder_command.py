"""The command `recorder`, with every wait in seconds and a clock to move.

It is the real command: only numbers are shorter than in life, so that a
schedule sees a dead stream or a stuck statement in seconds, and the wall
clock is the one of the file that ``RECORDER_TEST_CLOCK`` names. The lease
and what a standby does about it are as in life.
"""

import functools
import mmap
import os
import struct
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from recorder.cli import asking
from recorder.cli.main import run
from recorder.intake import committing, knowledge
from recorder.intake import recording as intake
from recorder.sources.watch import clock
from recorder.sources.watch.settings import WatchSettings
from recorder.store import writer
from recorder.wiring import recording

__all__ = ["CLOCK_VARIABLE", "PATIENCE", "MovingClock"]

CLOCK_VARIABLE = "RECORDER_TEST_CLOCK"

PATIENCE = 8.0
"""Longer than an API server needs to know its tokens and roles."""

TIMES = WatchSettings(
    start_spread=0.1,
    watch_shortest=2.0,
    watch_longest=4.0,
    watch_unmarked=2.0,
    watch_proof=1.0,
    idle=6.0,
    idle_grace=3.0,
    connect=2.0,
    request=8.0,
    backoff_first=0.1,
    backoff_longest=1.0,
    watch_again=0.2,
    refused_again=1.0,
    refusal_patience=PATIENCE,
    rewind_gather=0.05,
    rewind_pause=0.1,
    reconcile_wait=20.0,
    rediscover_every=10.0,
    credentials_age=1.0,
    clock_tick=0.2,
)
STATEMENT_TIMEOUT = timedelta(seconds=3)
NUMBER = struct.Struct("d")


class MovingClock:
    """The machine's clock and an offset, shared with processes by one file.

    The file holds the offset in seconds. It is mapped into memory, so that
    reading it costs a recorder nothing.
    """

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.write_bytes(NUMBER.pack(0.0))
        with file.open("r+b") as opened:
            self._shared = mmap.mmap(opened.fileno(), NUMBER.size)

    @property
    def offset(self) -> timedelta:
        """How far it is ahead."""
        return timedelta(seconds=NUMBER.unpack_from(self._shared)[0])

    def set_ahead(self, offset: timedelta) -> None:
        """Let it jump."""
        NUMBER.pack_into(self._shared, 0, offset.total_seconds())

    def now(self) -> datetime:
        """Return the time it shows."""
        return datetime.now(UTC) + self.offset


def main() -> None:
    """Run the command."""
    moving = MovingClock(Path(os.environ[CLOCK_VARIABLE]))

    class Moved(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override] # never one of ours
            return datetime.now(tz) + moving.offset

    for module in (asking, clock, committing, intake, knowledge):
        vars(module)["datetime"] = Moved
    vars(recording)["WatchSettings"] = functools.partial(replace, TIMES)
    vars(writer)["STATEMENT_TIMEOUT"] = STATEMENT_TIMEOUT
    run()


if __name__ == "__main__":
    main()
