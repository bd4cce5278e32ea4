"""The progress of a recording on a terminal."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from recorder.cli.screen import Screen

if TYPE_CHECKING:
    from recorder.intake.progress import Progress
    from recorder.wiring.live import LiveRecording

TICK_SECONDS = 1
MEASURE_TICKS = 60
"""Interval between checks of the database size."""

STEADY_TICKS = 3
"""A large cluster is found bit by bit: what is watched is said when no more
came for longer than proofs take to be committed."""

NAMES_SHOWN = 16


async def show_progress(live: "LiveRecording", screen: Screen) -> None:
    """Show the progress of a recording, until cancelled."""
    before = live.progress.entries
    names: Sequence[str] = ()
    trouble: str | None = None
    steady = 0
    for tick in count():
        await asyncio.sleep(TICK_SECONDS)
        progress = live.progress
        if tick % MEASURE_TICKS == 0:
            await live.measure()
        found = _listed(progress)
        steady = steady + 1 if found == names else 0
        names = found
        if names and steady == STEADY_TICKS:
            screen.say(f"watching {_named(names)}")
            if (reached := live.reached()) is not None:
                screen.say(_reached(*reached))
        if progress.checkpoint_trouble not in {None, trouble}:
            screen.say(f"{progress.checkpoint_trouble}; trying again")
        trouble = progress.checkpoint_trouble
        rate = (progress.entries - before) / TICK_SECONDS
        before = progress.entries
        screen.state(_state(progress), _numbers(progress, rate))


def _listed(progress: "Progress") -> Sequence[str]:
    """Print which resources are watched, once all have been listed."""
    points = {r: p for (s, r), p in progress.streams.items() if s == "watch"}
    if not points or not all(p.began_at for p in points.values()):
        return ()
    return sorted(resource.rpartition("/")[2] for resource in points)


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN])
    more = len(names) - NAMES_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return f"{len(names)} resources: {shown}{rest}"


def _reached(count: int, since: datetime) -> str:
    """Say how far back the cluster's own history reached."""
    return (
        f"read {count:,} earlier versions from the cluster's own history, back"
        f" to {since:%Y-%m-%dT%H:%M:%SZ}; they are samples, `recorder gaps`"
        " says from when on the record is complete"
    )


def _state(progress: "Progress") -> str:
    if progress.waiting_for:
        return f"{progress.state}: {progress.waiting_for}"
    return progress.state


def _numbers(progress: "Progress", rate: float) -> str:
    gaps = sum(point.gap is not None for point in progress.streams.values())
    return (
        f"{progress.size:,} entries  {rate:,.0f}/s"
        f"  {_proven(progress)}  {gaps} open gaps"
    )


def _proven(progress: "Progress") -> str:
    """Say how long ago every live stream was last known to be complete."""
    now = datetime.now(UTC)
    proofs = [
        point.vouched_until
        for point in progress.streams.values()
        if point.vouched_until is not None and point.state == "live"
    ]
    if not proofs or progress.state != "recording":
        return "nothing confirmed yet"
    lag = max((now - at).total_seconds() for at in proofs)
    return f"proven up to {lag:.0f} s ago"
