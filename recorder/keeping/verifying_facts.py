"""Facts in the database verified: derived again from their entries.

All of them by a process for each core, each with a span of the log; or a
sample of windows, chosen by a seed. Facts that other rules derived are not
compared, which proves nothing of them.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from itertools import pairwise
from random import Random

import asyncpg
import msgspec

from recorder.facts import DERIVATION
from recorder.integrity.chain import Problem
from recorder.integrity.verified import Derived, Verified
from recorder.keeping.checking import Span
from recorder.keeping.verifying import Proving
from recorder.keeping.workers import Report, in_processes
from recorder.store.checking_facts import WINDOW, CheckedFacts, FactChecker
from recorder.store.entry_drafts import UnreadableEntryError
from recorder.store.long_work import connect_to
from recorder.store.read_batches import LogEnd, read_end
from recorder.store.statement import Statement
from recorder.store.stored_said import current_derivation, facts_outside
from recorder.store.translate import translate_errors

MANY = 50_000
"""Entries that are worth another process, which takes a second to begin."""

POSITIONS = Statement.of("""
    select min(first_position) - 1, max(first_position + entries - 1)
    from recorder.batch
    where log_id = :log and (batch = :first or batch = :last)
""")


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
    """Compare the facts of spans of a log with those that entries give."""
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
    after, until = await POSITIONS.fetch_row(
        connection,
        log=end.log,
        first=spans[0].after + 1,
        last=spans[-1].until,
    )
    if current.built_to is not None and current.built_to < until:
        until = max(after, current.built_to)
        derived.not_compared.append(
            f"entries behind {end.log}/{until} have no facts: run `recorder"
            " rederive`"
        )
    derived.mode = how.mode_of(until - after)
    derived.seed = how.seed if derived.mode == "sample" else None
    work = _Work(current.number, derived, how, stop)
    await work.run(connection, place, (after, until))
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
    found.note_all(map(_leftover, await facts_outside(connection, end.log)))


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

    async def run(
        self,
        connection: asyncpg.Connection,
        place: tuple[str | None, LogEnd],
        span: tuple[int, int],
    ) -> None:
        """Derive a span, or a sample, in as many parts as are worth it."""
        dsn, end = place
        parts, is_whole = self._parts(end, *span), self._derived.mode == "all"
        self._total = sum(b - a for part in parts for a, b in part)
        what = end, self._derivation
        if dsn is None or len(parts) == 1:
            task = connection, *what
            async for one in _checked(task, parts[0], whole=is_whole):
                self._take(one)
                if self._stop.is_set():
                    return
            return
        jobs = [(dsn, what, part, is_whole) for part in parts]
        work = in_processes(check_facts, jobs, self._stop, most=len(jobs))
        async with aclosing(work) as reports:
            async for _, one in reports:
                self._take(one)

    def _parts(
        self, end: LogEnd, after: int, until: int
    ) -> Sequence[Sequence[tuple[int, int]]]:
        """Return what each process derives: a span, or windows by the seed."""
        if self._derived.mode == "all":
            size = until - after
            count = self._processes(size)
            cuts = [after + size * n // count for n in range(count + 1)]
            return [[cut] for cut in pairwise(cuts)]
        starts = range(after, until, WINDOW)
        most = max(1, min(self._how.all_max, until - after) // WINDOW)
        by = f"{end.identity.origin}/{self._how.seed}"
        random = Random(by)  # noqa: S311 - it hides nothing
        chosen = sorted(random.sample(starts, min(most, len(starts))))
        windows = [(one, min(one + WINDOW, until)) for one in chosen]
        count = self._processes(sum(last - first for first, last in windows))
        return [windows[n::count] for n in range(count)]

    def _processes(self, entries: int) -> int:
        most = self._how.processes or os.cpu_count() or 1
        return max(1, min(most, entries // MANY))

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
    report: Report,
) -> None:
    """Check spans of facts in a process of its own; report each window."""
    with translate_errors("verify the facts"):
        connection = await connect_to(dsn)
        try:
            task = connection, *what
            async for one in _checked(task, spans, whole=whole):
                report(one)
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
                    yield _window(one)
            else:
                yield _window(await checker.sample(after, until))
        except UnreadableEntryError as exc:
            log = exc.name.log
            yield Checked(
                unread=f"facts of entries {log}/{reached + 1} to"
                f" {log}/{until}: {exc}"
            )


def _window(one: CheckedFacts) -> Checked:
    return Checked(one.entries, one.facts, list(one.problems))


def _of_other_rules(rules: int | None) -> str:
    if not rules:
        return "the log has no facts yet: run `recorder rederive`"
    return (
        f"rules {rules} derived the facts, and this release has rules"
        f" {DERIVATION}: run `recorder rederive`"
    )


def _leftover(position: int) -> Problem:
    return Problem(
        kind="fact-stray",
        position=position,
        says=f"there is a fact of entry {position}, which is not in the log",
    )
