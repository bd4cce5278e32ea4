"""The use case: a window of a log, cut to a tape."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from recorder.answers.ports import Reading
from recorder.answers.references import find_node
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.facts.coverage.unproven import is_dump
from recorder.model.entry import Entry
from recorder.model.errors import NotFoundError
from recorder.model.reference import Resource
from recorder.model.window import Window
from recorder.sources.tape.export.frames import Cutting
from recorder.sources.tape.export.ports import CutReading
from recorder.sources.tape.export.stream import CutStream
from recorder.sources.tape.header import TapeCut, TapeHeader
from recorder.sources.tape.whole import check_free, whole_tape

FRAMES = 500
"""Frames between two checks whether to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What is to be cut, and to which file."""

    path: Path
    window: Window
    nodes: tuple[str, ...] = ()
    """Only what concerns these; empty for everything."""

    overwrite: bool = False
    event_ttl: timedelta = timedelta(hours=1)
    on_progress: Callable[[int, float], None] | None = None
    """Gets the frames written and which part of the window is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutTape:
    """The result of a cut."""

    log: int
    frames: int
    entries: int
    without_frame: int
    """Entries for which a tape has no frame."""

    coverage: Coverage
    """What may be missing from the window, in the log as on the tape."""


async def cut_tape(
    reading: CutReading, cut: Cut, stop: asyncio.Event, *, now: datetime
) -> CutTape:
    """Cut a tape out of a log; it exists completely when this returns.

    Raises:
        NotFoundError: the log has no such node, or no entries.
        TapeError: the file exists, or cannot be written.
    """
    if not cut.overwrite:
        check_free(cut.path)
    for name in cut.nodes:
        await find_node(reading, name)
    window = cut.window
    coverage = await covered(reading, window, now=now)
    past = await reading.past(cut.nodes, window)
    progress = _Progress(reading, cut)
    cutting = Cutting(past, _streams(reading), window, on_line=progress.line)
    begins = await cutting.prepare(cut.event_ttl)
    if begins is None:
        raise _nothing(reading)
    header = _header(reading, cut, begins)
    with whole_tape(cut.path, header, overwrite=cut.overwrite) as writer:
        shown = 0
        async for frame in cutting.frames():
            writer.write([frame])
            if writer.frames - shown >= FRAMES:
                shown = writer.frames
                progress.show(shown)
                # Signals are handled when other tasks get their turn.
                await asyncio.sleep(0)
                if stop.is_set():
                    raise KeyboardInterrupt
        frames = writer.frames
        if not frames:
            raise _nothing(reading)
    return CutTape(
        log=reading.log.id,
        frames=frames,
        entries=cutting.entries,
        without_frame=cutting.without_frame,
        coverage=coverage,
    )


def _nothing(reading: Reading) -> NotFoundError:
    if any(map(is_dump, reading.streams)):
        msg = (
            f"{reading.log.named} was imported from dumps, without a list"
            " that a tape could begin with"
        )
        return NotFoundError(msg, advice="share the dumps instead")
    msg = f"{reading.log.named} has no entries in this window"
    return NotFoundError(msg)


def _streams(reading: Reading) -> list[CutStream]:
    return [
        CutStream(stream=stream, resource=_resource(stream.resource))
        for stream in reading.streams
    ]


def _resource(name: str) -> Resource:
    """Parse a resource; posted and polled documents have other names."""
    try:
        return Resource.parse(name)
    except ValueError:
        return Resource("", "v1", name)


def _header(reading: Reading, cut: Cut, begins: datetime) -> TapeHeader:
    log = reading.log
    return TapeHeader(
        cluster=log.cluster_name,
        cluster_uid=log.cluster_uid,
        kubernetes=log.kubernetes,
        started_at=begins,
        redaction_key_id=log.redaction_key_id,
        cut=TapeCut(
            log=log.id,
            size=log.size,
            since=cut.window.since,
            until=cut.window.until,
            nodes=cut.nodes,
        ),
    )


class _Progress:
    """How far the entries of the window are read."""

    def __init__(self, reading: Reading, cut: Cut) -> None:
        self._size = max(reading.log.size, 1)
        self._show = cut.on_progress
        self._first = 0
        self._position = 0

    def line(self, line: Entry) -> None:
        self._position = line.entry.position
        self._first = self._first or self._position

    def show(self, frames: int) -> None:
        if self._show is not None:
            whole = max(self._size - self._first, 1)
            self._show(frames, (self._position - self._first) / whole)
