"""The days of a log in the archive, opened when a question reaches them.

They were dropped, or an earlier release thinned them.

Days are opened without holes, from the first that is needed to the last, and
with earlier ones where that costs nothing: they show what a node or a Pod was
before.
"""

import asyncio
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Sequence,
)
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from recorder.answers.ports import Beside, Reading
from recorder.answers.spanning.reading import SpanningReading
from recorder.archive.errors import ArchiveError
from recorder.archive.place import open_place
from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.ports import (
    Archived,
    ArchivedSpan,
    Log,
    Stream,
    Thinned,
)
from recorder.facts.coverage.unproven import DROPPED
from recorder.model.errors import RecorderError
from recorder.model.moment import FIRST
from recorder.model.window import Window
from recorder.store.archive_engine import ArchiveEngine, Asked
from recorder.store.codes import OPERATION_CODES, SOURCE_CODES
from recorder.store.engine import Engine
from recorder.store.read import LogReading
from recorder.store.read_archived import (
    ArchivedDay,
    archived_standing,
    read_archived,
)
from recorder.store.read_cut import CutReader

BEFORE = 30
"""Earlier days that are opened too, in a folder. From a bucket they would have
to be fetched."""

NEWEST = 31
"""Days that are opened for a question without a beginning."""

NOT_READ = "{days} archived in {place}: not read for this answer"
AWAY = "{days} archived in {place}, which cannot be read: {why}"

SHELVED = 4
"""Sets of days that stay open; each has a few megabytes of names."""

LOGS = 64
"""Logs whose list of days is kept, a few hundred bytes for each day."""


@dataclass(slots=True)
class Shelf:
    """What stays open between two questions to one database."""

    folder: Path
    """Of what is fetched from buckets, and of what DuckDB spills."""

    kept: dict[object, Asked] = field(default_factory=dict)
    days: dict[int, tuple[object, Sequence[ArchivedDay]]] = field(
        default_factory=dict
    )
    """The days of each log, with its state when they were read."""

    def keep(self, key: object, tables: Asked) -> None:
        """Keep days open; those that were used last stay."""
        self.kept.pop(key, None)
        self.kept[key] = tables
        while len(self.kept) > SHELVED:
            del self.kept[next(iter(self.kept))]

    async def days_of(self, engine: Engine, log: int) -> Sequence[ArchivedDay]:
        """Return the days of a log, read again only if there are others.

        Otherwise every question to the database would read all of them.
        """
        standing = await archived_standing(engine, log)
        before, days = self.days.pop(log, (None, ()))
        if before != standing:
            days = await read_archived(engine, log)
        self.days[log] = standing, days
        while len(self.days) > LOGS:
            del self.days[next(iter(self.days))]
        return days


@dataclass(slots=True)
class _Day:
    """A day, and what was found of it."""

    row: ArchivedDay
    found: Any = None
    """The day as it is opened; None until it was searched for."""

    why: str | None = None
    """Why it cannot be read."""

    @property
    def state(self) -> str:
        """Return why it was not read, or nothing if it was."""
        if self.row.uri is None:
            return DROPPED
        if self.why is not None:
            return AWAY
        return NOT_READ if self.found is None else ""


class ArchivedDays:
    """Satisfies the port `Archive`."""

    def __init__(
        self, hot: LogReading, days: Sequence[ArchivedDay], shelf: Shelf
    ) -> None:
        self._hot = hot
        self._days = [_Day(day) for day in days]
        self._shelf = shelf
        self._open = range(0)
        """The days that were asked for, by their place in the list."""

        self._lock = asyncio.Lock()
        self.opened: Reading | None = None
        dropped = [day for day in days if not day.is_here]
        self.last_position = max(day.last_position for day in days)
        self.dropped_position = max(
            (day.last_position for day in dropped), default=0
        )
        self.until = max((day.observed_max for day in dropped), default=FIRST)
        """Nothing that was dropped was observed later."""

        # A tape has an end: its later entries are those of retention.
        self._is_all = hot.log.is_tape or self.dropped_position >= hot.log.size

    @property
    def holds_days(self) -> bool:
        """Whether days are open that are not in the database."""
        return any(not self._days[number].row.is_here for number in self._open)

    async def reach(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Open the days of a time that were dropped, and some before them."""
        if since is None:
            in_archive = until is not None and until <= self.until
            if not (self._is_all or in_archive):
                return
            touched = [*self._touched(None, until)][-NEWEST:]
        else:
            touched = [*self._touched(since, until)]
        if touched:
            await self._widen(range(touched[0], touched[-1] + 1))

    async def reach_thinned(
        self, since: datetime | None, until: datetime | None
    ) -> None:
        """Open the days of a time whose entries were removed before they were.

        Without a beginning nothing is opened: the question is about what
        the database still has.
        """
        if since is None:
            return
        touched = [*self._touched(since, until, is_here=True)]
        if touched:
            await self._widen(range(touched[0], touched[-1] + 1), before=0)

    async def reach_position(self, position: int) -> None:
        """Open the day of an entry that is not in the database."""
        for number, day in enumerate(self._days):
            row = day.row
            if row.first_position <= position <= row.last_position and (
                not row.is_here or await self._hot.was_removed(position)
            ):
                await self._widen(range(number, number + 1))

    async def reach_back(self) -> bool:
        """Open days before those that are open; return if there were any."""
        if not self._open or not self._open.start:
            return False
        first = max(0, self._open.start - len(self._open))
        await self._widen(range(first, self._open.start))
        return True

    def archived(self, window: Window, thinned: Sequence[Thinned]) -> Archived:
        """Return what of a window was read, and what cannot be read.

        Entries removed from days in the database are listed if they were not
        read.
        """
        asked = {*self._open}
        if window.since is not None:
            since, until = window.since, window.until
            asked &= {*self._touched(since, until, is_here=True)}
            asked |= {*self._touched(since, until)}
        failed = {n for n in self._open if self._days[n].why is not None}
        days = [
            day
            for number in sorted(asked | failed)
            if not ((day := self._days[number]).row.is_here and day.state)
        ]
        read: list[ArchivedSpan] = []
        holes: list[Hole] = []
        for (state, place), group in groupby(
            days, key=lambda day: (day.state, day.row.place)
        ):
            some = [*group]
            since, until = _span(some, window)
            if not state:
                read.append(
                    ArchivedSpan(since=since, until=until, place=place)
                )
                continue
            reason = state.format(
                days=_named(some), place=place, why=some[0].why
            )
            holes.append(
                Hole(
                    since=since, until=until, source="recorder", reason=reason
                )
            )
        begins = self._begins(window.until) if window.since is None else None
        return Archived(read, holes, [*self._unread(thinned)], begins)

    def _begins(self, until: datetime | None) -> datetime | None:
        """Return the end of the dropped days that are not open, if any are."""
        return max(
            (
                self._days[number].row.upper
                for number in self._touched(None, until)
                if number not in self._open
            ),
            default=None,
        )

    def _unread(self, thinned: Sequence[Thinned]) -> Iterator[Thinned]:
        """Yield what thinned days lack and was not read."""
        found = {
            self._days[number].row.name: self._days[number]
            for number in self._open
        }
        for one in thinned:
            day = found.get(one.day)
            if day is None:
                yield one
            elif day.why is not None:
                why = f"{one.archive}, which cannot be read: {day.why}"
                yield replace(one, archive=why)

    def _touched(
        self,
        since: datetime | None,
        until: datetime | None,
        *,
        is_here: bool = False,
    ) -> Iterator[int]:
        for number, day in enumerate(self._days):
            if day.row.is_here is not is_here:
                continue
            if (since is None or day.row.observed_max >= since) and (
                until is None or day.row.observed_min <= until
            ):
                yield number

    async def _widen(self, asked: range, before: int = BEFORE) -> None:
        """Open days, and all between them and those that are open.

        Open ``before`` earlier days too, where that costs nothing.
        """
        async with self._lock:
            if self._holds(asked):
                return
            wanted = _joined(self._open, asked)
            new = [self._days[n] for n in wanted if self._is_new(n)]
            if await asyncio.to_thread(_find_days, new, self._shelf.folder):
                first = max(0, asked.start - before)
                wanted = _joined(wanted, range(first, asked.stop))
                more = [self._days[n] for n in wanted if self._is_new(n)]
                await asyncio.to_thread(
                    _find_days, more, self._shelf.folder, hashed=False
                )
            self._open = wanted
            days = [self._days[number] for number in wanted]
            hot = self._hot
            tables = await asyncio.to_thread(
                _read_days,
                days,
                hot.log.id,
                hot.log.derivation or 0,
                self._shelf,
            )
            if tables is not None:
                self.opened = hot.elsewhere(ArchiveEngine(tables))

    def _holds(self, asked: range) -> bool:
        return all(
            number in self._open and not self._is_new(number)
            for number in asked
        )

    def _is_new(self, number: int) -> bool:
        return self._days[number].state == NOT_READ


class ArchivedReading(SpanningReading):
    """One log with days, or entries removed from days, in the archive."""

    def __init__(
        self,
        hot: LogReading,
        archive: ArchivedDays,
        *,
        log: Log | None = None,
        streams: Sequence[Stream] | None = None,
    ) -> None:
        super().__init__(hot, archive, log=log, streams=streams)
        self._database = hot
        self.days = archive

    @property
    def others(self) -> Callable[[], Awaitable[Beside]] | None:
        """What returns the logs of other clusters, if not this database."""
        return self._database.others

    @others.setter
    def others(self, others: Callable[[], Awaitable[Beside]]) -> None:
        self._database.others = others

    async def past(self, nodes: Collection[str], window: Window) -> CutReader:
        """Return a reader that cuts a tape from the days in the database."""
        return await self._database.past(nodes, window)


def _find_days(
    days: Sequence[_Day], folder: Path, *, hashed: bool = True
) -> bool:
    """Find days; return whether none of their files must be fetched."""
    from recorder.archive.opening import (  # noqa: PLC0415 - heavy
        is_near,
        open_day,
    )

    near = True
    for day in days:
        row = day.row
        if row.uri is None or row.sha256 is None:
            continue
        try:
            place = open_place(row.place)
            near = near and is_near(place)
            found = open_day(
                place,
                row.folder,
                row.sha256,
                span=(row.lower, row.upper),
                cache=folder / "fetched",
                hashed=hashed,
                later=_later(row),
            )
            day.found = replace(found, only_statements=row.is_here)
        except RecorderError as exc:
            day.why = str(exc)
    return near


def _later(row: ArchivedDay) -> tuple[int, str] | None:
    """Return the rules and the digest of facts that were derived later."""
    if row.later_rules is None or row.later_sha256 is None:
        return None
    return row.later_rules, row.later_sha256


def _read_days(
    days: Sequence[_Day], log: int, derivation: int, shelf: Shelf
) -> Asked | None:
    """Return the tables of those days that can be read, if any can.

    A day that cannot be opened has the reason afterwards.
    """
    while True:
        there = [day for day in days if day.found is not None and not day.why]
        if not there:
            return None
        shown = (
            (day.row.sha256, day.row.later_sha256, day.row.is_here)
            for day in there
        )
        key = log, derivation, *shown
        known = shelf.kept.get(key)
        if known is None:
            known = _tables(
                there,
                log,
                derivation,
                shelf.folder,
            )
        if known is not None:
            shelf.keep(key, known)
            return known


def _tables(
    there: Sequence[_Day], log: int, derivation: int, folder: Path
) -> Asked | None:
    from recorder.archive.tables import (  # noqa: PLC0415 - heavy
        ArchiveTables,
        Codes,
    )

    codes = Codes(int(log), derivation, OPERATION_CODES, SOURCE_CODES)
    found = [day.found for day in there]
    try:
        return ArchiveTables(found, codes, folder / "spilled")
    except ArchiveError as exc:
        for day in there:
            # One of them cannot be opened: it is found by opening each.
            try:
                ArchiveTables([day.found], codes, folder / "spilled").close()
            except ArchiveError as own:
                day.why = str(own)
        if not any(day.why for day in there):
            for day in there:
                day.why = str(exc)
        return None


def _joined(first: range, second: range) -> range:
    if not first:
        return second
    return range(min(first.start, second.start), max(first.stop, second.stop))


def _named(days: Sequence[_Day]) -> str:
    """Name days by their dates."""
    first, last = (f"{day.row.lower:%Y-%m-%d}" for day in (days[0], days[-1]))
    return (
        f"the day {first} is"
        if first == last
        else f"days {first} to {last} are"
    )


def _span(days: Sequence[_Day], window: Window) -> tuple[datetime, datetime]:
    """Return when days were observed, within a window."""
    since = min(day.row.observed_min for day in days)
    until = max(day.row.observed_max for day in days)
    if window.since is not None:
        since = min(max(since, window.since), until)
    if window.until is not None:
        until = max(min(until, window.until), since)
    return since, until
