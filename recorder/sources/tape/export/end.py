"""The end of a tape that is cut out of a log: until when it is complete.

Each stream is vouched for until the end of the window, or until the log itself
stopped vouching for it. A gap that reaches beyond the window is included if
one frame can represent its rest: that it began, if it was noticed later, and
that it healed. Otherwise the tape only ends earlier for that stream.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from recorder.facts.coverage.hole import Gap
from recorder.model.observation import SETTLED, EpochBegan, Observation
from recorder.model.window import Window
from recorder.sources.tape.export.stream import REWOUND, CutStream


def end_of(
    streams: Iterable[CutStream],
    window: Window,
    last: int,
    observed: Mapping[int, datetime],
) -> Iterator[Observation]:
    """Yield the last proofs and what opened or healed gaps after them."""
    every = list(streams)
    open_ = [s for s in every if s.gap is not None]
    behind = [
        (stream, _behind(stream, window, last))
        for stream in every
        if stream.begun and stream.gap is None
    ]
    yield from _by_time(_proofs(behind, window))
    yield from _by_time(_healed(open_))
    yield from _by_time(_opened(behind, observed))


def _by_time(frames: Iterable[Observation]) -> list[Observation]:
    return sorted(frames, key=lambda frame: frame.observed_at)


def _proofs(
    streams: Iterable[tuple[CutStream, Gap | None]], window: Window
) -> Iterator[Observation]:
    for stream, gap in streams:
        vouched = stream.stream.vouched_until
        if vouched is None or (stream.vanished and gap is None):
            continue
        ends = [vouched]
        if window.until is not None:
            ends.append(window.until)
        if gap is not None and gap.since is not None:
            ends.append(gap.since)
        yield stream.closed(min(ends), SETTLED)


def _healed(streams: Iterable[CutStream]) -> Iterator[Observation]:
    for stream in streams:
        gap = stream.gap
        if gap is not None and gap.healed and gap.until is not None:
            yield stream.bookmark(gap.until, gap.resource_version_after or "")


def _opened(
    streams: Iterable[tuple[CutStream, Gap | None]],
    observed: Mapping[int, datetime],
) -> Iterator[Observation]:
    rewound: set[datetime] = set()
    for stream, gap in streams:
        if gap is None:
            continue
        at = observed[gap.opened.position]
        if gap.reason == REWOUND and at not in rewound:
            rewound.add(at)
            yield EpochBegan(observed_at=at, reason=REWOUND)
        elif stream.is_opened_alone(gap):
            yield from stream.opening(gap, at)


def _behind(stream: CutStream, window: Window, last: int) -> Gap | None:
    """Return the gap that began in the window and was noticed after it."""
    until = window.until
    if until is None:
        return None
    for gap in stream.gaps:
        if gap.opened.position <= last or gap.healed:
            continue
        return gap if gap.since is None or gap.since < until else None
    return None
