"""How long the Pods of a workload ran, all of them together."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from recorder.facts.projections.placement import Placement

Time = tuple[datetime, datetime]
"""A span of time."""


def most_at_once(
    spans: Iterable[tuple[datetime | None, datetime | None, int]],
) -> tuple[int, datetime | None]:
    """Return the maximum sum at one time, and when it was first reached."""
    changes: list[tuple[datetime, int]] = []
    for begun, ended, weight in spans:
        if begun is not None:
            changes.append((begun, weight))
            if ended is not None:
                changes.append((ended, -weight))
    summed, most, at = 0, 0, None
    # A span ends before another begins at the same time.
    for moment, change in sorted(changes):
        summed += change
        if summed > most:
            most, at = summed, moment
    return most, at


def full_spans(
    pods: Sequence[Placement],
    size: int,
    until: datetime,
    wanted: Sequence[tuple[datetime, int]] = (),
) -> list[Time]:
    """Return when at least so many Pods ran at once.

    A Pod that succeeded has done its part, and counts until the end, unless
    the workload states that fewer are wanted then.

    Args:
        pods: all Pods of the workload.
        size: how many, where nothing states how many are wanted.
        until: where the last span ends.
        wanted: how many are wanted, from each time on.
    """
    found: list[Time] = []
    running, begun = 0, None
    size = wanted[0][1] if wanted else size
    for at, change, number in _changes(pods, wanted):
        running += change
        size = size if number is None else number
        if running >= size and begun is None:
            begun = at
        elif running < size and begun is not None:
            found.append((begun, at))
            begun = None
    if begun is not None and begun < until:
        found.append((begun, until))
    return found


def _changes(
    pods: Iterable[Placement], wanted: Sequence[tuple[datetime, int]]
) -> list[tuple[datetime, int, int | None]]:
    """Return when how many more Pods ran, or another number was wanted."""
    changes: list[tuple[datetime, int, int | None]] = [
        (at, 0, number) for at, number in wanted
    ]
    for pod in pods:
        if pod.running_at is None:
            continue
        changes.append((pod.running_at, 1, None))
        if pod.over_at is not None and (wanted or pod.phase != "Succeeded"):
            changes.append((pod.over_at, -1, None))
    return sorted(changes, key=lambda one: one[:2])


def total(spans: Iterable[Time], without: Iterable[Time] = ()) -> timedelta:
    """Return how long spans last together, without the time of others."""
    left = sorted((a, b) for a, b in spans if a < b)
    for begin, end in without:
        left = [
            part
            for a, b in left
            for part in ((a, min(b, begin)), (max(a, end), b))
            if part[0] < part[1]
        ]
    lasted, reached = timedelta(), None
    for begin, end in left:
        counted = begin if reached is None else max(begin, reached)
        if counted < end:
            lasted += end - counted
            reached = end
    return lasted
