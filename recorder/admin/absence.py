"""What ought to be there and is not: checkpoints, archived days, histories.

Hashes prove what is there. That something is missing follows from what else
knows of it: the database of what was written to places, its rows of what was
archived, and the places of what was signed.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import asyncpg

from recorder.archive.presence import Absent, KeptDay, absent_days
from recorder.integrity.chain import Problem, Witnessed
from recorder.integrity.notes import Checkpoint
from recorder.integrity.verified import Verified
from recorder.store.read_batches import LogEnd
from recorder.store.read_kept import attached_wrongly, kept_days

__all__ = ["absences", "forks", "lacking"]


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


def lacking(
    place: str, written: frozenset[Checkpoint], held: Sequence[Witnessed]
) -> Iterator[Problem]:
    """Yield that a place lacks checkpoints that were written to it."""
    missing = written - {one.checkpoint for one in held}
    if missing:
        sizes = sorted(one.batches for one in missing)
        yield Problem(
            kind="checkpoint-missing",
            batch=sizes[0],
            says=f"{place} lacks {len(missing)} of {len(written)} checkpoints"
            f" that were written to it, of {sizes[0]} to {sizes[-1]} batches",
        )


def forks(found: Verified) -> Iterator[Problem]:
    """Yield which signed checkpoints are of another history of the log.

    Either two commit to as many batches with different hashes, or one differs
    from a log that a larger one agrees with. Without trusted keys anybody may
    have made them.
    """
    if not found.signed:
        return
    by_size: Mapping[int, set[bytes]] = defaultdict(set)
    for one in found.witnessed:
        by_size[one.checkpoint.batches].add(one.checkpoint.root)
    differing = {
        problem.batch
        for problem in found.problems
        if problem.kind == "checkpoint-mismatch"
    }
    for size in sorted(by_size):
        is_other = size in differing and size < found.agreed
        if len(by_size[size]) > 1 or is_other:
            yield Problem(
                kind="forked",
                batch=size,
                says=f"two histories of {found.origin} were signed: there are"
                f" checkpoints of {size} batches of both",
            )
