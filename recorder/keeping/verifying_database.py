"""A log in the database, read to be verified.

Rows are read by a process for each core, span by span, and facts likewise.
What was found is kept after every span, so that an interrupted run is
resumed. Batches that an older release wrote without hashes are sealed on the
way.

Hashes prove what is there. That something is missing follows from what else
knows of it: the rows of archived days, and the places of what was signed.
Entries that were carried forward of dropped days have no hashes here: they
are compared with the archive, which `verify --archive` proves.

Hashes prove rows as one role reads them. A policy, a view or a function can
show another role other rows, so `verify_database` compares the catalog with
what the migrations make, and the bounds of days with their batches.
"""

import asyncio
import os
from collections.abc import (
    AsyncIterator,
    Collection,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import aclosing
from random import Random

import asyncpg

from recorder.archive.verifying import leaf_of_row
from recorder.facts.coverage.ports import Log
from recorder.integrity.catalog import differences
from recorder.integrity.chain import Chain, Problem
from recorder.integrity.tree import CompactRange, ProofError
from recorder.integrity.verified import Altered, Verified, VerifiedDatabase
from recorder.keeping.checking import (
    Progress,
    Span,
    check_span,
    check_spans,
    spans_of,
)
from recorder.keeping.continuing import forks
from recorder.keeping.following_days import day_of, opened_day
from recorder.keeping.presence import absences
from recorder.keeping.verifying import KeptLog, Verifying, verify_kept
from recorder.keeping.verifying_facts import verify_facts
from recorder.keeping.workers import in_processes
from recorder.model.errors import RecorderError
from recorder.store.checking import leaf_of_entry
from recorder.store.checking_heads import check_heads, check_resume_points
from recorder.store.entry_drafts import EntryDrafts, UnreadableEntryError
from recorder.store.later_facts import OldDay, old_days
from recorder.store.long_work import connect_to
from recorder.store.read_batches import (
    DroppedDay,
    LogEnd,
    dropped_days,
    headers,
    read_end,
)
from recorder.store.read_catalog import made_catalog, read_catalog
from recorder.store.read_hold_entries import hold_problems
from recorder.store.read_leftovers import leftovers
from recorder.store.read_removals import removals
from recorder.store.read_surroundings import surrounding_problems
from recorder.store.sealing import seal
from recorder.store.statement import Statement
from recorder.store.translate import translate_errors

LACKING = frozenset({"entry-missing", "entry-doubled", "entry-unreadable"})
CARRIED_AT_ONCE = 2_000
CARRIED_DAYS = 30
"""Days whose carried entries are compared where a sample is."""

CARRIED = Statement.of("""
    select position from recorder.entry
    where log_id = :log and position <= :pruned order by 1
""")


async def verify(
    dsn: str, log: Log, how: Verifying, stop: asyncio.Event
) -> Verified:
    """Verify one log as it is now; a recorder may write it meanwhile.

    Raises:
        LogError: PostgreSQL refused.
        LogUnavailableError: PostgreSQL is away; begin again.
    """
    with translate_errors("verify the log"):
        connection = await connect_to(dsn)
        try:
            return await verify_over(connection, log, how, stop, dsn=dsn)
        finally:
            connection.terminate()


async def verify_over(
    connection: asyncpg.Connection,
    log: Log,
    how: Verifying,
    stop: asyncio.Event,
    *,
    dsn: str | None = None,
) -> Verified:
    """Verify a log as a connection sees it.

    With an address more than a few entries are read by several processes.
    """
    end = await read_end(connection, log.id)
    spans = await spans_of(connection, end, how.since, how.until)
    window = how.since, how.until
    progress = await Progress.opened(
        connection, end, how.resume, window, spans
    )
    kept: KeptLog = _StoredLog(
        (connection, dsn), (log, end), how, (spans, progress)
    )
    found = await verify_kept(kept, how, stop)
    if not found.stopped:
        progress.forget()
    return found


class _StoredLog:
    """A log in the database."""

    def __init__(
        self,
        place: tuple[asyncpg.Connection, str | None],
        which: tuple[Log, LogEnd],
        how: Verifying,
        work: tuple[Sequence[Span], Progress],
    ) -> None:
        self._connection, self._dsn = place
        self._log, self._end = which
        self._how = how
        self._spans, self._progress = work

    def begun(self) -> Verified:
        """Return what verifying it fills in."""
        end = self._end
        return Verified(
            log=self._log.id,
            cluster=self._log.cluster_name,
            origin=end.identity.origin,
            size=end.size,
            batches=end.batches,
            dropped=end.pruned_positions,
            signed=self._how.signed,
            resume_refused=self._progress.refused,
        )

    async def check_entries(
        self, found: Verified, stop: asyncio.Event
    ) -> None:
        """Compare the rows of entries with the roots of their batches.

        Batches without roots get them if nothing is wrong.
        """
        end = self._end
        if self._dsn is None or len(self._spans) == 1:
            for span in self._spans:
                await check_span(self._connection, end, span)
                _take(found, span)
        else:
            await self._check_by_processes(self._dsn, found, stop)
        is_here = end.batches > end.pruned_batches
        is_sealed = end.peaks is not None
        if is_here and not (is_sealed or found.problems or stop.is_set()):
            found.sealed = await self._sealed()

    async def _check_by_processes(
        self, dsn: str, found: Verified, stop: asyncio.Event
    ) -> None:
        how, progress = self._how, self._progress
        found.resumed_entries, found.resumed_from = progress.resumed
        total = sum(span.entries for span in self._spans)
        for span in progress.done:
            _take(found, span)
        known = {(span.after, span.until) for span in progress.done}
        todo = [
            span
            for span in self._spans
            if (span.after, span.until) not in known
        ]
        count = min(how.processes or os.cpu_count() or 1, len(todo))
        jobs = [(dsn, self._end, todo[part::count]) for part in range(count)]
        work = in_processes(check_spans, jobs, stop, most=count)
        async with aclosing(work) as reports:
            async for _, span in reports:
                _take(found, span)
                progress.add(span)
                progress.keep()
                if how.on_progress is not None:
                    how.on_progress(found.checked_entries, total)

    async def _sealed(self) -> int:
        if self._how.sealing_dsn is None:
            return await seal(self._connection, self._end)
        writer = await connect_to(self._how.sealing_dsn)
        try:
            return await seal(writer, self._end)
        finally:
            writer.terminate()

    async def follow(
        self, chain: Chain, _found: Verified
    ) -> AsyncIterator[Iterable[Problem]]:
        """Feed a chain with dropped days and headers, and compare its end."""
        connection, end = self._connection, self._end
        for day in await dropped_days(connection, end):
            yield _skipped(chain, day)
        after = end.pruned_batches
        stored = headers(connection, end, after=after, until=end.batches)
        async for one in stored:
            if one.is_hashed:
                yield chain.follow(one.header, one.tree)
                continue
            # Its rows are not all there: nothing can be sealed on it.
            chain.broken = True
            if end.peaks is not None:
                yield [_without_root(one.header.batch)]
        if not chain.broken:
            yield _compared_with_head(chain, end)
        yield chain.end()

    async def check_facts(self, found: Verified, stop: asyncio.Event) -> None:
        """Compare the facts of all entries, or of a sample."""
        place, how = (self._dsn, self._end), self._how.facts
        await verify_facts(
            self._connection, place, found, self._spans, how, stop
        )

    async def check_beside(self, found: Verified) -> None:
        """Check the rest of what the database keeps of the log."""
        connection, end = self._connection, self._end
        found.note_all(await leftovers(connection, end))
        removed = await removals(connection, end)
        found.note_all(removed.problems)
        found.unrecorded = removed.waiting
        found.note_all(await hold_problems(connection, end))
        if self._how.facts.mode != "none":
            await self._check_state(found)
            await self._check_carried(found)
        found.note_all(await absences(connection, end))
        found.note_all(list(forks(found)))

    async def _check_state(self, found: Verified) -> None:
        """Compare heads and resume points with their entries."""
        connection, end = self._connection, self._end
        if end.size == end.pruned_positions or any(
            problem.kind in LACKING for problem in found.problems
        ):
            # Without its newest entry every head would be one problem more.
            return
        how = self._how.facts
        is_all = how.mode_of(end.size) == "all"
        seed = None if is_all else f"{end.identity.origin}/{how.seed}"
        async for problem in check_heads(connection, end, seed):
            found.note_all([problem])
        async for problem in check_resume_points(connection, end):
            found.note_all([problem])

    async def _check_carried(self, found: Verified) -> None:
        """Compare entries that were carried forward with the archive's."""
        connection, end, how = self._connection, self._end, self._how.facts
        if not end.pruned_positions:
            return
        rows = await CARRIED.fetch(
            connection, log=end.log, pruned=end.pruned_positions
        )
        positions = [position for (position,) in rows]
        days = [day for day in await old_days(connection, end.log) if day.uri]
        if how.mode_of(end.size) == "sample" and len(days) > CARRIED_DAYS:
            by = f"{end.identity.origin}/{how.seed}"
            days = Random(by).sample(days, CARRIED_DAYS)  # noqa: S311 - no secret
        drafts = await EntryDrafts.opened(connection, end.log)
        for day in days if positions else ():
            try:
                found.note_all(await _carried(drafts, end, day, positions))
            except UnreadableEntryError as exc:
                says = f"what was carried forward of {day.name}: {exc}"
                found.note_all([Problem(kind="carried-altered", says=says)])
            except RecorderError as exc:
                # A missing or damaged day is found by `absences`.
                found.derived.not_compared.append(
                    f"what was carried forward of {day.name}: {exc}"
                )


def _take(found: Verified, span: Span) -> None:
    found.checked_entries += span.entries
    found.note_all(span.problems)


def _without_root(batch: int) -> Problem:
    return Problem(
        kind="batch-altered",
        batch=batch,
        says=f"the root of batch {batch} was removed",
    )


def _skipped(chain: Chain, day: DroppedDay) -> Iterator[Problem]:
    first = day.first_batch - 1
    try:
        days = CompactRange.unpack(first, day.last_batch, day.packed)
    except ProofError as exc:
        chain.broken = True
        says = f"what is left of {day.name} is damaged: {exc}"
        yield Problem(kind="batch-missing", batch=day.first_batch, says=says)
        return
    yield from chain.skip(days, day.last_position)


def _compared_with_head(chain: Chain, end: LogEnd) -> Sequence[Problem]:
    size = chain.next_position - 1
    if (chain.tree.end, size) != (end.batches, end.size):
        return [
            Problem(
                kind="head-altered",
                batch=chain.tree.end + 1,
                position=size + 1,
                says=f"the head of the log counts {end.batches} batches and"
                f" {end.size} entries, and its batches are {chain.tree.end}"
                f" with {size} entries",
            )
        ]
    if end.peaks is not None and end.peaks != chain.tree.pack():
        return [
            Problem(
                kind="head-altered",
                batch=end.batches,
                says="the head of the log holds another tree than its"
                " batches lead to",
            )
        ]
    return []


async def _carried(
    drafts: EntryDrafts, end: LogEnd, day: OldDay, positions: Sequence[int]
) -> Sequence[Problem]:
    place, folder, manifest = await asyncio.to_thread(day_of, day)
    first, last = manifest.first_position, manifest.last_position
    wanted = [one for one in positions if first <= one <= last]
    problems: list[Problem] = []
    if not wanted:
        return problems
    with opened_day(place, folder, manifest, None) as opened:
        for start in range(0, len(wanted), CARRIED_AT_ONCE):
            some = wanted[start : start + CARRIED_AT_ONCE]
            archived = {
                row["position"]: leaf_of_row(row)
                for row in await asyncio.to_thread(opened.entries_at, some)
            }
            rows, made = await drafts.at(some)
            for row, draft in zip(rows, made, strict=True):
                position = row["position"]
                if leaf_of_entry(row, draft) != archived.get(position):
                    problems.append(_altered(end, position, day))
    return problems


def _altered(end: LogEnd, position: int, day: OldDay) -> Problem:
    return Problem(
        kind="carried-altered",
        position=position,
        says=f"entry {end.log}/{position}, which was carried forward of"
        f" {day.name}, is not the one in {day.uri}",
    )


async def verify_database(
    connection: asyncpg.Connection, roles: Collection[str] = ()
) -> VerifiedDatabase:
    """Verify a database as a connection sees it."""
    found, made = await read_catalog(connection), made_catalog()
    compared = found.revision == made.revision
    problems: list[Problem] = []
    if compared:
        compare = differences(found, made, roles)
        problems += [one.problem() for one in compare]
    try:
        async with connection.transaction():
            problems += await surrounding_problems(connection)
    except asyncpg.PostgresError:
        # Tables or rights may be missing that it takes, and are named.
        if not problems:
            raise
    return VerifiedDatabase(
        revision=found.revision,
        compared=compared,
        problems=[Altered(kind=one.kind, says=one.says) for one in problems],
    )
