"""Whether the coverage of answers agrees with the gaps.

The log in memory is read as that in PostgreSQL by `recorder.facts.coverage`.
Two rules: between the ends of gaps, jumps and proofs a window is complete
exactly where it lies in none of them; and around the moment at which a change
was made that the log does not hold, no window is complete.
"""

from collections.abc import AsyncIterator, Collection, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import cast

import orjson

from recorder.answers.ports import Reading
from recorder.facts.coverage.coverage import covered
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import Archived, ClockJump, Log, Stream
from recorder.model.entry import Operation
from recorder.model.observation import WATCH
from recorder.model.reference import EntryName
from recorder.model.window import Window
from tests.cluster.comparison import Version
from tests.faults.gaps import CERTAIN
from tests.faults.truth import Truth
from tests.faults.world import World
from tests.support.log_rows import LogGap, log_gaps

__all__ = ["wrong_coverage"]

MOMENT = timedelta(milliseconds=1)
TICK = 1.5
"""Seconds between two readings of the clock, with a margin."""
SOON = timedelta(seconds=3)
GAP_SECONDS = 300.0
"""Longer than any gap of a schedule."""
Span = tuple[datetime, datetime]


class _Reading:
    """The part of a log that coverage reads."""

    def __init__(self, world: World) -> None:
        log = world.database.log
        self._entries = log.entries
        self.shows_jumps = True
        self.now = world.wall.now()
        self.log = Log(
            id=1,
            kind="live",
            cluster_name="fake",
            cluster_uid=world.cluster.uid,
            kubernetes=world.cluster.version,
            size=len(log.entries),
            recorded_at=self.now,
            holder=None,
        )
        self.streams = [
            Stream(
                source=source,
                resource=resource,
                state=point.state.value,
                began_at=point.began_at,
                vouched_until=point.vouched_until,
            )
            for (source, resource), point in log.streams.items()
            if source == WATCH  # claims are never confirmed complete
        ]

    async def gaps(self, since: datetime | None) -> AsyncIterator[Gap]:
        for _, draft in self._entries:
            if draft.operation is Operation.GAP_CLOSED:
                gap = Gap.from_closed(
                    draft.raw, source=WATCH, resource=draft.resource or ""
                )
                if since is None or gap.until is None or gap.until >= since:
                    yield gap

    async def archived(self, _: Window) -> Archived:
        return Archived()

    async def clock_jumps(self) -> AsyncIterator[ClockJump]:
        for position, (_, draft) in enumerate(self._entries, 1):
            if not self.shows_jumps:
                return
            if draft.operation is Operation.CLOCK_JUMPED:
                seconds = orjson.loads(draft.raw)["seconds"]
                name = EntryName(1, position)
                yield ClockJump(name, draft.observed_at, seconds)

    async def is_complete(self, resource: str, window: Span) -> bool:
        coverage = await covered(
            cast("Reading", self),
            Window(*window),
            now=self.now,
            reads=lambda _, name: name == resource,
        )
        return coverage.complete


async def wrong_coverage(
    world: World, truth: Truth, held: Collection[Version]
) -> list[str]:
    """Return errors of coverage, one text each."""
    reading = _Reading(world)
    gaps = log_gaps(world.database.log.entries)
    heard = [jump async for jump in reading.clock_jumps()]
    jumps = [
        tuple(sorted((jump.at - timedelta(seconds=jump.seconds), jump.at)))
        for jump in heard
    ]
    wrong = list(_unreported_jumps(world, heard))
    wrong += [why async for why in _all_windows(reading, gaps, jumps)]
    wrong += [why async for why in _lost(world, reading, truth, held)]
    # A jump makes a day doubtful, and hides whether gaps would.
    reading.shows_jumps = False
    wrong += [why async for why in _all_windows(reading, gaps, [])]
    calm = {
        version: at for version, at in truth.items() if _is_calm(world, at)
    }
    return wrong + [why async for why in _lost(world, reading, calm, held)]


def _is_calm(world: World, at: float | None) -> bool:
    """Return whether the clock was right while a gap around may have been."""
    return at is not None and all(
        abs(at - jump) > GAP_SECONDS for jump, _ in world.wall.jumps
    )


async def _lost(
    world: World, reading: _Reading, truth: Truth, held: Collection[Version]
) -> AsyncIterator[str]:
    """Yield what is neither held nor in a gap."""
    for version, at in truth.items():
        if at is None or version in held:
            continue
        resource = f"{version.group}/v1/{version.resource}".lstrip("/")
        shown = world.wall.shown(at)
        around = shown - MOMENT, shown + MOMENT
        if await reading.is_complete(resource, around):
            yield f"{shown} is complete, and lacks {version}"


async def _all_windows(
    reading: _Reading, found: list[LogGap], jumps: list[tuple[datetime, ...]]
) -> AsyncIterator[str]:
    for stream in reading.streams:
        gaps = [g for g in found if g.resource == stream.resource]
        async for why in _windows(reading, stream, gaps, jumps):
            yield f"{stream.resource}: {why}"


def _unreported_jumps(
    world: World, reported: list[ClockJump]
) -> Iterator[str]:
    """Yield the jumps that a process could report, and did not."""
    for at, session, seconds in world.heard:
        shown = world.wall.shown(at + TICK)
        is_reported = any(
            abs(jump.seconds - seconds) < 1 and abs(jump.at - shown) < SOON
            for jump in reported
        )
        later = [
            commit
            for commit in world.database.commits
            if commit.session == session and commit.sealed > at + TICK
        ]
        if not is_reported and len(later) >= CERTAIN:
            yield f"the clock was set by {seconds} s, and it is not reported"


async def _windows(
    reading: _Reading,
    stream: Stream,
    gaps: list[LogGap],
    jumps: list[tuple[datetime, ...]],
) -> AsyncIterator[str]:
    began, proven = stream.began_at, stream.vouched_until
    if began is None or proven is None:
        yield "not confirmed complete"
        return
    spans = [(g.since, g.to) for g in gaps if g.possible and g.to is not None]
    spans += [(begin, end) for begin, end in jumps]
    is_absent = stream.state == "absent"
    edges = sorted({began, proven, *(edge for s in spans for edge in s)})
    for begin, end in pairwise(
        [began - 4 * MOMENT, *edges, proven + 4 * MOMENT]
    ):
        if end - begin <= 3 * MOMENT:
            continue
        window = begin + MOMENT, end - MOMENT
        doubtful = any(s < window[1] and window[0] < e for s, e in spans)
        outside = window[0] < began or window[1] > proven
        expected = not doubtful and (is_absent or not outside)
        if await reading.is_complete(stream.resource, window) != expected:
            yield f"{window[0]} to {window[1]} should be {expected}"
