"""The beginning of a tape that is cut out of a log: what was alive then.

Each stream that had been listed before the window gets a list made from the
log, at the last moment before the window, or at the last moment for which the
log vouches if that is earlier. For gaps that were open, the observation that
opened them is made.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime, timedelta

import orjson

from recorder.facts.classify import read_head
from recorder.facts.coverage.hole import Gap
from recorder.model.entry import Entry, Operation
from recorder.model.observation import WATCH, EpochBegan, Observation
from recorder.model.window import Window
from recorder.sources.tape.export.ports import Past
from recorder.sources.tape.export.stream import (
    RELISTED,
    REWOUND,
    UNKNOWN_VERSION,
    VANISHED,
    CutStream,
)

MOMENT = timedelta(microseconds=1)
FIRST_LIST_MAX = timedelta(minutes=10)
"""How long a first list may take: for a large cluster a minute or two. Within
it, only what comes next shows whether it was complete."""

PAGE = 500
"""Documents of a made page, as of a list of the API server."""

_GONE = frozenset({Operation.DELETED, Operation.ABSENT})


class Start:
    """What a tape begins with; known before the first line is written."""

    def __init__(
        self, past: Past, streams: Sequence[CutStream], window: Window
    ) -> None:
        self._past = past
        self._streams = [s for s in streams if s.stream.source == WATCH]
        self._window = window
        self._lists: list[tuple[datetime, CutStream, str]] = []
        self._openings: list[tuple[datetime, CutStream, Gap]] = []
        self._others: list[Observation] = []
        self._shown: dict[tuple[str, str], dict[str, int]] = {}
        """Objects shown by lists that were incomplete at the start."""

    @property
    def at(self) -> datetime | None:
        """When the tape begins; None if nothing was ever listed."""
        times = [at for at, _, _ in self._lists]
        times += [o.observed_at for o in self._others]
        times += [
            stream.stream.began_at
            for stream in self._streams
            if stream.stream.began_at is not None
        ]
        return min(times, default=None)

    def later(self) -> list[CutStream]:
        """Return the streams whose first list is in the window, in order."""
        since, until = self._window.since, self._window.until
        found = [
            (stream.stream.began_at, stream.stream.resource, stream)
            for stream in self._streams
            if stream.stream.began_at is not None
            and (since is None or stream.stream.began_at >= since)
            and (until is None or stream.stream.began_at < until)
        ]
        return [stream for _, _, stream in sorted(found, key=lambda f: f[:2])]

    async def prepare(self, event_ttl: timedelta) -> tuple[int, int]:
        """Find what was alive, and which gaps were open.

        Returns the first and the last position of the window.
        """
        since = self._window.since
        first, last = await self._past.span(self._window)
        await self._look_at_gaps(first)
        if since is not None:
            await self._look_at_objects(first)
            await self._look_at_events(since - event_ttl, first)
            await self._look_at_openings(first)
        later = {id(stream) for stream in self.later()}
        for stream in self._streams:
            began = stream.stream.began_at
            if since is not None and began is not None and began < since:
                self._lists.append(self._list_of(stream, since))
            elif id(stream) not in later:
                self._others.extend(self._not_listed(stream))
        return first, last

    async def frames(self) -> AsyncIterator[Observation]:
        """Yield the frames, in the order of their times."""
        for observation in self._others:
            yield observation
        things = [(at, 0, n) for n, (at, _, _) in enumerate(self._lists)]
        things += [(at, 1, n) for n, (at, _, _) in enumerate(self._openings)]
        rewound: set[datetime] = set()
        for at, what, number in sorted(things):
            if what == 0:
                _, stream, version = self._lists[number]
                async for page in self._made(stream, at, version):
                    yield page
                continue
            _, stream, gap = self._openings[number]
            if gap.reason == REWOUND and at not in rewound:
                rewound.add(at)
                yield EpochBegan(observed_at=at, reason=REWOUND)
            for observation in stream.opening(gap, at):
                yield observation
            async for page in self._relisted(stream, gap):
                yield page

    async def _relisted(
        self, stream: CutStream, gap: Gap
    ) -> AsyncIterator[Observation]:
        """Make the pages of a list that was incomplete at the start."""
        since, shown = self._window.since, self._shown.get(stream.key)
        assert since is not None, "only then gaps reach into the window"
        if not shown:
            return
        stream.listing = stream.list_version(gap.opened.position)
        async for page in made_pages(
            self._past,
            stream,
            sorted(shown.values()),
            at=min(gap.until or since, since - MOMENT),
            is_whole=False,
        ):
            yield page
        stream.listed.update(shown)

    async def _made(
        self, stream: CutStream, at: datetime, version: str
    ) -> AsyncIterator[Observation]:
        is_first = self._may_be_listing(stream)
        if is_first:
            # Nothing that it has shown is newer than itself; the rest came
            # since.
            version = _newer(version, stream.list_version(0))
        stream.listing = version
        shown = self._shown.get(stream.key, {})
        positions = sorted(
            position
            for thing, position in stream.alive.items()
            if thing not in shown
        )
        async for page in made_pages(
            self._past, stream, positions, at=at, is_whole=not is_first
        ):
            yield page
        if is_first:
            stream.listed.update(stream.alive)
            return
        stream.listed_whole()
        if self._is_vanished(stream):
            yield stream.vanish(at)

    def _may_be_listing(self, stream: CutStream) -> bool:
        """Return whether the window may begin within the first list."""
        since, began = self._window.since, stream.stream.began_at
        assert since is not None, "only then lists are made"
        assert began is not None, "it was listed before the window"
        if since - began >= FIRST_LIST_MAX or self._is_vanished(stream):
            return False
        # A gap that begins at any other proof shows that it was complete.
        proved = any(
            g.since not in {None, began} and g.since < since
            for g in stream.gaps
            if g.since is not None
        )
        return not proved and all(
            s is not stream for _, s, _ in self._openings
        )

    def _is_vanished(self, stream: CutStream) -> bool:
        """Return whether the kind was not served when the window began.

        Either it never was again, or the list with which it returned opened a
        gap with no known version before it.
        """
        since = self._window.since
        assert since is not None, "only then lists are made"
        for gap in stream.gaps:
            if gap.reason == VANISHED:
                return False
            if gap.reason == RELISTED and gap.resource_version_before is None:
                return gap.since is not None and gap.since < since
        return stream.stream.state == "absent"

    def _list_of(
        self, stream: CutStream, since: datetime
    ) -> tuple[datetime, CutStream, str]:
        """Decide the time of the made list of a stream, and its version."""
        at, version = since - MOMENT, stream.version or UNKNOWN_VERSION
        recorded = stream.stream
        reaching = [g for g in stream.gaps if g.since and g.since < since]
        if reaching:
            gap = reaching[0]
            at = min(at, gap.since or at)
            version = gap.resource_version_before or version
        elif recorded.vouched_until is not None:
            at = min(at, recorded.vouched_until)
        assert recorded.began_at is not None, "it was listed before the window"
        return max(at, recorded.began_at), stream, version

    def _not_listed(self, stream: CutStream) -> Iterable[Observation]:
        """Yield a stream that has no list in the window or before it."""
        at = self._window.since
        if at is None and stream.stream.began_at is not None:
            # No source reports since when it should have been recorded.
            return
        at = at or self._window.until or stream.stream.vouched_until
        if at is None or any(stream is s for _, s, _ in self._openings):
            return
        if stream.stream.state == "absent":
            yield stream.failed(at - MOMENT, 404, "not found")
        else:
            yield stream.closed(at - MOMENT, "its first list is not complete")

    async def _look_at_gaps(self, first: int) -> None:
        """Find the gaps that end in the window or after it."""
        streams = {s.key: s for s in self._streams}
        async for page in self._past.gap_ends(first):
            for line in page:
                stream = streams.get((line.source, line.resource or ""))
                if stream is not None:
                    stream.gaps.append(
                        Gap.from_closed(
                            line.raw or b"{}",
                            source=line.source,
                            resource=line.resource or "",
                        )
                    )
        for stream in self._streams:
            if stream.stream.gap is not None:
                stream.gaps.append(stream.stream.gap)

    async def _look_at_objects(self, first: int) -> None:
        by_resource = {s.stream.resource: s for s in self._streams}
        async for page in self._past.alive(first):
            for thing in page:
                stream = by_resource.get(thing.resource)
                if stream is None:
                    continue
                stream.alive[thing.thing] = thing.position
                if thing.kind != stream.resource.plural:
                    stream.kind = thing.kind
                stream.version = _newer(stream.version, thing.version)
                if thing.is_listed:
                    self._show(stream, thing.thing, thing.position, first)

    async def _look_at_events(self, since: datetime, first: int) -> None:
        by_resource = {s.stream.resource: s for s in self._streams}
        async for page in self._past.events(since, first):
            for line in page:
                stream = by_resource.get(line.resource or "")
                if stream is None:
                    continue
                uid = note_event(stream, line)
                self._shown.get(stream.key, {}).pop(uid, None)
                if line.operation is Operation.LISTED:
                    self._show(stream, uid, line.entry.position, first)

    def _show(
        self, stream: CutStream, thing: str, position: int, first: int
    ) -> None:
        """Note a listed object, if the list is incomplete."""
        for gap in stream.gaps:
            if gap.opened.position < first and gap.opened.position < position:
                self._shown.setdefault(stream.key, {})[thing] = position

    async def _look_at_openings(self, first: int) -> None:
        """Find when the gaps that reach into the window were opened."""
        reaching = {
            gap.opened.position: (stream, gap)
            for stream in self._streams
            for gap in stream.gaps
            if gap.opened.position < first
        }
        observed = await self._past.observed(reaching)
        for position, at in observed.items():
            stream, gap = reaching[position]
            self._openings.append((at, stream, gap))


async def made_pages(
    past: Past,
    stream: CutStream,
    positions: Sequence[int],
    *,
    at: datetime,
    is_whole: bool = True,
) -> AsyncIterator[Observation]:
    """Make the last pages of a list from the documents of entries.

    More pages follow unless ``is_whole``.
    """
    starts = range(0, max(len(positions), 1), PAGE)
    for start in starts:
        wanted = positions[start : start + PAGE]
        found = await past.documents(wanted)
        is_last = start == starts[-1]
        yield stream.page(
            at,
            [found[position] for position in wanted],
            more=not (is_last and is_whole),
            made=True,
            kind="Event" if stream.is_events else None,
        )


def note_event(stream: CutStream, line: Entry) -> str:
    """Note the Event of an entry; return its UID."""
    if line.operation is Operation.ABSENT:
        uid = str(orjson.loads(line.raw or b"{}").get("uid"))
    else:
        head = read_head(line.raw or b"{}")
        uid = head.uid or f"{head.namespace or ''}/{head.name or ''}"
    if line.operation in _GONE:
        stream.alive.pop(uid, None)
    else:
        stream.alive[uid] = line.entry.position
    stream.version = _newer(stream.version, line.resource_version or "")
    return uid


def _newer(ours: str, theirs: str) -> str:
    if not theirs.isdecimal():
        return ours
    return theirs if not ours or int(theirs) > int(ours) else ours
