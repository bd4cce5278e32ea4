"""The two clocks of the source, and the watch over them.

``observed_at`` comes from the wall clock and is never corrected. Whoever
reads it later must know where that clock was set, so a jump against the
steady clock becomes an observation of its own.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recorder.model.observation import ClockJumped

__all__ = ["Clock", "tell_jumps"]


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Wall and steady time; replaced in tests."""

    now: Callable[[], datetime] = _now
    monotonic: Callable[[], float] = time.monotonic

    def shown_at(self, steady: float) -> datetime:
        """Return the wall time of a steady one, by the clock as it is set now.

        For what is told later than it was seen: a jump may have been told in
        between, and nothing of the clock before it may follow.
        """
        return self.now() - timedelta(seconds=self.monotonic() - steady)


async def tell_jumps(
    put: Callable[[ClockJumped], Awaitable[None]],
    clock: Clock,
    *,
    tick: float,
    jump: float,
) -> None:
    """Compare both clocks each tick, forever; put the jumps.

    Only the difference within one tick counts: a clock that is slewed by
    its daemon drifts by less and is right.
    """
    wall, steady = clock.now(), clock.monotonic()
    while True:
        await asyncio.sleep(tick)
        now, mono = clock.now(), clock.monotonic()
        moved = (now - wall).total_seconds() - (mono - steady)
        if abs(moved) > jump:
            await put(ClockJumped(observed_at=now, seconds=moved))
        wall, steady = now, mono
