"""Archived days derived anew: facts by today's rules beside those archived.

Nothing that is in the archive is replaced. The facts of a day count once the
database knows their manifest, which is written last; who begins again goes on
with the first day that has none. Facts that lie there and that the database
does not know are compared before it takes them.
"""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import asyncpg

from recorder import __version__
from recorder.admin.following_days import (
    ArchivedSaid,
    FollowedDays,
    opened_day,
    windows_of,
)
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
from recorder.archive.kept import check_kept, day_at
from recorder.archive.manifest import Manifest
from recorder.archive.ordered import OrderedDay
from recorder.archive.place import Place
from recorder.archive.sorting import Sorted, write_rows
from recorder.archive.verifying import verify_day
from recorder.errors import LogError
from recorder.facts import DERIVATION
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
from recorder.store.translate import translate_errors

__all__ = ["RederivedArchive", "day_of", "rederive_archive"]

OnProgress = Callable[[int, int], None]


class RederivingArchiveError(LogError):
    """The facts of an archive cannot be derived anew now."""

    code = "log.rederiving"


@dataclass(slots=True, kw_only=True)
class RederivedArchive:
    """What became of it."""

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
                raise RederivingArchiveError(msg)
            work = _Work(connection, log, on_progress)
            return await work.run(days, stop)
        finally:
            connection.terminate()


class _Work:
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
                self._tell(manifest.entries)
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
                self._tell(window_of[1] - window_of[0])
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
        """Take facts that lie there, if they are what the entries tell."""
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
                self._tell(window[1] - window[0])
        return known.sha256

    def _tell(self, entries: int) -> None:
        self._passed += entries
        if self._on_progress is not None:
            self._on_progress(self._passed, self._total)


SCHEMAS = {"objects": OBJECTS, "nodes": NODES, "words": WORDS}


def day_of(day: OldDay) -> tuple[Place, str, Manifest]:
    """Return where a day is, and its manifest, which is as it was.

    Raises:
        ArchiveError: it is not.
        PlaceError: the archive cannot be read.
    """
    assert day.uri is not None, "it was archived"
    assert day.sha256 is not None, "it has a manifest"
    place, folder = day_at(day.uri)
    return place, folder, check_kept(place, folder, day.sha256)


def _is_current(day: OldDay, manifest: Manifest) -> bool:
    return manifest.rules == DERIVATION or DERIVATION in (day.rules or ())
