"""Cutting: a part of a log, as the tape that would have been recorded of it.

The counterpart of intake: entries become the frames from which intake makes
the same entries, in log order, with the times at which they were observed. An
entry that was a frame is that frame again. What intake concludes from a frame
(that an object is absent, that a gap began or ended) is not put on the tape
but concluded again when it is played. So a list that found something holds
everything that was alive; what the log has no listed version of is made from
the log.

Memory: a few hundred bytes for each object that is alive, as in intake, and
one page of entries, however long the window is.
"""

from collections.abc import (
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from datetime import datetime, timedelta

from recorder.model.entry import Entry, Operation
from recorder.model.observation import ListPage, Observation
from recorder.model.window import Window
from recorder.sources.tape.export.end import end_of
from recorder.sources.tape.export.lines import (
    FRAMES,
    Held,
    follows,
    is_of_list,
    kind_of,
    number,
    page_of,
    posted,
    recovered,
    thing_of,
    walked,
)
from recorder.sources.tape.export.ports import Past
from recorder.sources.tape.export.start import Start, made_pages, note_event
from recorder.sources.tape.export.stream import (
    REWOUND,
    UNDECODABLE,
    UNKNOWN_VERSION,
    VANISHED,
    CutStream,
    document_of,
)

PAGE = 500
"""Listed objects of one frame, as of a page of the API server."""


class Cutting:
    """Makes the frames of one tape."""

    def __init__(
        self,
        past: Past,
        streams: Sequence[CutStream],
        window: Window,
        *,
        on_line: Callable[[Entry], None] | None = None,
    ) -> None:
        self._past = past
        self._streams = {stream.key: stream for stream in streams}
        self._window = window
        self._on_line = on_line
        self._start = Start(past, streams, window)
        self._span = (0, 0)
        self._waiting: list[CutStream] = []

        # These wait for entries that follow from the same observation.
        self._page: list[Entry] = []
        self._held: Held | None = None
        self._expired: CutStream | None = None
        self._vanishing: CutStream | None = None

        self.entries = 0
        """Entries of the window that were read."""

        self.without_frame = 0
        """Entries that a tape has no frame for: jumps of our clock."""

    async def prepare(self, event_ttl: timedelta) -> datetime | None:
        """Find what the tape begins with; return when that is.

        Must be called once, before `frames`.
        """
        self._span = await self._start.prepare(event_ttl)
        self._waiting = self._start.later()
        return self._start.at

    async def frames(self) -> AsyncIterator[Observation]:
        """Yield all frames in order."""
        async for frame in self._start.frames():
            yield frame
        async for page in self._past.lines(self._window, *self._span):
            for line in page:
                async for frame in self._take(line):
                    yield frame
        async for frame in self._finish():
            yield frame

    async def _take(self, line: Entry) -> AsyncIterator[Observation]:
        async for frame in self._settle(line):
            yield frame
        for frame in self._begin_lists(line):
            yield frame
        if not self._noted(line):
            async for frame in self._frames_of(line):
                yield frame
        self.entries += 1
        if self._on_line is not None:
            self._on_line(line)

    async def _finish(self) -> AsyncIterator[Observation]:
        async for frame in self._settle(None):
            yield frame
        for frame in self._begin_lists(None):
            yield frame
        for stream in self._streams.values():
            if stream.listing is not None and stream.gap is None:
                async for frame in self._complete(stream):
                    yield frame
        gaps = [gap for s in self._streams.values() for gap in s.gaps]
        observed = await self._past.observed(
            [gap.opened.position for gap in gaps]
        )
        _, last = self._span
        for frame in end_of(
            self._streams.values(), self._window, last, observed
        ):
            yield frame

    def _noted(self, line: Entry) -> bool:
        """Note an entry that has no frame of its own, or not yet.

        False if it has one.
        """
        match line.operation:
            case Operation.LISTED:
                self._listed(line)
            case Operation.ABSENT if not line.resource_version:
                self._absent(line)
            case Operation.REFUSED | Operation.EPOCH_BEGAN:
                self._held = Held(line)
            case Operation.CLOCK_JUMPED | Operation.RETENTION:
                self.without_frame += 1
            case Operation.GAP_OPENED | Operation.GAP_CLOSED:
                # What a sender left out is of no stream.
                return (line.source, line.resource or "") not in self._streams
            case _:
                return False
        return True

    async def _frames_of(self, line: Entry) -> AsyncIterator[Observation]:
        match line.operation:
            case Operation.GAP_OPENED:
                async for frame in self._gap_opened(line):
                    yield frame
            case Operation.GAP_CLOSED:
                async for frame in self._gap_closed(line):
                    yield frame
            case Operation.AUDIT | Operation.CLOUDEVENT | Operation.POLLED:
                yield posted(line)
            case Operation.RECOVERED | Operation.ABSENT:
                self._note(self._stream(line), line)
                yield recovered(line)
            case _:
                async for frame in self._frame(line):
                    yield frame

    def _stream(self, line: Entry) -> CutStream:
        return self._streams[line.source, line.resource or ""]

    def _begin_lists(self, line: Entry | None) -> Iterator[Observation]:
        """Begin first lists when it is time, and the list of an entry."""
        until = None if line is None else line.observed_at
        while self._waiting:
            stream = self._waiting[0]
            began = stream.stream.began_at
            assert began is not None, "only what was listed waits"
            if until is not None and began > until:
                break
            del self._waiting[0]
            stream.listing = stream.list_version(0)
            yield stream.page(began)
        if line is not None and line.operation is Operation.LISTED:
            stream = self._stream(line)
            if stream.listing is None:
                yield from stream.begin_list(line)

    async def _settle(self, line: Entry | None) -> AsyncIterator[Observation]:
        """Yield what waited, unless the next entry belongs to it."""
        async for frame in self._settle_list(line):
            yield frame
        if self._held is not None and not follows(line):
            held, self._held = self._held, None
            for frame in held.frames():
                yield frame
        if self._expired is not None and not is_of_list(line, self._expired):
            async for frame in self._settle_events(self._expired):
                yield frame

    async def _settle_list(
        self, line: Entry | None
    ) -> AsyncIterator[Observation]:
        is_listed = line is not None and line.operation is Operation.LISTED
        if self._page and (
            line is None
            or not is_listed
            or len(self._page) >= PAGE
            or page_of(line) != page_of(self._page[0])
        ):
            yield self._listed_page()
        if line is not None and is_listed:
            stream = self._stream(line)
            if stream.is_relisted(line):
                async for frame in self._complete(stream):
                    yield frame

    async def _settle_events(
        self, stream: CutStream
    ) -> AsyncIterator[Observation]:
        """Yield a list of Events that opened no gap: none had been missed."""
        self._expired = None
        assert stream.list_at is not None, "something was absent from it"
        if stream.listing is None:
            stream.listing = stream.version or UNKNOWN_VERSION
        yield stream.closed(stream.list_at)
        async for frame in self._complete(stream):
            yield frame

    def _listed(self, line: Entry) -> None:
        stream = self._stream(line)
        thing = self._note(stream, line)
        stream.listed.add(thing)
        self._page.append(line)

    def _listed_page(self) -> ListPage:
        lines, self._page = self._page, []
        first = lines[0]
        stream = self._stream(first)
        kind = "Event" if stream.is_events else kind_of(first)
        return stream.page(
            first.observed_at, [line.raw for line in lines], kind=kind
        )

    def _absent(self, line: Entry) -> None:
        stream = self._stream(line)
        stream.list_at = line.observed_at
        if self._vanishing is stream:
            self._note(stream, line)
            return
        if stream.is_events:
            stream.absent.add(note_event(stream, line))
            self._expired = stream if stream.gap is None else None
        else:
            stream.absent.add(thing_of(line))

    async def _gap_opened(self, line: Entry) -> AsyncIterator[Observation]:
        stream = self._stream(line)
        if stream.was_listed(line):
            async for frame in self._complete(stream):
                yield frame
        for frame in self._opening(stream, line):
            yield frame

    def _opening(
        self, stream: CutStream, line: Entry
    ) -> Iterable[Observation]:
        said = document_of(line.raw)
        reason = said["reason"]
        self._expired = None
        proofs = stream.proofs(said)
        if reason in {REWOUND, UNDECODABLE}:
            if self._held is not None:
                self._held.precede(stream, line, proofs)
            return []
        if reason == VANISHED:
            self._vanishing = stream
            return proofs
        gap = stream.gap_opened_at(line.entry.position)
        if gap is None:
            return proofs
        if stream.listing is None:
            stream.listed.clear()
        return [*proofs, *stream.opening(gap, line.observed_at)]

    async def _gap_closed(self, line: Entry) -> AsyncIterator[Observation]:
        stream, said = self._stream(line), document_of(line.raw)
        if said["reason"] == UNDECODABLE:
            return
        if self._vanishing is stream:
            self._vanishing = None
            yield stream.vanish(line.observed_at)
            return
        read = walked(line)
        if not said["possible"] and (read is None or read.resumes):
            for frame in stream.resume(line.observed_at, said, read):
                yield frame
            return
        if read is not None:
            yield read
        for page in stream.relist(line.observed_at, said):
            yield page
        async for frame in self._complete(stream):
            yield frame

    async def _complete(self, stream: CutStream) -> AsyncIterator[Observation]:
        """Yield what a list showed and the log held already, and end it."""
        at = stream.list_at
        assert at is not None, "an incomplete list has a page"
        shown = stream.listed | stream.absent
        unchanged = sorted(
            position
            for thing, position in stream.alive.items()
            if thing not in shown
        )
        async for page in made_pages(self._past, stream, unchanged, at=at):
            yield page
        stream.listed_whole()

    async def _frame(self, line: Entry) -> AsyncIterator[Observation]:
        stream = self._stream(line)
        if stream.listing is not None and stream.gap is None:
            async for frame in self._complete(stream):
                yield frame
        at, raw = line.observed_at, line.raw
        if line.operation is Operation.RENEWED:
            # A late one is not a version that later ones are compared with.
            yield stream.renewal(at, raw)
        else:
            self._note(stream, line)
            version = line.resource_version or ""
            yield stream.change(at, FRAMES[line.operation], raw, version)

    def _note(self, stream: CutStream, line: Entry) -> str:
        """Note a version; return its object."""
        if stream.is_events:
            return note_event(stream, line)
        thing = thing_of(line)
        if line.operation in {Operation.DELETED, Operation.ABSENT}:
            stream.alive.pop(thing, None)
        else:
            stream.alive[thing] = line.entry.position
        version = line.resource_version or ""
        if version.isdecimal():
            stream.version = max(stream.version, version, key=number)
        return thing
