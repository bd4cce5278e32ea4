"""What happens to PostgreSQL: kills, freezes, its wire, its disk."""

import asyncio
import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from tests.survival.fault import Fault, Strike
from tests.survival.site import Site
from tests.survival.wire import State

__all__ = ["DATABASE_FAULTS"]

LONGER_THAN_STATEMENT = (9.0, 11.0)
"""A statement is given 3 s by the server, and 8 s by the recorder."""

BLOCK = 1 << 20
LEFT_FREE = 4 << 20


async def killed(strike: Strike) -> None:
    """SIGKILL of the server; it is started again."""
    strike.site.database.kill()
    await asyncio.sleep(strike.random.uniform(0.0, 1.0))


async def killed_twice(strike: Strike) -> None:
    """SIGKILL of the server and of what starts it again."""
    database = strike.site.embedded
    both = [database.kill, database.kill_supervisor]
    strike.random.shuffle(both)
    for kill in both:
        kill()
    await asyncio.sleep(strike.random.uniform(0.0, 1.0))


async def frozen_shortly(strike: Strike) -> None:
    """SIGSTOP for less than a statement may take."""
    await _freeze(strike, strike.random.uniform(0.5, 2.5))


async def frozen_long(strike: Strike) -> None:
    """SIGSTOP for longer than a statement may take."""
    await _freeze(strike, strike.random.uniform(*LONGER_THAN_STATEMENT))


async def wire_cut(strike: Strike) -> None:
    """Connections end, again and again, in any statement."""
    times = strike.random.randrange(1, 6)
    await strike.site.shared.wire.cut_often(times, strike.random)


async def wire_hung(strike: Strike) -> None:
    """Connections stay open and nothing comes back."""
    await _spoil(strike, State.HUNG, strike.random.uniform(1.0, 9.0))


async def wire_slow(strike: Strike) -> None:
    """Everything comes, a little at a time."""
    await _spoil(strike, State.SLOW, strike.random.uniform(3.0, 6.0))


async def disk_full(strike: Strike) -> None:
    """The disk of the data folder fills up, to a little or to nothing."""
    site = strike.site
    seconds = strike.random.uniform(2.0, 5.0)
    if site.disk is None:
        await _no_room_by_setting(site, seconds)
        return
    left = strike.random.choice([0, LEFT_FREE])
    strike.note(f"{left >> 20} MiB left")
    ballast = site.disk / "ballast"
    try:
        _fill(ballast, left)
        await site.traffic.burst(50)
        await asyncio.sleep(seconds)
    finally:
        ballast.unlink(missing_ok=True)


def _fill(ballast: Path, left: int) -> None:
    free = shutil.disk_usage(ballast.parent).free
    with ballast.open("wb") as file:
        if left:
            os.posix_fallocate(file.fileno(), 0, free - left)
            return
        try:
            while True:
                file.write(bytes(BLOCK))
        except OSError as exc:
            if exc.errno != errno.ENOSPC:
                raise
            # What is still buffered has no room either.
            with suppress(OSError):
                file.close()


async def _no_room_by_setting(site: Site, seconds: float) -> None:
    recorder = site.recorder
    recorder.kill()
    before = dict(recorder.settings)
    recorder.settings["RECORDER_DISK_FREE_MIN"] = "99.99"
    recorder.start()
    await asyncio.sleep(seconds)
    recorder.kill()
    recorder.settings = before
    recorder.start()


async def _freeze(strike: Strike, seconds: float) -> None:
    strike.note(f"{seconds:.1f} s")
    database = strike.site.database
    database.pause()
    try:
        await asyncio.sleep(seconds)
    finally:
        database.resume()


async def _spoil(strike: Strike, state: State, seconds: float) -> None:
    strike.note(f"{seconds:.1f} s")
    await strike.site.shared.wire.spoil(state, seconds)


SERVER = frozenset({"database"})
BOTH = frozenset({"database", "recorder"})

DATABASE_FAULTS = (
    Fault(name="PostgreSQL killed", strike=killed, parts=SERVER),
    Fault(
        name="PostgreSQL killed twice",
        strike=killed_twice,
        parts=SERVER,
        shared=False,
    ),
    Fault(name="PostgreSQL frozen", strike=frozen_shortly, parts=SERVER),
    Fault(name="PostgreSQL frozen long", strike=frozen_long, parts=SERVER),
    Fault(
        name="database wire cut", strike=wire_cut, parts=SERVER, shared=True
    ),
    Fault(
        name="database wire hung", strike=wire_hung, parts=SERVER, shared=True
    ),
    Fault(
        name="database wire slow", strike=wire_slow, parts=SERVER, shared=True
    ),
    Fault(name="disk full", strike=disk_full, parts=BOTH, shared=False),
)
