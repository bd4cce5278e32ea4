"""Facts verified: derived again from the entries, and compared row by row.

All of them by a process for each core, each with a span of the log; or a
sample of windows, chosen by a seed. Facts that other rules derived are not
compared, and that is no proof of anything.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from random import Random

import asyncpg
import msgspec

from recorder.admin.checking import Span
from recorder.admin.workers import LISTEN_SECONDS, Tell, Worker
from recorder.facts import DERIVATION
from recorder.integrity.chain import Problem
from recorder.integrity.verified import Derived, FactsMode, Verified
from recorder.store.checking_facts import WINDOW, CheckedFacts, FactChecker
from recorder.store.checking_heads import check_heads, check_resume_points
from recorder.store.entry_drafts import UnreadableEntryError
from recorder.store.long_work import connect_to
from recorder.store.read_batches import LogEnd, read_end
from recorder.store.stored_said import current_derivation, stray_facts
from recorder.store.translate import translate_errors

__all__ = [
    "ALL_MAX",
    "ALL_OR_SAMPLE",
    "Proving",
    "mode_of",
    "verify_facts",
    "verify_state",
]

ALL_MAX = 1_000_000
"""Entries of which all are derived again where nothing is asked for: of more
a sample of as many, which takes minutes on two cores."""

MANY = 50_000
"""Entries that are worth another process, which takes a second to begin."""

LACKING = frozenset({"entry-missing", "entry-doubled", "entry-unreadable"})

POSITIONS = """
    select min(first_position) - 1, max(first_position + entries - 1)
    from recorder.batch
    where log_id = $1 and (batch = $2 or batch = $3)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proving:
    """How facts are to be verified."""

    mode: FactsMode | None = None
    """None for all of a log that is not large, else a sample."""

    seed: int = 0
    """Of a sample."""

    processes: int = 0
    """0 for one for each core."""

    all_max: int = ALL_MAX
    on_progress: Callable[[int, int], None] | None = None
    """Gets how many entries are derived, and of how many."""


ALL_OR_SAMPLE = Proving()


class Checked(msgspec.Struct):
    """A window that a process checked."""

    entries: int = 0
    facts: int = 0
    problems: list[Problem] = []
    unread: str | None = None
    """Why nothing behind it was compared."""


async def verify_facts(
    connection: asyncpg.Connection,
    place: tuple[str | None, LogEnd],
    found: Verified,
    spans: Sequence[Span],
    how: Proving,
    stop: asyncio.Event,
) -> None:
    """Compare the facts of spans of a log with what their entries tell.

    Args:
        connection: to the database of the log.
        place: its address, for more processes, and where the log ends.
        found: takes what is wrong.
        spans: the batches of which the entries are meant.
        how: which of them.
        stop: ends it.
    """
    _, end = place
    size = end.size - end.pruned_positions
    found.derived = derived = Derived(mode="none", entries_of=size)
    if how.mode == "none" or not spans or not size:
        return
    current = await current_derivation(connection, end.log)
    rules = None if current is None else current.rules
    if current is None or rules != DERIVATION:
        derived.not_compared.append(_of_other_rules(rules))
        return
    after, until = await connection.fetchrow(
        POSITIONS, end.log, spans[0].after + 1, spans[-1].until
    )
    if current.built_to is not None and current.built_to < until:
        until = max(after, current.built_to)
        derived.not_compared.append(
            f"entries behind {end.log}/{until} have no facts: run `recorder"
            " rederive`"
        )
    _choose(derived, how, until - after)
    work = _Work(current.number, derived, how, stop)
    if derived.mode == "all":
        await work.all(connection, place, (after, until))
    else:
        await work.sample(connection, place, (after, until))
    found.stopped = stop.is_set()
    now = await read_end(connection, end.log)
    if current != await current_derivation(connection, end.log):
        derived.not_compared.append(
            "the facts were rebuilt meanwhile: run `recorder verify` again"
        )
        return
    # What was dropped meanwhile cannot be looked for any more.
    found.note_all(
        problem
        for problem in work.problems
        if (problem.position or 0) > now.pruned_positions
    )
    found.note_all(map(_stray, await stray_facts(connection, end.log)))


async def verify_state(
    connection: asyncpg.Connection, end: LogEnd, found: Verified, how: Proving
) -> None:
    """Compare heads and resume points with the entries they follow from."""
    if how.mode == "none" or end.size == end.pruned_positions:
        return
    if any(problem.kind in LACKING for problem in found.problems):
        # Without its newest entry every head would be one problem more.
        return
    is_all = mode_of(how, end.size) == "all"
    seed = None if is_all else f"{end.identity.origin}/{how.seed}"
    async for problem in check_heads(connection, end, seed):
        found.note_all([problem])
    async for problem in check_resume_points(connection, end):
        found.note_all([problem])


def mode_of(how: Proving, size: int) -> FactsMode:
    """Return what is derived again of so many entries."""
    return how.mode or ("all" if size <= how.all_max else "sample")


def _choose(derived: Derived, how: Proving, size: int) -> None:
    derived.mode = mode_of(how, size)
    derived.seed = how.seed if derived.mode == "sample" else None


class _Work:
    """The work at one log."""

    def __init__(
        self,
        derivation: int,
        derived: Derived,
        how: Proving,
        stop: asyncio.Event,
    ) -> None:
        self.problems: list[Problem] = []
        self._derivation = derivation
        self._derived = derived
        self._how = how
        self._stop = stop
        self._total = 0

    async def all(
        self,
        connection: asyncpg.Connection,
        place: tuple[str | None, LogEnd],
        span: tuple[int, int],
    ) -> None:
        """Derive every entry of a span, in as many parts as are worth it."""
        after, until = span
        dsn, end = place
        count = self._processes(until - after)
        cuts = [after + (until - after) * n // count for n in range(count + 1)]
        self._total = until - after
        parts = [[(cuts[n], cuts[n + 1])] for n in range(count)]
        if dsn is None or count == 1:
            await self._here(connection, end, parts[0], whole=True)
        else:
            await self._by_workers(dsn, end, parts, whole=True)

    async def sample(
        self,
        connection: asyncpg.Connection,
        place: tuple[str | None, LogEnd],
        span: tuple[int, int],
    ) -> None:
        """Derive windows of a span that the seed chooses, in their order."""
        after, until = span
        dsn, end = place
        starts = range(after, until, WINDOW)
        most = max(1, min(self._how.all_max, until - after) // WINDOW)
        by = f"{end.identity.origin}/{self._how.seed}"
        random = Random(by)  # noqa: S311 - it hides nothing
        chosen = sorted(random.sample(starts, min(most, len(starts))))
        windows = [(one, min(one + WINDOW, until)) for one in chosen]
        self._total = sum(last - first for first, last in windows)
        count = self._processes(self._total)
        parts = [windows[n::count] for n in range(count)]
        if dsn is None or count == 1:
            await self._here(connection, end, parts[0], whole=False)
        else:
            await self._by_workers(dsn, end, parts, whole=False)

    def _processes(self, entries: int) -> int:
        most = self._how.processes or os.cpu_count() or 1
        return max(1, min(most, entries // MANY))

    async def _here(
        self,
        connection: asyncpg.Connection,
        end: LogEnd,
        spans: Sequence[tuple[int, int]],
        *,
        whole: bool,
    ) -> None:
        task = connection, end, self._derivation
        async for one in _checked(task, spans, whole=whole):
            self._take(one)
            if self._stop.is_set():
                return

    async def _by_workers(
        self,
        dsn: str,
        end: LogEnd,
        parts: Sequence[Sequence[tuple[int, int]]],
        *,
        whole: bool,
    ) -> None:
        workers = [
            Worker(check_facts, dsn, (end, self._derivation), part, whole)
            for part in parts
        ]
        try:
            while workers and not self._stop.is_set():
                await asyncio.sleep(LISTEN_SECONDS)
                for worker in list(workers):
                    for one in worker.heard():
                        self._take(one)
                    if worker.is_done:
                        workers.remove(worker)
        finally:
            for worker in workers:
                worker.end()

    def _take(self, one: Checked) -> None:
        derived = self._derived
        derived.entries += one.entries
        derived.facts += one.facts
        self.problems += one.problems
        if one.unread is not None:
            derived.not_compared.append(one.unread)
        if self._how.on_progress is not None:
            self._how.on_progress(derived.entries, self._total)


async def check_facts(
    dsn: str,
    what: tuple[LogEnd, int],
    spans: Sequence[tuple[int, int]],
    whole: bool,  # noqa: FBT001 - of a process, which takes no names
    *,
    tell: Tell,
) -> None:
    """Check spans of facts in a process of its own; tell each window."""
    with translate_errors("verify the facts"):
        connection = await connect_to(dsn)
        try:
            task = connection, *what
            async for one in _checked(task, spans, whole=whole):
                tell(one)
        finally:
            connection.terminate()


async def _checked(
    task: tuple[asyncpg.Connection, LogEnd, int],
    spans: Sequence[tuple[int, int]],
    *,
    whole: bool,
) -> AsyncIterator[Checked]:
    checker = await FactChecker.opened(*task)
    for after, until in spans:
        reached = after
        try:
            if whole:
                async for one in checker.follow(after, until):
                    reached = one.until
                    yield _told(one)
            else:
                yield _told(await checker.sample(after, until))
        except UnreadableEntryError as exc:
            log = exc.name.log
            yield Checked(
                unread=f"facts of entries {log}/{reached + 1} to"
                f" {log}/{until}: {exc}"
            )


def _told(one: CheckedFacts) -> Checked:
    return Checked(one.entries, one.facts, list(one.problems))


def _of_other_rules(rules: int | None) -> str:
    if not rules:
        return "the log has no facts yet: run `recorder rederive`"
    return (
        f"rules {rules} derived the facts, and this release has rules"
        f" {DERIVATION}: run `recorder rederive`"
    )


def _stray(position: int) -> Problem:
    return Problem(
        kind="fact-stray",
        position=position,
        says=f"there is a fact of entry {position}, which is not in the log",
    )
