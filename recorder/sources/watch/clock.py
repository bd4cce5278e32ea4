"""The two clocks of the source, and how jumps of one are detected.

``observed_at`` comes from the wall clock and is never corrected. Readers must
know when that clock was set, so a jump relative to the steady clock becomes an
observation of its own.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recorder.model.observation import ClockJumped


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Wall and steady time; replaced in tests."""

    now: Callable[[], datetime] = _now
    monotonic: Callable[[], float] = time.monotonic

    def shown_at(self, steady: float) -> datetime:
        """Return the wall time of a steady one, by the clock as it is set now.

        For observations that are put later than they were made: a jump may
        have been reported in between, and no time of the earlier clock may
        follow it.
        """
        return self.now() - timedelta(seconds=self.monotonic() - steady)


async def report_jumps(
    put: Callable[[ClockJumped], Awaitable[None]],
    clock: Clock,
    *,
    tick: float,
    jump: float,
) -> None:
    """Compare both clocks at each tick, forever; put the jumps.

    Only the difference within one tick counts: a clock that its daemon slews
    drifts by less, and is right.
    """
    wall, steady = clock.now(), clock.monotonic()
    while True:
        await asyncio.sleep(tick)
        now, mono = clock.now(), clock.monotonic()
        moved = (now - wall).total_seconds() - (mono - steady)
        if abs(moved) > jump:
            await put(ClockJumped(observed_at=now, seconds=moved))
        wall, steady = now, mono
