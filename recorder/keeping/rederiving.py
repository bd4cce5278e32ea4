"""Facts derived again, by the rules of this release.

Those in the database by a process for each core, beside the facts that
answers are made from. Each process reports after every window how far it is;
what it committed is kept, so that the next run resumes there.

Those of archived days in a folder beside each day; nothing that is in the
archive is replaced. The facts of a day count once the database knows their
manifest, which is written last; the next run resumes with the first day that
has none. Facts that lie there and that the database does not know are
compared before it takes them.
"""

import asyncio
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import asyncpg

from recorder import __version__
from recorder.archive.columns import (
    FACTS_ORDER,
    NODES,
    OBJECTS,
    WORDS,
    schema_of,
)
from recorder.archive.errors import ArchiveError
from recorder.archive.facts_set import (
    FactsManifest,
    FactsSet,
    check_facts,
    own_facts,
    read_facts,
    write_facts,
)
from recorder.archive.manifest import Manifest
from recorder.archive.ordered import OrderedDay
from recorder.archive.place import Place
from recorder.archive.sorting import Sorted, write_rows
from recorder.archive.verifying import verify_day
from recorder.facts import DERIVATION
from recorder.keeping.following_days import (
    ArchivedSaid,
    FollowedDays,
    day_of,
    opened_day,
    windows_of,
)
from recorder.keeping.workers import Report, in_processes
from recorder.model.errors import LogError
from recorder.store.checking_facts import WindowChecker
from recorder.store.later_facts import (
    DayNames,
    LaterFacts,
    OldDay,
    columns_of_facts,
    note_later_facts,
    old_days,
    try_lock,
)
from recorder.store.long_work import connect_to
from recorder.store.rederivation import LAST_MAX, Builder, Part, Rederivation
from recorder.store.translate import translate_errors

MANY = 50_000
"""Entries that are worth another process, which takes a second to begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rederiving:
    """Options of the work."""

    again: bool = False
    """Even where every entry has its facts by our rules."""

    processes: int = 0
    """0 for one for each core."""

    many: int = MANY
    on_progress: Callable[[int, int], None] | None = None
    """Receives the number of entries done, and their total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rederived:
    """Its result."""

    derivation: int | None
    """The derivation that answers are made from now; None if nothing was to
    be done, or it was stopped."""

    entries: int
    stopped: bool = False


async def rederive(
    dsn: str, log: int, how: Rederiving, stop: asyncio.Event
) -> Rederived:
    """Derive the facts of a log again, and answer from them at once.

    A recorder may write the log meanwhile. If this ends early, the next run
    resumes it; answers do not change before the last step.

    Raises:
        LogError: another process does it already, or PostgreSQL refused.
        LogUnavailableError: PostgreSQL is away; begin again.
    """
    with translate_errors("rebuild the facts"):
        connection = await connect_to(dsn)
        try:
            work = _Work(dsn, log, how, Rederivation(connection, log))
            return await work.run(stop)
        finally:
            connection.terminate()


class _Work:
    """One run, from where the last one ended."""

    def __init__(
        self, dsn: str, log: int, how: Rederiving, building: Rederivation
    ) -> None:
        self._dsn = dsn
        self._log = log
        self._how = how
        self._building = building
        self._processes = how.processes or os.cpu_count() or 1

    async def run(self, stop: asyncio.Event) -> Rederived:
        building = self._building
        state = await building.state()
        if state.is_current and state.building is None and not self._how.again:
            return Rederived(derivation=None, entries=state.size)
        await building.begin()
        place, heads = await self._in_parts(stop)
        if stop.is_set():
            return Rederived(derivation=None, entries=place, stopped=True)
        return await self._to_the_end(place, heads, stop)

    async def _in_parts(
        self, stop: asyncio.Event
    ) -> tuple[int, dict[int, int] | None]:
        """Build until little is left; return how far, and the heads there."""
        building = self._building
        heads: dict[int, int] | None = None
        while not stop.is_set():
            parts = await building.parts()
            pruned = (await building.state()).pruned
            covered = max((part.until for part in parts), default=pruned)
            todo = [part for part in parts if part.left]
            if not todo:
                size = (await building.state()).size
                if size - covered <= self._how.many:
                    return covered, heads
                covered, heads = await building.present()
                await building.add_parts(covered, self._processes)
                parts = await building.parts()
                todo = [part for part in parts if part.left]
            else:
                heads = None
            await self._build(todo, stop, covered)
        return sum(p.built_to - p.after for p in await building.parts()), None

    async def _to_the_end(
        self,
        covered: int,
        heads: dict[int, int] | None,
        stop: asyncio.Event,
    ) -> Rederived:
        building = self._building
        if not await building.parts():
            await building.add_parts(covered, 1)
        *_, last = await building.parts()
        builder = await building.builder(last, heads)
        while not stop.is_set():
            size = (await building.state()).size
            self._report(builder.built_to, size)
            if size - builder.built_to > LAST_MAX:
                await builder.step(size)
            elif await building.finish(builder):
                return Rederived(
                    derivation=building.number, entries=builder.built_to
                )
        return Rederived(
            derivation=None, entries=builder.built_to, stopped=True
        )

    async def _build(
        self, todo: Sequence[Part], stop: asyncio.Event, size: int
    ) -> None:
        """Let processes build parts, no more at once than there are cores."""
        done = size - sum(part.left for part in todo)
        at = [part.built_to for part in todo]
        began = sum(at)
        number = self._building.number
        jobs = [(self._dsn, self._log, number, part) for part in todo]
        work = in_processes(build_part, jobs, stop, most=self._processes)
        async with aclosing(work) as reports:
            async for job, built_to in reports:
                at[job] = max(at[job], built_to)
                self._report(done + sum(at) - began, size)

    def _report(self, done: int, size: int) -> None:
        if self._how.on_progress is not None:
            self._how.on_progress(done, size)


async def build_part(
    dsn: str, log: int, number: int, part: Part, *, report: Report
) -> None:
    """Build one part, in a process of its own; report how far it is."""
    with translate_errors("rebuild a part of the facts"):
        connection = await connect_to(dsn)
    try:
        with translate_errors("rebuild a part of the facts"):
            builder = await Builder.opened(connection, log, (number, part))
        while builder.built_to < part.until:
            with translate_errors("rebuild a part of the facts"):
                await builder.step(part.until)
            report(builder.built_to)
    finally:
        connection.terminate()


OnProgress = Callable[[int, int], None]


@dataclass(slots=True, kw_only=True)
class RederivedArchive:
    """Its result."""

    days: int = 0
    """That have new facts."""

    entries: int = 0
    stopped: bool = False


async def rederive_archive(
    dsn: str,
    log: int,
    stop: asyncio.Event,
    on_progress: OnProgress | None = None,
) -> RederivedArchive:
    """Derive the facts of all archived days that other rules derived.

    Raises:
        ArchiveError: a day is not what was archived, or one is missing.
        PlaceError: the archive cannot be read or written.
        LogError: another process does it already, or PostgreSQL refused.
    """
    with translate_errors("rebuild the facts of the archive"):
        connection = await connect_to(dsn)
        try:
            days = await old_days(connection, log)
            if not any(day.uri for day in days):
                return RederivedArchive()
            if not await try_lock(connection, log):
                msg = f"the archive of log {log} is already being rebuilt"
                raise LogError(msg, code="log.rederiving")
            work = _ArchiveWork(connection, log, on_progress)
            return await work.run(days, stop)
        finally:
            connection.terminate()


class _ArchiveWork:
    """One run over the days of a log."""

    def __init__(
        self,
        connection: asyncpg.Connection,
        log: int,
        on_progress: OnProgress | None,
    ) -> None:
        self._connection = connection
        self._log = log
        self._on_progress = on_progress
        self._total = 0
        self._passed = 0
        self._done = RederivedArchive()

    async def run(
        self, days: Sequence[OldDay], stop: asyncio.Event
    ) -> RederivedArchive:
        found = [(day, *day_of(day)) for day in days if day.uri is not None]
        if all(_is_current(day, manifest) for day, _, _, manifest in found):
            return self._done
        if len(found) < len(days):
            msg = (
                "cannot rebuild the facts of the archive: days were dropped"
                " that were not archived, and what objects were after them is"
                " not known"
            )
            raise ArchiveError(msg)
        self._total = sum(manifest.entries for *_, manifest in found)
        expected = 1
        for *_, manifest in found:
            if manifest.first_position != expected:
                msg = (
                    f"cannot rebuild the facts of {manifest.day}: the days"
                    " before it are not in the archive"
                )
                raise ArchiveError(msg)
            expected = manifest.last_position + 1
        followed = FollowedDays(found[0][1])
        for day, place, folder, manifest in found:
            verify_day(place, folder, manifest)
            await self._day((place, folder, manifest, day), followed, stop)
            if self._done.stopped:
                break
        return self._done

    async def _day(
        self,
        of: tuple[Place, str, Manifest, OldDay],
        followed: FollowedDays,
        stop: asyncio.Event,
    ) -> None:
        """Derive a day, unless it has facts by our rules."""
        place, folder, manifest, day = of
        own = own_facts(folder, manifest)
        with opened_day(place, folder, manifest, own) as opened:
            followed.enter(opened, folder, manifest)
            if _is_current(day, manifest):
                followed.leave_out(opened)
                self._report(manifest.entries)
                return
            known = read_facts(place, folder, manifest, DERIVATION)
            if known is None:
                sha256 = await self._write(of, opened, followed, stop)
            else:
                sha256 = await self._compare(
                    (place, folder, manifest, known), followed
                )
        if sha256 is None:
            self._done.stopped = True
            return
        await note_later_facts(
            self._connection, self._log, day.name, DERIVATION, sha256
        )
        self._done.days += 1
        self._done.entries += manifest.entries

    async def _write(
        self,
        of: tuple[Place, str, Manifest, OldDay],
        opened: OrderedDay,
        followed: FollowedDays,
        stop: asyncio.Event,
    ) -> str | None:
        """Write the facts of a day; None if it was stopped."""
        place, folder, manifest, day = of
        connection = self._connection
        whose = (
            day.uid,
            manifest.cluster_name,
            date.fromisoformat(manifest.day),
        )
        names = DayNames(
            self._log,
            {
                kind: opened.names(kind)
                for kind in ("objects", "nodes", "words")
            },
        )
        schema = schema_of(await columns_of_facts(connection))
        windows, deriver = followed.deriving()
        later = LaterFacts()
        with tempfile.TemporaryDirectory(prefix="rec-") as scratch:
            rows = Sorted(Path(scratch), "facts", schema, FACTS_ORDER, whose)
            for window_of in windows_of(manifest):
                if stop.is_set():
                    return None
                window = await windows.read(*window_of)
                await deriver.derive(window.batch)
                numbers = await names.numbers(connection, window)
                columns = later.rows(window, numbers, DERIVATION)
                if columns:
                    rows.add(columns)
                self._report(window_of[1] - window_of[0])
            tables = await names.tables(connection)
            said = FactsManifest(
                origin=manifest.origin,
                day=manifest.day,
                rules=DERIVATION,
                facts=0,
                manifest_sha256=day.sha256 or "",
                files=[
                    write_rows(
                        Path(scratch) / f"{kind}.parquet",
                        kinds,
                        tables[kind],
                        whose,
                    )
                    for kind, kinds in SCHEMAS.items()
                ],
                written_at=datetime.now(UTC),
                release=__version__,
            )
            return write_facts(place, folder, Path(scratch), said, rows)

    async def _compare(
        self,
        of: tuple[Place, str, Manifest, FactsSet],
        followed: FollowedDays,
    ) -> str | None:
        """Take facts that lie there, if they follow from the entries."""
        place, folder, manifest, known = of
        check_facts(place, known)
        with opened_day(place, folder, manifest, known) as day:
            checker = WindowChecker(self._log, ArchivedSaid(day))
            deriving = followed.deriving()
            for window in windows_of(manifest):
                one = await checker.check(*deriving, *window)
                if one.problems:
                    msg = (
                        f'the facts in "{place.uri}/{known.folder}" do not'
                        f" match the archived day: {one.problems[0].says};"
                        " move the folder away and run `recorder rederive`"
                        " again"
                    )
                    raise ArchiveError(msg)
                self._report(window[1] - window[0])
        return known.sha256

    def _report(self, entries: int) -> None:
        self._passed += entries
        if self._on_progress is not None:
            self._on_progress(self._passed, self._total)


SCHEMAS = {"objects": OBJECTS, "nodes": NODES, "words": WORDS}


def _is_current(day: OldDay, manifest: Manifest) -> bool:
    return manifest.rules == DERIVATION or DERIVATION in (day.rules or ())
