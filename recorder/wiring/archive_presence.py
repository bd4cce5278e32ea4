"""Whether archived days are where the database says, put together.

It imports neither checkpoints nor what reads Parquet, for `recorder status`.
"""

import asyncio
from collections.abc import Sequence

from recorder.archive.presence import (
    KeptDay,
    absent_days,
    place_of,
    says_missing,
)
from recorder.doctor.log import ArchiveFacts
from recorder.store.long_work import connect_to
from recorder.store.read_kept import KeptRow, all_kept_days
from recorder.store.translate import translate_errors

__all__ = ["archive_places", "missing_days"]


async def archive_places(dsn: str) -> Sequence[str]:
    """Return where the database says that days are archived.

    Raises:
        RecorderError: the database.
    """
    return sorted({place_of(day.uri) for day in await _kept(dsn)})


async def missing_days(dsn: str) -> ArchiveFacts:
    """Return how many days are archived, and what is said of those missing.

    Raises:
        RecorderError: the database.
    """
    days = [KeptDay(day.uri, day.sha256) for day in await _kept(dsn)]
    missing = await asyncio.to_thread(absent_days, days, sizes=False)
    says = says_missing(missing, len(days)) if missing else None
    return ArchiveFacts(days=len(days), missing=says)


async def _kept(dsn: str) -> Sequence[KeptRow]:
    with translate_errors("look for archived days"):
        connection = await connect_to(dsn)
        try:
            return await all_kept_days(connection)
        finally:
            connection.terminate()
