"""Putting the contents of audit log files, each file once.

A file is a stream, named by its first line: any reader of it, following a log
or importing old files, continues where the last one stopped. After every
portion comes the place that was reached, in the same call, so that both are
committed together.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from recorder.intake.ports import Sink
from recorder.model.observation import (
    AUDIT,
    AuditRecorded,
    InputRefused,
    Observation,
    PlaceReached,
)
from recorder.sources.audit.lines import (
    FILE_BYTES_AT_ONCE,
    Line,
    UnreadableError,
    read_lines,
)

State = Literal["live", "ended"]

HEAD_BYTES = 4096
"""How much is kept of a line that is too long."""


class FileReader:
    """Reads audit log files into a sink."""

    def __init__(
        self,
        sink: Sink,
        places: Mapping[str, str],
        *,
        now: Callable[[], datetime],
    ) -> None:
        """Prepare to read."""
        self._sink = sink
        self._now = now
        self._offsets = {
            stream: int(place)
            for stream, place in places.items()
            if stream.startswith("file:")
        }
        self._states: dict[str, State] = {}
        """The state of each stream that this reader has put."""

        self.before: list[Observation] = []
        """Observations to put before the next line."""

        self.records = 0
        """Lines put so far, of all files."""

    async def read(
        self,
        path: Path,
        head: str,
        *,
        behind: Sequence[PlaceReached] = (),
        is_finished: bool = False,
    ) -> None:
        """Put the lines of a file that were not put yet.

        Args:
            path: of the file.
            head: the digest of its first line; empty if it has none.
            behind: the places of other streams that are reached with it.
            is_finished: whether nothing more is written to it, as to a file
                that was rotated.

        Raises:
            MovedError: another file has the name by now.
            FileNotFoundError: the file does not exist.
            UnreadableError: it cannot be read to its end, or ends within a
                line; what came before was put.
        """
        if not head:
            return
        stream = _stream(head)
        known = self._offsets.get(stream)
        offset = known or 0
        state: State = "ended" if is_finished else "live"
        portion: list[Observation] = []
        size, at = 0, self._now()
        try:
            for line in read_lines(
                path, head, offset, is_finished=is_finished
            ):
                if not line.is_whole:
                    msg = f'"{path}" ends within a line'
                    raise UnreadableError(msg)  # noqa: TRY301
                observed = self._observed(line, at)
                portion += observed
                offset, size = line.end, size + line.length
                self.records += len(observed)
                if size >= FILE_BYTES_AT_ONCE:
                    await self._put(portion, stream, offset, behind, "live")
                    portion, size, at = [], 0, self._now()
        except UnreadableError:
            if portion:
                await self._put(portion, stream, offset, behind, "live")
            raise
        if portion or self.before or self._states.get(stream) != state:
            await self._put(portion, stream, offset, behind, state)

    def _observed(self, line: Line, at: datetime) -> Sequence[Observation]:
        if line.sha256:
            return [_refused(line, at)]
        if not line.text.strip():
            return []
        return [AuditRecorded(observed_at=at, event=line.text)]

    async def _put(
        self,
        portion: Sequence[Observation],
        stream: str,
        offset: int,
        behind: Sequence[PlaceReached],
        state: State,
    ) -> None:
        place = PlaceReached(
            observed_at=self._now(),
            source=AUDIT,
            stream=stream,
            place=str(offset),
            state=state,
        )
        await self._sink.put([*self.before, *portion, place, *behind])
        self.before = []
        self._offsets[stream] = offset
        self._states[stream] = state
        # A sink with room does not wait, and other tasks must get their turn.
        await asyncio.sleep(0)

    def ended(self, head: str) -> PlaceReached:
        """Return that no more lines of a file follow, whatever it holds."""
        stream = _stream(head)
        self._states[stream] = "ended"
        return PlaceReached(
            observed_at=self._now(),
            source=AUDIT,
            stream=stream,
            place=str(self._offsets.get(stream, 0)),
            state="ended",
        )

    async def forget(self, heads: Collection[str]) -> None:
        """Put that files are gone, and forget their places with them."""
        gone = [
            PlaceReached(
                observed_at=self._now(),
                source=AUDIT,
                stream=_stream(head),
                place="",
                state="gone",
            )
            for head in sorted(heads)
        ]
        if not gone:
            return
        await self._sink.put(gone)
        for place in gone:
            self._offsets.pop(place.stream, None)
            self._states.pop(place.stream, None)


def _stream(head: str) -> str:
    return f"file:{head}"


def _refused(line: Line, at: datetime) -> InputRefused:
    return InputRefused(
        observed_at=at,
        resource=None,
        head=line.text[:HEAD_BYTES],
        sha256=line.sha256,
        length=line.length,
        reason="a line of an audit log is too long",
        source=AUDIT,
    )
