"""Whether archived days are where the database says that they are.

It imports neither checkpoints nor what reads Parquet: `recorder status` looks
for days too.
"""

import asyncio
from collections.abc import Sequence

import asyncpg

from recorder.archive.kept import (
    Absent,
    KeptDay,
    absent_days,
    place_of,
    says_missing,
)
from recorder.doctor.log import ArchiveFacts
from recorder.integrity.chain import Problem
from recorder.store.long_work import connect_to
from recorder.store.read_batches import LogEnd
from recorder.store.read_kept import (
    KeptRow,
    all_kept_days,
    attached_wrongly,
    kept_days,
)
from recorder.store.translate import translate_errors


async def archive_places(dsn: str) -> Sequence[str]:
    """Return where the database says that days are archived.

    Raises:
        RecorderError: the database.
    """
    return sorted({place_of(day.uri) for day in await _kept(dsn)})


async def missing_days(dsn: str) -> ArchiveFacts:
    """Return how many days are archived, and which are missing, in words.

    Raises:
        RecorderError: the database.
    """
    days = [KeptDay(day.uri, day.sha256) for day in await _kept(dsn)]
    missing = await asyncio.to_thread(absent_days, days, sizes=False)
    says = says_missing(missing, len(days)) if missing else None
    return ArchiveFacts(days=len(days), missing=says)


async def absences(
    connection: asyncpg.Connection, end: LogEnd
) -> list[Problem]:
    """Return which archived days of a log are not where they were written.

    Also whether a log that was recorded here is passed off as attached.
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


async def _kept(dsn: str) -> Sequence[KeptRow]:
    with translate_errors("look for archived days"):
        connection = await connect_to(dsn)
        try:
            return await all_kept_days(connection)
        finally:
            connection.terminate()
