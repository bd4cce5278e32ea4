"""A log verified: its rows against its roots, and these against checkpoints.

Rows are read by a process for each core, span by span; the headers are then
followed by one. What was found is kept after every span, so that a run that
was interrupted goes on. Batches that an older release wrote without hashes
are sealed on the way.

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
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

import asyncpg

from recorder.admin.checking import Span, check_span, check_spans, spans_of
from recorder.admin.continuing import forks
from recorder.admin.following_days import opened_day
from recorder.admin.rederiving_archive import day_of
from recorder.admin.resuming import Progress, ResumeFile
from recorder.admin.verifying_facts import (
    ALL_OR_SAMPLE,
    Proving,
    mode_of,
    verify_facts,
    verify_state,
)
from recorder.admin.workers import LISTEN_SECONDS, Worker
from recorder.archive.presence import Absent, KeptDay, absent_days
from recorder.archive.verifying import draft_of
from recorder.coverage.ports import Log
from recorder.errors import RecorderError
from recorder.integrity.catalog import differences
from recorder.integrity.chain import Chain, Problem, Witnessed
from recorder.integrity.leaves import entry_hash, micros
from recorder.integrity.tree import CompactRange, ProofError
from recorder.integrity.verified import Altered, Verified, VerifiedDatabase
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
from recorder.store.read_kept import attached_wrongly, kept_days
from recorder.store.read_removals import removals
from recorder.store.read_strays import strays
from recorder.store.read_surroundings import surrounding_problems
from recorder.store.sealing import seal
from recorder.store.translate import translate_errors

__all__ = ["Verifying", "verify", "verify_database", "verify_over"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifying:
    """How a log is to be verified."""

    checkpoints: Sequence[Witnessed] = ()
    signed: bool = False
    """Whether the signatures of these were checked."""

    since: datetime | None = None
    until: datetime | None = None
    """Whose rows are read; headers are always followed from the first."""

    resume: ResumeFile | None = None
    """A file that holds how far an interrupted run was."""

    facts: Proving = ALL_OR_SAMPLE
    sealing_dsn: str | None = None
    """The address of who may seal batches; None for who reads."""

    processes: int = 0
    """0 for one for each core."""

    on_progress: Callable[[int, int], None] | None = None
    """Gets how many entries are checked, and of how many."""


async def verify(
    dsn: str, log: Log, how: Verifying, stop: asyncio.Event
) -> Verified:
    """Verify one log as it stands now; a recorder may write it meanwhile.

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
    found = Verified(
        log=log.id,
        cluster=log.cluster_name,
        origin=end.identity.origin,
        size=end.size,
        batches=end.batches,
        dropped=end.pruned_positions,
        signed=how.signed,
    )
    found.compare_with(how.checkpoints)
    spans = await spans_of(connection, end, how.since, how.until)
    progress = await Progress.opened(
        connection, end, how.resume, (how.since, how.until), spans
    )
    found.resume_refused = progress.refused
    if dsn is None or len(spans) == 1:
        for span in spans:
            await check_span(connection, end, span)
            _take(found, span)
    else:
        await _check_rows((dsn, end), found, how, (spans, progress), stop)
    if stop.is_set():
        found.stopped = True
        return found
    is_here = end.batches > end.pruned_batches
    if is_here and end.peaks is None and not found.problems:
        found.sealed = await _sealed(connection, end, how)
    await _follow(connection, end, found, how)
    found.note_all(await strays(connection, end))
    removed = await removals(connection, end)
    found.note_all(removed.problems)
    found.unrecorded = removed.waiting
    found.note_all(await hold_problems(connection, end))
    await verify_facts(connection, (dsn, end), found, spans, how.facts, stop)
    await verify_state(connection, end, found, how.facts)
    await verify_carried(connection, end, found, how.facts)
    found.note_all(await absences(connection, end))
    found.note_all(list(forks(found)))
    if not found.stopped:
        progress.forget()
    return found


async def _sealed(
    connection: asyncpg.Connection, end: LogEnd, how: Verifying
) -> int:
    if how.sealing_dsn is None:
        return await seal(connection, end)
    writer = await connect_to(how.sealing_dsn)
    try:
        return await seal(writer, end)
    finally:
        writer.terminate()


async def _check_rows(
    place: tuple[str, LogEnd],
    found: Verified,
    how: Verifying,
    work: tuple[Sequence[Span], Progress],
    stop: asyncio.Event,
) -> None:
    spans, progress = work
    found.resumed_entries, found.resumed_from = progress.resumed
    total = sum(span.entries for span in spans)
    known = {(span.after, span.until) for span in progress.done}
    todo = [span for span in spans if (span.after, span.until) not in known]
    for span in progress.done:
        _take(found, span)
    count = min(how.processes or os.cpu_count() or 1, len(todo))
    workers = [
        Worker(check_spans, *place, todo[part::count]) for part in range(count)
    ]
    try:
        while workers and not stop.is_set():
            await asyncio.sleep(LISTEN_SECONDS)
            for worker in list(workers):
                for span in worker.heard():
                    _take(found, span)
                    progress.add(span)
                if worker.is_done:
                    workers.remove(worker)
            progress.keep()
            if how.on_progress is not None:
                how.on_progress(found.checked_entries, total)
    finally:
        for worker in workers:
            worker.end()


def _take(found: Verified, span: Span) -> None:
    found.checked_entries += span.entries
    found.note_all(span.problems)


async def _follow(
    connection: asyncpg.Connection,
    end: LogEnd,
    found: Verified,
    how: Verifying,
) -> None:
    """Follow all headers, and compare them with the checkpoints."""
    by_size = defaultdict(list)
    for witness in how.checkpoints:
        by_size[witness.checkpoint.batches].append(witness)
    chain = Chain(checkpoints=by_size)
    for day in await dropped_days(connection, end):
        found.note_all(_skipped(chain, day))
    after = end.pruned_batches
    async for one in headers(connection, end, after=after, until=end.batches):
        if one.is_hashed:
            found.note_all(chain.follow(one.header, one.tree))
        else:
            # Its rows are not all there: nothing can be sealed on it.
            chain.broken = True
            if end.peaks is not None:
                found.note_all([_without_root(one.header.batch)])
    if not chain.broken:
        found.note_all(_compared_with_head(chain, end))
        found.root = chain.tree.root().hex()
    found.note_all(chain.end())
    found.agreed = chain.agreed


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


CARRIED_AT_ONCE = 2_000
CARRIED_DAYS = 30
"""Of which as many are compared where a sample is."""

CARRIED = """
    select position from recorder.entry
    where log_id = $1 and position <= $2 order by 1
"""


async def verify_carried(
    connection: asyncpg.Connection, end: LogEnd, found: Verified, how: Proving
) -> None:
    """Compare entries that were carried forward with those of the archive."""
    if how.mode == "none" or not end.pruned_positions:
        return
    rows = await connection.fetch(CARRIED, end.log, end.pruned_positions)
    positions = [position for (position,) in rows]
    days = [day for day in await old_days(connection, end.log) if day.uri]
    if mode_of(how, end.size) == "sample" and len(days) > CARRIED_DAYS:
        by = f"{end.identity.origin}/{how.seed}"
        days = Random(by).sample(days, CARRIED_DAYS)  # noqa: S311 - it hides nothing
    drafts = await EntryDrafts.opened(connection, end.log)
    for day in days if positions else ():
        try:
            found.note_all(await _carried(drafts, end, day, positions))
        except UnreadableEntryError as exc:
            says = f"what was carried forward of {day.name}: {exc}"
            found.note_all([Problem(kind="carried-altered", says=says)])
        except RecorderError as exc:
            # That it is missing or damaged is found where days are looked for.
            found.derived.not_compared.append(
                f"what was carried forward of {day.name}: {exc}"
            )


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
                row["position"]: entry_hash(
                    draft_of(row),
                    position=row["position"],
                    epoch=row["epoch"],
                    recorded=row["recorded_at"],
                )
                for row in await asyncio.to_thread(opened.entries_at, some)
            }
            rows, made = await drafts.at(some)
            for row, draft in zip(rows, made, strict=True):
                position = row["position"]
                kept = entry_hash(
                    draft,
                    position=position,
                    epoch=row["epoch"],
                    recorded=micros(row["recorded_at"]),
                )
                if kept != archived.get(position):
                    problems.append(_altered(end, position, day))
    return problems


def _altered(end: LogEnd, position: int, day: OldDay) -> Problem:
    return Problem(
        kind="carried-altered",
        position=position,
        says=f"entry {end.log}/{position}, which was carried forward of"
        f" {day.name}, is not the one in {day.uri}",
    )


async def absences(
    connection: asyncpg.Connection, end: LogEnd
) -> list[Problem]:
    """Return which archived days of a log are not where they should be.

    Also that a log is said to be another database's, and was recorded here.
    """
    problems = await attached_wrongly(connection, end)
    days = await kept_days(connection, end.log)
    first = {
        KeptDay(day.uri, day.sha256, day.range): day.first_batch
        for day in days
    }
    missing = await asyncio.to_thread(absent_days, first, sizes=True)
    return [*problems, *(_absent(one, first[one.day]) for one in missing)]


def _absent(one: Absent, batch: int) -> Problem:
    return Problem(
        kind="archive-away" if one.is_away else "archive-missing",
        batch=batch,
        says=f"the database says that {one.day.uri} is archived: {one.why}",
    )


async def verify_database(
    connection: asyncpg.Connection, roles: Collection[str] = ()
) -> VerifiedDatabase:
    """Verify a database as a connection sees it.

    Args:
        connection: of the role that answers.
        roles: that the settings name, which may have rights of their own.
    """
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
