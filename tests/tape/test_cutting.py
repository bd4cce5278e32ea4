"""A tape cut out of a log agrees with the log within its window.

For stories of all kinds, without a database: entries are made by intake, cut,
written to a line and read back, and made into entries again.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import orjson
import pytest
from msgspec.structs import asdict

from recorder.answers.nouns import is_about_events
from recorder.answers.ports import Reading
from recorder.facts.coverage.coverage import covered
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import Stream
from recorder.model.document import plain
from recorder.model.entry import Draft, Entry, Operation
from recorder.model.observation import ClockJumped, Observation
from recorder.model.reference import EntryName, Resource
from recorder.model.window import Window
from recorder.sources.tape.export.frames import Cutting
from recorder.sources.tape.export.stream import CutStream
from recorder.sources.tape.frames import observation_of
from recorder.sources.tape.lines import line_of
from recorder.store.read_cut import Alive
from tests.coverage.judging import LIVE, CoveredLog
from tests.support.builders import PODS, a_frame, a_list, an_object, at
from tests.support.story import TTL, Story
from tests.tape.worlds import a_story

LONG_AFTER = at(10**6)
VERSIONS = {"listed", "added", "modified", "deleted", "absent", "renewed"}
GONE = {Operation.DELETED, Operation.ABSENT}


class Past:
    """A story as the log that a tape is cut out of."""

    def __init__(self, story: Story) -> None:
        self.found = [
            a_line(position, draft)
            for position, draft in enumerate(story.drafts, 1)
        ]

    async def span(self, window: Window) -> tuple[int, int]:
        first = next(
            (
                line.entry.position
                for line in self.found
                if lies(line.observed_at, window.since, None)
            ),
            len(self.found) + 1,
        )
        last = max(
            (
                line.entry.position
                for line in self.found
                if lies(line.observed_at, None, window.until)
                and line.operation is not Operation.RENEWED
            ),
            default=0,
        )
        return first, last

    async def alive(self, before: int) -> AsyncIterator[Sequence[Alive]]:
        newest: dict[Any, Entry] = {}
        past = self.found[: before - 1]
        for line in sorted(past, key=lambda line: line.observed_at):
            if self._is_version(line):
                newest[line.identity] = line
        yield [
            Alive(
                line.entry.position,
                line.resource or "",
                identity.kind,
                identity.uid or f"{identity.namespace}/{identity.name}",
                line.resource_version or "",
                line.operation is Operation.LISTED,
            )
            for identity, line in newest.items()
            if line.operation not in GONE
        ]

    def _is_version(self, line: Entry) -> bool:
        return (
            line.operation.value in VERSIONS
            and line.identity is not None
            and not is_about_events(line.resource)
        )

    async def events(
        self, since: datetime, before: int
    ) -> AsyncIterator[Sequence[Entry]]:
        yield [
            line
            for line in self.found[: before - 1]
            if since <= line.observed_at
            and is_about_events(line.resource)
            and line.operation.value in VERSIONS
        ]

    async def gap_ends(self, first: int) -> AsyncIterator[Sequence[Entry]]:
        yield [
            line
            for line in self.found[first - 1 :]
            if line.operation is Operation.GAP_CLOSED
        ]

    async def lines(
        self, window: Window, first: int, last: int
    ) -> AsyncIterator[Sequence[Entry]]:
        yield [
            line
            for line in self.found
            if first <= line.entry.position <= last
            or (
                line.operation is Operation.RENEWED
                and lies(line.observed_at, window.since, window.until)
            )
        ]

    async def documents(
        self, positions: Collection[int]
    ) -> Mapping[int, bytes]:
        return {p: self.found[p - 1].raw for p in positions}

    async def observed(
        self, positions: Collection[int]
    ) -> Mapping[int, datetime]:
        return {p: self.found[p - 1].observed_at for p in positions}


def a_line(position: int, draft: Draft) -> Entry:
    return Entry(
        entry=EntryName(1, position),
        recorded_at=draft.observed_at,
        epoch=1,
        **asdict(draft),
    )


def lies(
    when: datetime, since: datetime | None, until: datetime | None
) -> bool:
    return (since is None or when >= since) and (until is None or when < until)


def streams_of(story: Story) -> list[Stream]:
    return [
        Stream(
            source=source,
            resource=resource,
            state=point.state.value,
            began_at=point.began_at,
            began_version=point.began_version,
            vouched_until=point.vouched_until,
            gap=None
            if point.gap is None
            else Gap.still_open(
                opened=EntryName(1, point.gap.position),
                stream=(source, resource),
                since=point.gap.since,
                reason=point.gap.reason,
                version=point.gap.resource_version,
            ),
        )
        for (source, resource), point in story.log.streams.items()
    ]


def gaps_of(story: Story) -> list[Gap]:
    return [
        Gap.from_closed(
            draft.raw, source=draft.source, resource=draft.resource or ""
        )
        for draft in story.of("gap-closed")
    ]


def cut(story: Story, window: Window) -> list[Observation]:
    """Cut a window, write it and read it back."""
    cut_streams = [
        CutStream(stream=stream, resource=Resource.parse(stream.resource))
        for stream in sorted(streams_of(story), key=lambda s: s.resource)
    ]
    cutting = Cutting(Past(story), cut_streams, window)

    async def frames() -> list[Observation]:
        await cutting.prepare(TTL)
        return [frame async for frame in cutting.frames()]

    lines = [line_of(frame) for frame in asyncio.run(frames())]
    return [observation_of(line.rstrip()) for line in lines if line]


def events_of(story: Story, window: Window) -> dict[Any, list[Any]]:
    """Return the entries of a window by object, in order."""
    found: dict[Any, list[Any]] = defaultdict(list)
    for draft in story.drafts:
        if not lies(draft.observed_at, window.since, window.until):
            continue
        found[draft.resource, draft.identity].append(
            (
                draft.operation.value,
                draft.resource_version,
                draft.observed_at,
                said(draft, is_cut=window.until is not None),
            )
        )
    return dict(found)


def said(draft: Draft, *, is_cut: bool) -> Any:
    if draft.operation.value in VERSIONS - {"absent"}:
        return draft.raw
    document = orjson.loads(draft.raw)
    # Names and numbers of the log itself.
    for name in ("last", "opened", "epoch", "resource_version_before"):
        if name != "resource_version_before" or "last" in draft.raw.decode():
            document.pop(name, None)
    if document.get("reason") == "undecodable input":
        # The version of the frame before, which may have been a bookmark.
        document.pop("resource_version_after", None)
    if is_cut and document.get("possible"):
        # A window may end within a list, which then shows less.
        document["proved"] = document["possible"] = "something"
    return document


def incomplete(story: Story, window: Window) -> set[str | None]:
    """The resources from which something may be missing in a window."""
    reading = CoveredLog(*streams_of(story), gaps=gaps_of(story), log=LIVE)
    coverage = asyncio.run(
        covered(cast("Reading", reading), window, now=LONG_AFTER)
    )
    return {gap["resource"] for gap in plain(coverage)["gaps"]}


def windows(story: Story) -> list[Window]:
    times = sorted({draft.observed_at for draft in story.drafts})
    ends = [*times[1 :: max(1, len(times) // 6)], None]
    return [
        Window(since, until)
        for since in [None, *ends[:-1]]
        for until in ends
        if since is None or until is None or since < until
    ]


@pytest.mark.parametrize("seed", range(40))
def test_a_window_on_tape_holds_what_the_log_holds(seed: int) -> None:
    story = Story(*a_story(seed))
    for window in windows(story):
        played = Story(*cut(story, window))

        assert events_of(played, window) == events_of(story, window), window


@pytest.mark.parametrize("seed", range(40))
def test_a_window_on_tape_lacks_what_the_log_lacks(seed: int) -> None:
    story = Story(*a_story(seed))
    for window in windows(story):
        if window.until is None:
            continue
        frames = cut(story, window)
        if not frames:
            continue
        played = Story(*frames)

        # A kind that is no longer served hides what was missing of it when
        # it still was.
        left = {s.resource for s in streams_of(story) if s.state == "absent"}
        # What began after the window is not on its tape.
        left |= {
            s.resource
            for s in streams_of(story)
            if s.began_at is not None and s.began_at >= window.until
        }
        assert (
            incomplete(played, window) - left
            == incomplete(story, window) - left
        ), window


def test_a_cut_is_the_same_each_time() -> None:
    story = Story(*a_story(1))
    window = windows(story)[-1]

    assert cut(story, window) == cut(story, window)


def test_a_jump_of_the_clock_is_counted() -> None:
    story = Story(
        a_list(PODS, 10, an_object("a", 3)),
        ClockJumped(observed_at=at(1), seconds=5),
        a_frame(PODS, "MODIFIED", an_object("a", 12), when=2),
    )
    (stream,) = streams_of(story)
    streams = [CutStream(stream=stream, resource=PODS)]
    cutting = Cutting(Past(story), streams, Window())

    async def run() -> None:
        await cutting.prepare(TTL)
        async for _ in cutting.frames():
            pass

    asyncio.run(run())

    assert (cutting.entries, cutting.without_frame) == (3, 1)
