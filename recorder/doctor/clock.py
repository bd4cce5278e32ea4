"""Whether two clocks agree."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from recorder.doctor.check import Check

SKEW_MAX = timedelta(seconds=2)
"""A machine without NTP drifts this far within days; the recorder reports
jumps of its own clock from the same size on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockReading:
    """Another clock, read once, between two readings of ours."""

    before: datetime
    theirs: datetime
    after: datetime
    resolution: timedelta = timedelta(0)
    """By how much later than the reading it may have been."""


def judge_clock(name: str, whose: str, reading: ClockReading) -> Check:
    """Judge by the smallest difference that the reading allows."""
    earliest = reading.theirs - reading.after
    latest = reading.theirs + reading.resolution - reading.before
    middle = earliest + (latest - earliest) / 2
    blur = (latest - earliest) / 2
    return Check(
        name=name,
        ok=earliest <= SKEW_MAX and latest >= -SKEW_MAX,
        says=f"{whose} differs from this machine's by"
        f" {middle.total_seconds():+.1f} s, ±{blur.total_seconds():.1f} s",
        remedy="synchronize both clocks with NTP (timedatectl set-ntp true);"
        " otherwise observation times do not match other times",
    )
